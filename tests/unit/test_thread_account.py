"""What `recrawl why` says of a thread, and how soon one is looked at that a board has told of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.test_account import HOSTS, NOW, URLS, asked, found, looping, opened

from recrawl.app.basis import basis
from recrawl.model import DAY_S, HOUR_S, NewResource, Telling

MIDNIGHT = NOW - NOW % DAY_S + DAY_S
THREAD, BOARD, PAGE = URLS[0], URLS[2], URLS[4]  # of one host


@pytest.fixture(scope="module", params=["either", "thread"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A thread with two posts every day at ten and eleven, and a page, both looked at every day at noon. On
    the last day the board told of the thread."""
    home, predictor = tmp_path_factory.mktemp("talk") / "home", str(request.param)
    with opened(home, day=20.5, predictor=predictor) as house:
        house.store.add([NewResource(url=url, host=HOSTS[0]) for url in (THREAD, BOARD, PAGE)], NOW)
        loop = looping(house)
        for day in range(20):
            at = noon = MIDNIGHT + (day + 0.5) * DAY_S
            for i, url in enumerate((THREAD, PAGE)):
                at = noon + i
                moments = (noon - 2 * HOUR_S, noon - HOUR_S) if url == THREAD else ()
                loop.absorb([found(house, url, at, changed=bool(moments), moments=moments)], at)
        due_at = house.store.standing(1)[0].due_at
        at += 3 * HOUR_S
        telling = Telling(url=THREAD)
        loop.absorb([found(house, BOARD, at, tells=(telling,))], at)
        assert house.store.standing(1)[0].told_at == at
        assert house.store.standing(1)[0].due_at <= due_at
        loop.finish()
    return home, predictor


def lines(home: Path, url: str, predictor: str) -> dict[str, str]:
    return dict(basis(asked(home, url, day=20.0, predictor=predictor)))


def test_why_says_of_a_thread_what_its_forecast_rests_on(home: tuple[Path, str]) -> None:
    told = lines(home[0], THREAD, home[1])
    assert told["posts"].endswith("as lively as others of its board")
    last_at = MIDNIGHT + 19.5 * DAY_S - HOUR_S
    assert told["last post"].startswith(str(np.datetime64(int(last_at), "s")))
    assert told["expected"].endswith("posts within the next day")
    assert float(told["expected"].split()[0]) > 0.3
    assert "times as fast as usual at this hour of the week" in told["calendar"]
    assert told["told"].startswith(f"{BOARD} told of a change")
    assert "believed by" in told["told"]
    assert not {"rate", "prior", "habit"} & told.keys()


def test_beside_it_a_page_is_what_it_was(home: tuple[Path, str]) -> None:
    told = lines(home[0], PAGE, home[1]).keys()
    of_rhythm, of_threads = {"rate", "prior", "habit"}, {"posts", "last post", "expected"}
    ours, others = (of_rhythm, of_threads) if home[1] == "either" else (of_threads, of_rhythm)
    assert ours <= told
    assert not others & told
