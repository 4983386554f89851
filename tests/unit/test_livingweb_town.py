from __future__ import annotations

from collections import Counter
from http.client import HTTPConnection

import numpy as np
import pytest

from recrawl.live.clock import FastClock
from recrawl.livingweb import Document, Form, LivingWeb, Noise, Redirect, Validators, serving, town
from recrawl.model import DAY_S
from recrawl.urls import canonical

START_AT = 1_750_032_000.0


@pytest.mark.parametrize("n", [1, 30, 200, 1000])
def test_a_town_has_as_many_resources_as_asked_for_at_canonical_urls(n: int) -> None:
    web = LivingWeb(town(n), clock=FastClock(start_at=START_AT, speed=1.0), port=8080)
    assert len(set(web.urls())) == n
    assert all(canonical(url) == url for url in web.urls())


def test_the_same_seed_builds_the_same_town() -> None:
    assert town(seed=5) == town(seed=5) != town(seed=6)


def test_a_town_has_every_form_and_a_realistic_mix() -> None:
    script = town(200, seed=1)
    documents = list(script.documents())
    forms = Counter(document.form for document in documents)
    noises = Counter(document.noise for document in documents)
    assert set(forms) == set(Form) - {Form.BOARD_FEED}  # forums have those
    assert {document.validators for document in documents} == set(Validators)
    assert 12 <= len(script.hosts) <= 20
    assert 0.02 <= noises[Noise.VISIBLE] / 200 <= 0.05
    assert noises[Noise.HIDDEN] >= 50
    assert any(isinstance(entry, Redirect) for entry in script.entries)


def test_most_of_a_town_rests_while_a_few_never_do() -> None:
    web = LivingWeb(town(200, seed=1), clock=FastClock(start_at=START_AT, speed=1.0))
    truth = web.truth(START_AT, START_AT + 100 * DAY_S)
    per_day = np.array([len(times_at) for times_at in truth.changed_at.values()]) / 100
    assert 0.4 <= np.mean(per_day < 0.05) <= 0.7
    assert 0.05 <= np.mean(per_day > 2.0) <= 0.2


def test_the_whole_town_answers() -> None:
    script = town(200, seed=1)
    with serving(script, clock=FastClock(start_at=START_AT, speed=1440.0), seed=1) as web:
        statuses: Counter[int] = Counter()
        connection = HTTPConnection("127.0.0.1", web.port, timeout=10)
        for entry in script.entries:
            connection.request("GET", entry.target, headers={"Host": f"{entry.host}:{web.port}"})
            response = connection.getresponse()
            response.read()
            statuses[response.status] += 1
            if isinstance(entry, Document) and response.status == 200:
                assert response.getheader("Content-Type")
        connection.close()
        assert statuses[200] > 150
        assert set(statuses) <= {200, 301, 404, 410, 500, 503}
        assert len(web.log) == 200
