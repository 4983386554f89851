"""Revisions from a live wiki, on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.intakes import events, rows, run, run_cut
from tests.wikis import AT, DAY, LittleWiki, revision, serving

from recrawl.corpora.importers.wikis.mediawiki import MediaWiki
from recrawl.corpora.sources.download import Web
from recrawl.errors import BadInputError


class Patience:
    """A clock on which waiting takes no time, and is remembered."""

    speed = 1.0

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return AT + sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def history(first: int, n: int) -> list[dict[str, object]]:
    return [
        revision(first + i, i, f"{i:x}", size=10 + i, parentid=0 if i == 0 else first + i - 1)
        for i in range(n)
    ]


def test_all_revisions_come_in_as_many_answers_as_it_takes(tmp_path: Path) -> None:
    wiki = LittleWiki({"Some page": history(10, 8), "Other": history(50, 2)})
    with serving(wiki) as api:
        done = run(MediaWiki(titles="Some_page,Other,other"), api, tmp_path / "out", strict=True)
        found = events(tmp_path / "out")
        assert found[f"{wiki.address}/wiki/Some_page"] == [(AT + i * DAY, f"{i:x}") for i in range(8)]
        assert len(found[f"{wiki.address}/wiki/Other"]) == 2
    assert [row["size"] for row in rows(tmp_path / "out")][:3] == [10, 11, 12]
    assert done.about["title"] == "Revisions of Little"
    assert wiki.n_most_at_once == 1
    assert {asked["maxlag"] for asked in wiki.asked} == {"5"}
    assert all(agent.startswith("recrawl/") for agent in wiki.agents)


@pytest.mark.parametrize("trouble", ["429", "maxlag", "half", "cut"])
def test_troubles_that_pass_are_waited_for_as_the_wiki_says(tmp_path: Path, trouble: str) -> None:
    wiki = LittleWiki({"A": history(1, 5)})
    clock = Patience()
    with serving(wiki) as api:
        wiki.troubles = ["", "", trouble, trouble]  # while the revisions come
        run(MediaWiki(titles="A"), api, tmp_path / "out", strict=True, web=Web(clock=clock))
    assert [at for at, _ in next(iter(events(tmp_path / "out").values()))] == [AT + i * DAY for i in range(5)]
    assert clock.waits == {"429": [7.0, 7.0], "maxlag": [5.0, 5.0]}.get(trouble, [1.0, 2.0])


@pytest.mark.parametrize(("trouble", "why"), [("refused", "You need to log in"), ("page", "not JSON")])
def test_a_wiki_that_refuses_is_quoted(tmp_path: Path, trouble: str, why: str) -> None:
    clock = Patience()
    with (
        serving(LittleWiki({"A": history(1, 1)}, troubles=[trouble])) as api,
        pytest.raises(BadInputError, match=why),
    ):
        run(MediaWiki(titles="A"), api, tmp_path / "out", web=Web(clock=clock))
    assert clock.waits == []


def test_titles_that_are_no_pages_are_reported_and_redirects_are_said(tmp_path: Path) -> None:
    wiki = LittleWiki({"A": history(1, 2), "B": []}, redirects={"Old": "A"})
    titles = tmp_path / "titles.txt"
    titles.write_bytes("\ufeffOld\r\nA\r\n\r\nNowhere\nBad[title\nde:Seite\nB\n".encode())
    with serving(wiki) as api:
        done = run(MediaWiki(titles=str(titles)), api, tmp_path / "out")
        assert list(events(tmp_path / "out")) == [f"{wiki.address}/wiki/A"]
        assert done.skipped == {
            "the wiki has no such page": 1,
            "the title is not a title": 1,
            "the title is one of another wiki": 1,
            "the page was deleted meanwhile": 1,
        }
        assert done.examples["the wiki has no such page"] == ["'Nowhere'"]
        assert done.notes == (
            "Moved or redirected, so that the history is that of the page they lead to: Old → A.",
        )
        with pytest.raises(BadInputError, match="'Nowhere': the wiki has no such page"):
            run(MediaWiki(titles="Nowhere"), api, tmp_path / "strict", strict=True)


def test_minor_and_hidden_revisions_and_other_times_are_left_out(tmp_path: Path) -> None:
    revisions = [
        revision(1, 0, "a", parentid=0, minor=True),
        revision(2, 1, "b", minor=True),
        revision(3, 2, None, sha1hidden=True),
        revision(4, 3, None),
        revision(5, 4, "a"),
        revision(6, 5, "c"),
    ]
    with serving(LittleWiki({"A": revisions})) as api:
        chosen = MediaWiki(titles="A", drop_minor=True, until=AT + 5 * DAY)
        done = run(chosen, api, tmp_path / "out", strict=True)
        late = run(MediaWiki(titles="A", since=AT + 4 * DAY), api, tmp_path / "late", strict=True)
    assert next(iter(events(tmp_path / "out").values())) == [
        (AT, "a"),
        (AT + 3 * DAY, "r4"),
        (AT + 4 * DAY, "a"),
    ]
    assert done.left_out == {
        "minor edits": 1,
        "revisions that were taken from public view": 1,
        "revisions outside --since and --until": 1,  # the wiki counts the last moment in
    }
    assert next(iter(events(tmp_path / "late").values())) == [(AT + 4 * DAY, "a"), (AT + 5 * DAY, "c")]
    assert not late.left_out


def test_pages_of_a_category_and_random_ones(tmp_path: Path) -> None:
    wiki = LittleWiki({f"P{n}": history(10 * n + 1, 2) for n in range(8)})
    wiki.categories["Things"] = [f"P{n}" for n in range(7)]
    with serving(wiki) as api:
        run(MediaWiki(category="Things"), api, tmp_path / "category", strict=True)
        run(MediaWiki(random=5), api, tmp_path / "random", strict=True)
        done = run(MediaWiki(random=100), api, tmp_path / "all", strict=True)
    assert len(events(tmp_path / "category")) == 7
    assert len(events(tmp_path / "random")) == 5
    assert len(events(tmp_path / "all")) == 8
    assert done.notes == ("Only 8 different pages were drawn: the wiki seems to have no more.",)


def test_many_long_titles_are_asked_for_in_addresses_of_a_decent_length(tmp_path: Path) -> None:
    names = [f"Ü{'ß' * 100}{n:03d}" for n in range(24)]
    wiki = LittleWiki({name: history(10 * n + 1, 1) for n, name in enumerate(names)})
    with serving(wiki) as api:
        run(MediaWiki(titles="|".join(names)), api, tmp_path / "out", strict=True)
    assert len(events(tmp_path / "out")) == 24
    assert max(len(asked["titles"].encode()) * 3 for asked in wiki.asked if "titles" in asked) < 8000


def test_a_cut_off_import_goes_on_with_the_same_pages_and_tells_of_all_titles(tmp_path: Path) -> None:
    for n_reached in (1, 3, 5):
        wiki = LittleWiki({f"P{n}": history(10 * n + 1, 7) for n in range(4)})
        with serving(wiki) as api:
            # The pages are drawn anew with every question: only what was written down is the same again.
            done = run_cut(
                lambda: MediaWiki(random=2, titles="Gone"),
                api,
                tmp_path / str(n_reached),
                n_reached=n_reached,
            )
        found = events(tmp_path / str(n_reached))
        assert [len(one) for one in found.values()] == [7, 7]
        assert done.skipped == {"the wiki has no such page": 1}
        assert sum("generator" in asked for asked in wiki.asked) == 1
        assert len([asked for asked in wiki.asked if asked.get("prop") == "revisions"]) == 6


def test_the_api_is_found_from_any_page(tmp_path: Path) -> None:
    wiki = LittleWiki({"A": history(1, 2)})
    with serving(wiki):
        run(MediaWiki(titles="A"), f"{wiki.address}/wiki/Main_Page", tmp_path / "out", strict=True)
        with pytest.raises(BadInputError, match=r"w/api\.php"):
            run(MediaWiki(titles="A"), f"{wiki.address}/plain", tmp_path / "plain")
    assert len(events(tmp_path / "out")) == 1


def test_what_to_import_must_be_said(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--titles"):
        MediaWiki()
    with pytest.raises(BadInputError, match="mediawiki-dump"):
        run(MediaWiki(titles="A"), tmp_path, tmp_path / "out")
