"""Why the next visit is when it is: the reason of every plan, the forecast, and what it rests on."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractContextManager
from dataclasses import replace
from math import isnan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.app import beliefs
from recrawl.app.account import Account, account
from recrawl.app.build import House, open_house
from recrawl.app.config import load
from recrawl.app.everybody import Everybody
from recrawl.app.foresight import foreseen
from recrawl.app.policies import policy_of
from recrawl.app.relearning import relearn
from recrawl.app.silence import all_silent
from recrawl.app.watchlist import watched
from recrawl.app.wishes import soon
from recrawl.cli.chart import chart
from recrawl.cli.main import app
from recrawl.cli.why import charted
from recrawl.errors import BadInputError, BadSettingError
from recrawl.finding import Chain, Finding, stepped
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.virtual import VirtualClock
from recrawl.loop import Loop
from recrawl.model import (
    DAY_S,
    Changed,
    Lease,
    NewResource,
    Outcome,
    Scope,
    ScopeKind,
    Settings,
    Telling,
    Visit,
)
from recrawl.registry import part
from recrawl.schedule.reason import reason

NOW = 1_700_000_000.0
N = 8
HOSTS = ("a.example", "b.example")
URLS = [f"http://{HOSTS[i % 2]}/{i}" for i in range(N)]
FAST, SLOW, SILENT, NEVER = URLS[0], URLS[1], URLS[2], URLS[N - 1]


def opened(home: Path, *, day: float, predictor: str = "rhythm") -> AbstractContextManager[House]:
    home.mkdir(exist_ok=True)
    (home / "recrawl.toml").write_text(f'[schedule]\npredictor = "{predictor}"\n')
    return open_house(home, config=load(home), clock=VirtualClock(NOW + day * DAY_S))


def looping(house: House, policy: str = "index", per_day: float = 4.0) -> Loop:
    chosen, rule = policy_of(policy, "fresh", asked=False)
    loop = Loop(
        store=house.store,
        predictor=part("predictors", house.config.schedule.predictor)(),
        policy=chosen,
        rule=rule,
        per_day=per_day,
        fit_priors_every_s=DAY_S,
    )
    loop.start(house.clock.now())
    return loop


def finding_of(lease: Lease, at: float, **said: object) -> Finding:
    first = isnan(lease.standing.since_at)
    tells, changed = said.pop("tells", ()), Changed(bool(said.pop("changed", False)))
    visit = Visit(
        fetch_id=f"{lease.resource.id}@{at}",
        resource_id=lease.resource.id,
        at=at,
        since_at=lease.standing.since_at,
        changed=Changed.UNKNOWN if first or "outcome" in said else changed,
    )
    return Finding(lease=lease, visit=replace(visit, **said), gate_at=at, tells=tells)  # type: ignore[arg-type]


def found(house: House, url: str, at: float, **said: object) -> Finding:
    """A visit that is made now."""
    resource = house.store.find(url)
    assert resource is not None
    (lease,) = house.store.claim(now=at, limit=1, lease_s=60.0, only=resource.id)
    return finding_of(lease, at, **said)


def lived(house: House, policy: str = "index", days: int = 30) -> Loop:
    """All but the last were looked at every day. The first changed every other day, the third daily until it
    fell silent, the others now and then."""
    house.store.add([NewResource(url=url, host=HOSTS[i % 2]) for i, url in enumerate(URLS)], NOW)
    loop = looping(house, policy)
    chains = []
    for i, (resource, standing, _) in enumerate(house.store.resources()):
        if resource.url == NEVER:
            continue
        findings = []
        present = standing
        for day in range(days):
            at = NOW + day * DAY_S + i
            lease = Lease(resource=resource, standing=standing, token=0, claimed_at=at, until_at=at)
            changed = {0: day % 2 == 0, 2: day < 12}.get(i, (day + i) % 7 == 0)
            findings.append(finding_of(lease, at, changed=changed))
            standing = stepped(findings[-1])
        chains.append(Chain(findings=tuple(findings), present=present))
    at = NOW + (days - 1) * DAY_S + N
    loop.adopt(chains, at, fresh=type(loop.predictor))
    loop.reprice(at)
    return loop


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    home = tmp_path_factory.mktemp("lived") / "home"
    with opened(home, day=30) as house:
        lived(house)
    return home


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "copy"))


def asked(home: Path, url: str, *, day: float = 30.0, predictor: str = "rhythm") -> Account:
    with opened(home, day=day, predictor=predictor) as house:
        return account(house, url)


def said(home: Path, url: str) -> str:
    """By the store alone, opened anew."""
    with opened(home, day=31) as house:
        resource = house.store.find(url)
        assert resource is not None
        standing, plan = house.store.standing(resource.id)
        assert plan is not None
        return reason(plan, standing)


def test_every_way_a_plan_is_made_leaves_its_reason_in_the_store(copy: Path) -> None:
    at = NOW + 30 * DAY_S
    for url in URLS[:-1]:  # as the last pricing planned them
        assert "likely to have changed" in said(copy, url)
        assert any(word in said(copy, url) for word in ("of stale time saved", "gap allowed", "two visits"))
    assert said(copy, NEVER).startswith("Never looked at yet")
    with opened(copy, day=30) as house:
        loop = looping(house)
        failed = found(house, SLOW, at, outcome=Outcome.NET_ERROR)
        loop.absorb([found(house, FAST, at, changed=True), failed], at)
        elsewhere = found(house, NEVER, at + 20)
        house.store.release([elsewhere.lease], at)
        chain = Chain(findings=(elsewhere,), present=elsewhere.lease.standing)
        assert loop.adopt([chain], at + 30, fresh=GammaFilter)[0] is not None
    assert "15 changes seen in 31 visits" in said(copy, FAST)
    assert "likely to have changed" in said(copy, FAST)
    assert said(copy, SLOW).startswith("The last visit told nothing (once): try again after")
    assert "0 changes seen in 1 visit" in said(copy, NEVER)
    assert "likely to have changed" in said(copy, NEVER)
    before = [said(copy, url) for url in URLS]
    with opened(copy, day=30) as house:
        assert relearn(house).n_visits > 100
    assert [said(copy, url) for url in URLS] == before
    with opened(copy, day=30) as house:  # bounds that are said move a plan at once
        house.store.say(Scope(ScopeKind.RESOURCE, FAST), Settings(min_gap_s=90 * DAY_S), at)
    assert "likely" not in said(copy, FAST)
    assert said(copy, FAST).endswith("sooner, but 90 days is the smallest gap allowed.")


def test_what_is_given_up_is_said_to_be_looked_at_in_pairs(copy: Path) -> None:
    with opened(copy, day=30) as house:
        house.store.say(Scope(ScopeKind.RESOURCE, FAST), Settings(weight=1e-6), NOW)
        looping(house, per_day=2.0).reprice(NOW + 30 * DAY_S)
    assert said(copy, FAST).endswith("two visits at a time, to find out whether it has slowed down.")


def test_a_curve_begins_at_the_last_look_and_only_rises(home: Path) -> None:
    told = asked(home, FAST, day=29.01)
    assert told.curve.p_changed[0] == 0.0
    assert (np.diff(told.curve.p_changed) >= 0.0).all()
    assert [text.partition(" ")[0] for _, text in told.curve.marks()] == ["last", "now", "next"]
    assert told.curve.t_s[-1] > told.standing.due_at - told.standing.since_at
    assert 0.0 < told.p_now < told.curve.p_changed[-1]
    late = asked(home, FAST, day=300.0).curve.marks()
    assert "now, later than this shows" in [text for _, text in late]


def test_what_a_forecast_rests_on_is_told_with_its_uncertainty(home: Path) -> None:
    fast, slow = asked(home, FAST), asked(home, SLOW)
    for told in (fast, slow):
        low, high = told.per_day
        assert 0.0 < low < told.basis["shape"] / told.basis["evidence_s"] * DAY_S < high
        assert 0.0 < told.basis["prior_share"] < 1.0
        assert told.basis["habit_pace"] > 0.0
        assert told.basis["group_pace"] > 0.0
        assert 0.0 < told.basis["heed"] < 1.0
    assert fast.per_day[0] > slow.per_day[0]
    assert fast.n_heard == 4 * 16  # of its host's four members, the newest
    assert fast.told_by == ""


def test_whoever_keeps_what_is_believed_of_all_is_told_the_same(home: Path) -> None:
    with opened(home, day=30) as house:
        kept = Everybody(house)
        rows = [account(house, url, kept).row() for url in (FAST, SLOW, FAST)]
        assert rows == [account(house, url).row() for url in (FAST, SLOW, FAST)]
        assert rows[0]["group_visits_heard"] == 4 * 16


def test_a_visit_that_was_asked_for_is_due_until_it_is_made(copy: Path) -> None:
    at = NOW + 29.1 * DAY_S
    with opened(copy, day=29.1) as house:
        resource = watched(house.store, SLOW)
        gap_s = house.store.standing(resource.id)[0].gap_s
        soon(house.store, resource, at)
        loop = looping(house)
        loop.reprice(at + 60.0)
        told = account(house, SLOW)
        assert (told.standing.due_at, told.standing.gap_s) == (at, gap_s)
        assert told.sentence.startswith("Somebody asked for a visit")
        loop.absorb([found(house, SLOW, at + 90.0)], at + 90.0)
        assert account(house, SLOW).standing.due_at > at + 90.0
        house.store.say(Scope(ScopeKind.RESOURCE, SLOW), Settings(paused=True), at)
        with pytest.raises(BadInputError, match="resume it first"):
            soon(house.store, watched(house.store, SLOW), at)


def test_half_the_budget_means_longer_gaps_and_twice_as_much_shorter_ones(home: Path, tmp_path: Path) -> None:
    whole, half, double = asked(home, SLOW).otherwise
    assert (whole.times, half.times, double.times, whole.error) == (1.0, 0.5, 2.0, 0.0)
    assert half.gap_s > whole.gap_s > double.gap_s
    assert half.price > whole.price > double.price
    with opened(tmp_path / "home", day=30) as house:
        lived(house, "uniform", days=5)
    gaps_s = [one.gap_s for one in asked(tmp_path / "home", SLOW, day=5).otherwise]
    # eight share four visits a day, also the one that was never seen
    assert gaps_s == pytest.approx([2 * DAY_S, 4 * DAY_S, DAY_S], rel=1e-3)
    assert asked(tmp_path / "home", NEVER, day=5).otherwise[0].gap_s == pytest.approx(2 * DAY_S, rel=1e-3)


def test_why_and_plan_have_the_same_gaps_for_other_budgets(copy: Path) -> None:
    with opened(copy, day=30) as house:
        planned = foreseen(house, budgets=[2.0, 8.0])
        found = {url: account(house, url) for _, moved in (planned.more, planned.less) for url, _ in moved}
    assert len(found) >= 3
    for place, (per_day, moved) in ((2, planned.more), (1, planned.less)):
        assert per_day == (0.0, 2.0, 8.0)[place]
        for url, one in moved:
            gaps_s = [other.gap_s for other in found[url].otherwise]
            assert gaps_s[0] == pytest.approx(one.gap_s, rel=1e-4)
            assert gaps_s[place] == pytest.approx(one.other_gap_s, rel=1e-4)


def test_a_budget_of_bytes_has_its_gaps_too(copy: Path) -> None:
    with opened(copy, day=30) as house:
        chosen, rule = policy_of("index", "fresh", asked=False)
        loop = Loop(
            store=house.store,
            predictor=part("predictors", "rhythm")(),
            policy=chosen,
            rule=rule,
            per_day=None,
            bytes_per_day=4_000.0,  # a visit counts for a thousand at least
        )
        loop.start(house.clock.now())
        loop.reprice(house.clock.now())
    whole, half, double = asked(copy, SLOW).otherwise
    assert half.gap_s > whole.gap_s > double.gap_s
    assert whole.gap_s > DAY_S


def test_a_rule_that_knows_no_price_has_one_gap_for_every_budget(tmp_path: Path) -> None:
    with opened(tmp_path / "home", day=30) as house:
        lived(house, "nutch", days=5)
    told = asked(tmp_path / "home", SLOW, day=5)
    assert told.otherwise[0].gap_s == told.otherwise[1].gap_s
    assert "as the rule nutch has it" in told.sentence or "nutch would have it" in told.sentence


def test_only_some_are_asked_where_there_are_many(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.evaluate.budgets.curve.N_ASKED", 4)
    first = asked(home, SLOW).otherwise[0]
    assert first.n_asked in (4, 5)  # itself too, where it is not among them
    assert 0.0 < first.error < 1.0


def test_a_source_that_told_of_a_change_is_named_and_makes_it_likelier(copy: Path) -> None:
    home, at = copy, NOW + 30 * DAY_S
    with opened(home, day=32) as house:
        loop = looping(house)
        before = account(house, SLOW)
        loop.absorb([found(house, FAST, at, tells=(Telling(SLOW),))], at)
    told = asked(home, SLOW, day=32)
    assert told.told_by == FAST
    assert told.standing.told_at == at
    assert told.basis["signal_belief"] > 0.3
    assert isnan(before.basis["signal_belief"])
    assert told.p_now > before.p_now
    assert f"told        {FAST} told of a change" in typed(home, "why", SLOW)


def test_a_plug_in_that_says_nothing_still_gets_its_sentence_and_its_curve(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare(GammaFilter):
        account = None  # type: ignore[assignment]

    monkeypatch.setattr(beliefs, "made", lambda *_: Bare())
    told = asked(home, FAST)
    assert told.basis == {}
    assert all(map(isnan, told.per_day))
    assert told.curve.p_changed[-1] > 0.0
    assert "changes seen in 30 visits" in told.sentence
    assert told.silence is None
    with opened(home, day=30) as house, pytest.raises(BadSettingError, match="rhythm"):
        all_silent(beliefs.Beliefs(house), beliefs.Beliefs(house).all(), NOW)


def test_the_gamma_filter_accounts_for_itself_too(tmp_path: Path) -> None:
    with opened(tmp_path / "home", day=30, predictor="gamma") as house:
        lived(house, days=6)
        told = account(house, FAST)
    assert told.basis.keys() == {"shape", "evidence_s", "prior_shape", "prior_scale_s", "prior_share"}
    assert told.n_heard == 0


def test_the_never_visited_the_failing_and_the_paused_have_their_accounts(copy: Path) -> None:
    home, at = copy, NOW + 29.02 * DAY_S
    with opened(home, day=29.03) as house:
        loop = looping(house)
        loop.absorb([found(house, SLOW, at, outcome=Outcome.NET_ERROR)], at)
        house.store.say(Scope(ScopeKind.RESOURCE, FAST), Settings(paused=True), at)
        never, failing, paused = (account(house, url) for url in (NEVER, SLOW, FAST))
    assert isnan(never.p_now)
    assert never.curve.marks() == [(0.0, "the first look")]
    assert never.per_day[0] < never.per_day[1]
    assert failing.sentence.startswith("The last visit told nothing")
    assert failing.curve.since_at == NOW + 29 * DAY_S + 1
    assert failing.curve.marks()[-1][1].startswith(("next visit", "now"))
    assert paused.sentence.startswith("Paused")
    assert [text.partition(" ")[0] for _, text in paused.curve.marks()] == ["last", "now"]
    assert paused.silence is None
    for url in (NEVER, SLOW, FAST):
        assert json.loads(typed(home, "why", url, "--json"))["forecast"]["p_changed"][0] == 0.0
        assert "next visit" in typed(home, "why", url)


def test_who_is_silent_is_listed_and_said_to_be_so(home: Path) -> None:
    with opened(home, day=30) as house:
        told = account(house, SILENT)
        known = beliefs.Beliefs(house)
        n, silent = all_silent(known, known.all(), house.clock.now())
        listed = list(silent)
    assert told.silence is not None
    assert told.silence.p < 0.01
    assert told.silence.length_s == pytest.approx(18 * DAY_S)
    assert [one.resource.url for one in listed] == [SILENT]
    assert n == 1
    assert "silence     no change seen for 18 days, which had a probability of" in typed(home, "why", SILENT)
    first = json.loads(typed(home, "silent", "--json"))
    assert (first["url"], first["p"]) == (SILENT, told.silence.p)
    assert typed(home, "silent").startswith(f"{SILENT}\t")
    assert asked(home, FAST).silence is None


def test_visits_that_fail_for_long_are_part_of_a_silence_and_the_paused_are_not(copy: Path) -> None:
    with opened(copy, day=100) as house:
        loop = looping(house)
        house.store.say(Scope(ScopeKind.RESOURCE, SILENT), Settings(paused=True), NOW)
        for i in range(3):
            at = NOW + (50 + 10 * i) * DAY_S
            loop.absorb([found(house, FAST, at, outcome=Outcome.NET_ERROR, evidence="no such host")], at)
        known = beliefs.Beliefs(house)
        _, silent = all_silent(known, known.all(), house.clock.now())
        (only,) = silent
    assert (only.resource.url, only.cause, only.until_at) == (FAST, "failing", NOW + 100 * DAY_S)
    assert only.words == "its last 3 visits told nothing: no such host"


def typed(home: Path, *args: str) -> str:
    done = CliRunner().invoke(app, ["--home", str(home), *args])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_asking_changes_nothing(home: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.suffix == ".sqlite"}
    typed(home, "why", FAST)
    typed(home, "silent")
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.suffix == ".sqlite"} == before
    assert not (home / "running").exists()
    empty = tmp_path / "empty"
    assert CliRunner().invoke(app, ["--home", str(empty), "silent"]).exit_code == 0
    assert not empty.exists()


def test_a_drawing_holds_the_curve_and_its_marks(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "forecast.svg"
    typed(home, "why", FAST, "--svg", str(file))
    texts = [element.text for element in ElementTree.parse(file).iter() if element.text]  # noqa: S314 - our own
    assert any(text.startswith("last look") for text in texts)
    assert "100 %" in texts


def test_a_terminal_shows_the_forecast_with_what_is_where(home: Path) -> None:
    for url, words in ((FAST, ["last look", "now", "next visit"]), (NEVER, ["the first look"])):
        lines = charted(asked(home, url, day=29.01), 90)
        assert len(lines) == 7 + len(words)
        assert all(word in line for word, line in zip(words, lines[7:], strict=True))


@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("plain", [False, True])
def test_a_chart_fits_its_terminal(width: int, plain: bool) -> None:
    lines = chart(lambda place: place, [(0.0, "begun"), (0.5, "half"), (1.0, "over")], width, plain=plain)
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("100 % |")
    assert lines[0][-1] == ("#" if plain else "█")
    assert lines[5][7] == " "
    assert [line.strip(" ^") for line in lines[7:]] == ["begun", "half", "over"]
    assert {lines[6][line.index("^")] for line in lines[7:]} == {"+"}
    assert plain == all(line.isascii() for line in lines)
    assert chart(lambda _: 0.0, [], width)[5] == "      |"
