"""All visits of a store, learned anew: the same memory as was learned as they came."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.app.build import House, open_house
from recrawl.app.config import load
from recrawl.app.policies import policy_of
from recrawl.app.relearning import relearn
from recrawl.cli.main import app
from recrawl.contracts import Predictor
from recrawl.finding import Finding
from recrawl.grounds import N_NEWEST, noted_priors, sampled_priors
from recrawl.learn.histories import histories
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.priors import doubted, fitted
from recrawl.loop import Loop
from recrawl.model import DAY_S, Changed, Lease, NewResource, Outcome, Visit
from recrawl.remember.sqlite import past

NOW = 1_700_000_000.0
N = 40


def opened(home: Path, predictor: str = "gamma") -> AbstractContextManager[House]:
    home.mkdir(exist_ok=True)
    (home / "recrawl.toml").write_text(f'[schedule]\npredictor = "{predictor}"\n')
    return open_house(home, config=load(home))


def looked(
    house: House,
    *,
    policy: str = "index",
    rounds: int = 6,
    fit_s: float = np.inf,
    bytes_per_day: float | None = None,
    predictor: Predictor | None = None,
) -> Loop:
    """A loop that looked at everything every day; a third of it changes often, a third never."""
    rng = np.random.default_rng(5)
    hosts = [f"h{i % 3}.example" for i in range(N)]
    house.store.add([NewResource(url=f"http://{host}/{i}", host=host) for i, host in enumerate(hosts)], NOW)
    chosen, rule = policy_of(policy, "fresh", asked=False)
    loop = Loop(
        store=house.store,
        predictor=predictor or GammaFilter(),
        policy=chosen,
        rule=rule,
        per_day=None,
        bytes_per_day=bytes_per_day,
        fit_priors_every_s=fit_s,
    )
    loop.start(NOW)
    for day in range(rounds):
        if day:
            loop.reprice(NOW + day * DAY_S)
        for i in range(N):
            at = NOW + day * DAY_S + i
            leases = house.store.claim(now=at, limit=1, lease_s=60.0, only=i + 1)
            loop.absorb([found(lease, at, rng) for lease in leases], at)
    return loop


def found(lease: Lease, at: float, rng: np.random.Generator) -> Finding:
    first = np.isnan(lease.standing.since_at)
    changed = Changed(bool(rng.random() < (lease.resource.host_id - 1) * 0.4))
    failed = rng.random() < 0.1
    timed = changed is Changed.YES and lease.resource.id % 2 == 0
    visit = Visit(
        fetch_id=f"{lease.resource.id}@{at}",
        resource_id=lease.resource.id,
        at=at,
        since_at=lease.standing.since_at,
        outcome=Outcome.NET_ERROR if failed else Outcome.OK,
        n_bytes=500,
        changed=Changed.UNKNOWN if failed or first else changed,
        event_at=at - 3_600.0 if timed else np.nan,
        moments=moments(lease, at)
        if lease.resource.id % 3 == 0 and (first or changed) and not failed
        else (),
    )
    return Finding(lease=lease, visit=visit, gate_at=at)


def moments(lease: Lease, at: float) -> tuple[float, ...]:
    """When each thing was said that a visit shows: a few since the last one, or a few days of a past."""
    since_at = lease.standing.since_at
    begun_at = at - 3 * DAY_S if np.isnan(since_at) else since_at
    return tuple((begun_at + (at - begun_at) * np.array([0.2, 0.25, 0.8])).tolist())


def counts(house: House) -> list[tuple[int, int]]:
    return [(standing.n_changes, standing.bits) for _, standing, _ in house.store.resources()]


def memories(house: House) -> list[tuple[float, ...]]:
    return [standing.memory for _, standing, _ in house.store.resources()]


def forget(house: House) -> None:
    standings = [(resource.id, standing.since_at) for resource, standing, _ in house.store.resources()]
    ids, since_at = np.array([one for one, _ in standings]), np.array([since for _, since in standings])
    assert house.store.remind(ids, since_at, np.zeros((len(ids), 2))) == len(ids)


@pytest.mark.parametrize("policy", ["index", "nutch"])
def test_what_was_lost_is_learned_again_to_the_last_digit(
    tmp_path: Path, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "_N_TOLD", 7)  # a page of the store's
    with opened(tmp_path / "home") as house:
        looked(house, policy=policy)
        learned, counted = memories(house), counts(house)
        assert len(set(learned)) > N / 2
        forget(house)
        assert not set(memories(house)).intersection(learned)
        told: list[str] = []
        done = relearn(house, told.append)
        assert memories(house) == learned
        assert counts(house) == counted
        assert (done.n_resources, done.n_passed) == (N, 0)
        assert 4 * N < done.n_visits < 6 * N
        assert len(told) > done.n_visits / 7
        assert told[-1] == f"{done.n_visits} visits learned, {N} resources written"


def test_what_resources_taught_each_other_is_learned_again_too(tmp_path: Path) -> None:
    with opened(tmp_path / "home", "rhythm") as house:
        loop = looked(house, predictor=Rhythm())
        loop.reprice(NOW + 6 * DAY_S)
        learned, lore = memories(house), house.store.note("lore:Rhythm")
        assert len(set(learned)) > N / 2
        assert lore is not None
        for noted in (json.dumps(np.ones((2, 9, 12)).tolist()), "[1.0]"):
            forget(house)
            house.store.note("lore:Rhythm", noted)
            assert relearn(house).n_resources == N
            assert repr(memories(house)) == repr(learned)  # NaN is NaN
            assert house.store.note("lore:Rhythm") == lore


def test_visits_are_heard_of_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "home") as house:
        looked(house, rounds=3)
        whole, mark = house.store.heard(0, 10_000)
        monkeypatch.setattr(past, "_N_TOLD", 7)
        (newest, again), (since, _) = house.store.heard(0, 40), house.store.heard(1, 10_000)
        assert again == mark
        assert (newest.at.tolist(), since.at.tolist()) == (whole.at[-40:].tolist(), whole.at.tolist())
        assert len(house.store.heard(1, 10)[0]) <= 10


def test_what_visits_weigh_is_taken_over(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as house:
        looked(house, bytes_per_day=1e9)
        weighed = memories(house)
        assert {row[-1] for row in weighed} == {500.0}
        relearn(house)
        assert memories(house) == weighed


def test_who_is_visited_meanwhile_keeps_what_was_known(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as house:
        loop = looked(house, rounds=2)
        at = NOW + 3 * DAY_S

        def visit(text: str) -> None:
            if "written" not in text:
                (lease,) = house.store.claim(now=at, limit=1, lease_s=60.0, only=7)
                loop.absorb([found(lease, at, np.random.default_rng(1))], at)

        done = relearn(house, visit)
        assert (done.n_resources, done.n_passed) == (N - 1, 1)
        learned = memories(house)
        assert (relearn(house).n_passed, memories(house)) == (0, learned)


def test_the_command_says_what_it_learned(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as house:
        looked(house, rounds=3)
        learned = memories(house)
        forget(house)
    shown = CliRunner().invoke(app, ["relearn", "--home", str(home), "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["resources"] == N
    with opened(home) as house:
        assert memories(house) == learned
    nothing = CliRunner().invoke(app, ["relearn", "--home", str(tmp_path / "none")])
    assert nothing.stdout == "Learned 0 visits anew, of 0 resources.\n"
    assert not (tmp_path / "none").exists()


def test_priors_are_fitted_once_a_day_and_noted_for_all_workers(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as house:
        loop = looked(house, rounds=6, fit_s=DAY_S)
        priors = noted_priors(house.store)
        assert priors is not None
        assert priors.fitted_at == NOW + 5 * DAY_S
        assert priors.n_resources == N
        shapes, scales_s = priors.of(np.array([1, 2, 3]))
        assert (np.diff(shapes / scales_s) > 0.0).all()  # the hosts change more and more often
        batch, _ = house.store.batch()
        seen, _ = histories(house.store.lately(batch.id, N_NEWEST))
        plain = fitted(seen, batch.group)  # nobody goes by what was fitted alone
        anew = sampled_priors(house.store, batch, NOW)
        assert anew.shapes.tolist() == pytest.approx(doubted(plain).shapes.tolist())
        assert anew.shapes.tolist() != pytest.approx(plain.shapes.tolist(), rel=0.02)
        assert (anew.shape, anew.scale_s) == pytest.approx((doubted(plain).shape, doubted(plain).scale_s))
        loop.reprice(NOW + 5.5 * DAY_S)
        again = noted_priors(house.store)
        assert again is not None
        assert again.fitted_at == priors.fitted_at
        # a worker that comes later begins from them
        other = house.loop()
        other.start(NOW + 5.6 * DAY_S)
        batch, _ = house.store.batch()
        assert other.predictor.forecast(batch, NOW).survival(np.full(N, DAY_S))[0] == pytest.approx(
            float((1.0 + DAY_S / scales_s[0]) ** -shapes[0]), rel=1e-3
        )
        house.store.add([NewResource(url="http://h2.example/new", host="h2.example")], NOW)
        batch, _ = house.store.batch()
        survival = loop.predictor.forecast(batch, NOW).survival(np.full(N + 1, DAY_S))
        assert survival[-1] < 0.8 * GammaFilter().forecast(batch, NOW).survival(np.full(N + 1, DAY_S))[-1]
