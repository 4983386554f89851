"""What each outcome of a fetch does to a resource's history."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan

import pytest

from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.json import Json
from recrawl.detect.text import Text
from recrawl.errors import DamagedError
from recrawl.live.judgement import SMALL_BYTES, Bench, Judgement, judged, quick
from recrawl.live.sights import sight_of
from recrawl.model import (
    DAY_S,
    SIGHT_FORMAT,
    Changed,
    Effective,
    Failure,
    Fetch,
    Kind,
    Lease,
    Manner,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
    column,
)
from recrawl.parse.pool import ParseFailed

URL = "http://example.org/"
PAGE = b"<html><title>T</title><p>Rain today.</p></html>"
SAME_WORDS = b"<html><!-- 17 --><title>T</title><p class=x>Rain  today.</p></html>"
OTHER_WORDS = b"<html><title>T</title><p>Sun today.</p></html>"


def lease(version: Version | None = None) -> Lease:
    standing = Standing(since_at=nan if version is None else 50.0, version=version, due_at=99.0)
    resource = Resource(id=7, url=URL, host_id=1, host="example.org", added_at=0.0)
    return Lease(resource=resource, standing=standing, token=1, claimed_at=99.0, until_at=200.0)


def fetch(outcome: Outcome = Outcome.OK, body: bytes = PAGE, **said: object) -> Fetch:
    figures: dict[str, object] = {
        "request": Request(url=URL), "outcome": outcome, "url": URL, "started_at": 99.5, "ended_at": 100.0,
        "status": 200, "headers": (("Content-Type", "text/html; charset=utf-8"),), "body": body, "wire": body,
    }  # fmt: skip
    return Fetch(**{**figures, **said})  # type: ignore[arg-type]


DETECTORS: dict[str, Detector] = {"exact": Exact(), "json": Json(), "text": Text()}


def judge(fetch: Fetch, version: Version | None = None, *, before: bytes | None = None) -> Judgement:
    def load(_: Version) -> Snapshot:
        if before is None:
            raise DamagedError
        return Snapshot(body=before, media_type=fetch.media_type, charset="utf-8")

    return judged(
        lease(version),
        fetch,
        fetch_id="f",
        detectors=DETECTORS,
        choose=detector_name,
        load=load,
    )


@pytest.fixture
def first() -> Version:
    version = judge(fetch()).version
    assert version is not None
    return version


def test_a_first_copy_is_a_version_but_no_change(first: Version) -> None:
    visit = judge(fetch()).visit
    assert visit.changed is Changed.UNKNOWN
    assert visit.informative
    assert first.detector == "text"
    assert first.digest.startswith("sha256:")


def test_the_same_bytes_are_a_revisit(first: Version) -> None:
    judgement = judge(fetch(), first)
    assert judgement.visit.changed is Changed.NO
    assert judgement.same_as == first


def test_the_same_bytes_under_another_name_are_no_change_but_it_is_told(first: Version) -> None:
    judgement = judge(fetch(headers=(("Content-Type", "text/plain"),)), first)
    assert judgement.visit.changed is Changed.NO
    assert "served as text/plain, before as text/html" in judgement.visit.evidence


def test_other_bytes_with_the_same_words_are_no_change_and_no_version(first: Version) -> None:
    judgement = judge(fetch(body=SAME_WORDS), first)
    assert judgement.visit.changed is Changed.NO
    assert judgement.version is None


def test_other_words_are_a_change_with_its_magnitude_and_evidence(first: Version) -> None:
    judgement = judge(fetch(body=OTHER_WORDS), first, before=PAGE)
    assert judgement.visit.changed is Changed.YES
    assert 0.0 < judgement.visit.magnitude < 1.0
    assert "Sun" in judgement.visit.evidence
    assert judgement.version is not None
    assert judgement.same_as is None


def test_a_change_is_known_even_when_the_earlier_copy_is_damaged(first: Version) -> None:
    judgement = judge(fetch(body=OTHER_WORDS), first)
    assert judgement.visit.changed is Changed.YES
    assert "cannot be read" in judgement.visit.evidence


def test_without_the_earlier_copy_and_with_another_detector_nothing_is_claimed(first: Version) -> None:
    judgement = judge(fetch(body=OTHER_WORDS), replace(first, detector="exact"))
    assert judgement.visit.changed is Changed.UNKNOWN
    assert not judgement.visit.informative


def test_not_modified_is_no_change(first: Version) -> None:
    judgement = judge(fetch(Outcome.NOT_MODIFIED, b"", status=304), first)
    assert judgement.visit.changed is Changed.NO
    assert judgement.same_as == first


def test_going_and_coming_back_are_changes(first: Version) -> None:
    gone = judge(fetch(Outcome.GONE, b"no", status=404), first)
    assert gone.visit.changed is Changed.YES
    assert gone.version is not None
    assert gone.version.gone
    still = judge(fetch(Outcome.GONE, b"no", status=410), gone.version)
    assert (still.visit.changed, still.version) == (Changed.NO, None)
    back = judge(fetch(), gone.version)
    assert back.visit.changed is Changed.YES
    assert back.version is not None


def test_gone_at_first_sight_is_recorded_but_no_change() -> None:
    judgement = judge(fetch(Outcome.GONE, b"no", status=404))
    assert judgement.visit.changed is Changed.UNKNOWN
    assert judgement.version is not None
    assert judgement.version.gone


@pytest.mark.parametrize("outcome", [Outcome.TRUNCATED, Outcome.UNREADABLE])
def test_a_cut_or_unreadable_body_is_kept_with_a_flag_and_says_nothing(
    outcome: Outcome, first: Version
) -> None:
    judgement = judge(fetch(outcome, b"<htm", failure=Failure(reason="length")), first)
    assert judgement.visit.changed is Changed.UNKNOWN
    assert not judgement.visit.informative
    assert judgement.version is not None
    assert judgement.version.flag == "length"


@pytest.mark.parametrize("outcome", [Outcome.HTTP_ERROR, Outcome.NET_ERROR, Outcome.BLOCKED])
def test_failures_leave_nothing_but_their_reason(outcome: Outcome, first: Version) -> None:
    failure = Failure(reason="tls", detail="nobody signed it")
    judgement = judge(fetch(outcome, b"", status=None, failure=failure), first)
    assert judgement.visit.changed is Changed.UNKNOWN
    assert not judgement.visit.informative
    assert judgement.version is None
    assert judgement.visit.evidence == "tls: nobody signed it"


def test_the_kind_chooses_the_detector() -> None:
    resource = lease().resource
    as_file = replace(resource, effective=replace(resource.effective, kind=Kind.FILE))
    judgement = judged(
        replace(lease(), resource=as_file),
        fetch(),
        fetch_id="f",
        detectors=DETECTORS,
        choose=detector_name,
        load=lambda _: Snapshot(body=b""),
    )
    assert judgement.version is not None
    assert judgement.version.detector == "exact"


def as_json(body: bytes) -> Fetch:
    return fetch(body=body, headers=(("Content-Type", "application/json"),))


def test_what_is_called_json_and_never_was_is_followed_as_text() -> None:
    first = judge(as_json(b"not json")).version
    assert first is not None
    assert first.detector == "text"
    again = judge(as_json(b"not json either"), first, before=b"not json")
    assert again.visit.changed is Changed.YES
    real = judge(as_json(b'{"a": 1}'), first, before=b"not json")
    assert real.visit.changed is Changed.YES
    assert real.visit.evidence == "it can be read as json now"


def test_what_was_json_and_cannot_be_read_any_more_is_no_change() -> None:
    first = judge(as_json(b'{"a": 1}')).version
    assert first is not None
    broken = judge(as_json(b"<html>try later</html>"), first, before=b'{"a": 1}')
    assert not broken.visit.informative
    assert broken.visit.changed is Changed.UNKNOWN


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.GONE, Outcome.TRUNCATED, Outcome.HTTP_ERROR])
def test_a_certificate_that_was_not_verified_is_in_the_evidence(outcome: Outcome) -> None:
    said = "the server's certificate was not verified"
    assert said in judge(fetch(outcome, unverified=True)).visit.evidence
    assert said not in judge(fetch(outcome)).visit.evidence


def test_why_a_visit_did_not_come_to_the_end_of_a_thread_is_in_the_evidence() -> None:
    short = Failure(reason="paging", detail="the next page could not be read, the server answered 503")
    visit = judge(fetch(failure=short)).visit
    assert visit.outcome is Outcome.OK
    assert visit.evidence == f"the first copy ({short.detail})"


def test_only_what_takes_a_moment_may_be_judged_while_others_wait(first: Version) -> None:
    def never(_: Version) -> Snapshot:
        raise AssertionError

    bench = Bench(DETECTORS, detector_name, never)
    plain = fetch(headers=(("Content-Type", "text/plain"),))
    at_once = [(None, fetch()), (None, plain), (first, fetch()), (replace(first, gone=True), fetch())]
    at_once += [(first, fetch(Outcome.NOT_MODIFIED, b"")), (first, fetch(Outcome.GONE, b"", status=404))]
    for before, came in at_once:
        assert quick(lease(before), came, bench)
        named = {"detectors": DETECTORS, "choose": detector_name}
        judgement = judged(lease(before), came, fetch_id="f", load=never, **named)  # type: ignore[arg-type]
        assert not judgement.wants_repeat
    assert not quick(lease(first), fetch(body=OTHER_WORDS), bench)  # the earlier copy must be read
    assert not quick(lease(), fetch(body=b"<p>" * 2_000), bench)  # not even a page of this size need be tame
    assert not quick(lease(), fetch(body=b" " * (SMALL_BYTES + 1)), bench)
    json = fetch(body=b"{}", headers=(("Content-Type", "application/json"),))
    assert not quick(lease(), json, bench)  # whoever judges it does not say so
    chosen = Effective(manner=Manner(include=("css:p",)))
    asked = replace(lease(), resource=replace(lease().resource, effective=chosen))
    assert not quick(asked, fetch(), bench)  # to choose may take long


def test_a_first_good_look_leaves_a_sight(first: Version) -> None:
    found = judge(fetch())
    assert found.sight is not None
    assert (found.sight.resource_id, found.sight.at, found.sight.format) == (7, 100.0, SIGHT_FORMAT)
    assert found.sight.values[column("html")] == 1.0
    assert isnan(found.sight.values[column("depth")])
    # one that was watched before there were sights has its own at the next look, changed or not
    assert judge(fetch(), first, before=PAGE).sight is not None
    assert judge(fetch(body=OTHER_WORDS), first, before=PAGE).sight is not None


def test_a_sight_is_taken_once_and_never_of_what_is_not_the_resource(first: Version) -> None:
    known = lease(first)
    known = replace(known, standing=replace(known.standing, sight_at=50.0))
    again = judged(
        known,
        fetch(body=OTHER_WORDS),
        fetch_id="f",
        detectors=DETECTORS,
        choose=detector_name,
        load=lambda _: Snapshot(body=PAGE, media_type="text/html", charset="utf-8"),
    )
    assert again.visit.changed is Changed.YES
    assert again.sight is None
    for outcome in (Outcome.NOT_MODIFIED, Outcome.GONE, Outcome.TRUNCATED, Outcome.HTTP_ERROR):
        assert judge(fetch(outcome), first, before=PAGE).sight is None


def test_what_collecting_and_sitemaps_found_is_part_of_a_sight() -> None:
    found = lease()
    at = fetch().ended_at - 2 * DAY_S
    deep = replace(found, resource=replace(found.resource, depth=4, changefreq="monthly", lastmod_at=at))
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a"), ("ETag", "b"))
    sight, links = sight_of(deep, fetch(headers=headers, body=b'<a href="a">A</a>'))
    assert sight is not None
    assert sight.values[column("depth")] == 4.0
    assert (sight.values[column("changefreq")], sight.values[column("lastmod_days")]) == (4.0, 2.0)
    assert links == (f"{URL}a",)
    assert sight.values[column("etag")] == 1.0


def test_what_cannot_be_read_closely_has_no_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.live.sights.page_look", lambda *_, **__: ParseFailed("time"))
    found = judge(fetch())
    assert found.sight is None
    assert found.version is not None
