"""Payloads that are held already, and archive files that were carried away."""

from __future__ import annotations

from recrawl.checks.store.samples import T0, MakeStore, completion, found, lease_of, store_with
from recrawl.contracts import Store
from recrawl.errors import ArchiveError
from recrawl.model import MIN_SHARED_BYTES, Version

A, B = "http://a.example/1", "http://b.example/"
DIGEST = "sha256:" + 64 * "a"
NEAR = "sha256:" + 63 * "a" + "b"  # the first part of the two is the same
OTHER = "sha256:" + 64 * "c"


def kept(store: Store, url: str, at: float, digest: str = DIGEST, *, offset: int = 0, **said: object) -> None:
    given: dict[str, object] = {"n_bytes": MIN_SHARED_BYTES, "file": "one.warc.gz", "url": f"{url}#", **said}
    version = Version(resource_id=0, seq=0, at=at, digest=digest, offset=offset, **given)  # type: ignore[arg-type]
    done = completion(lease_of(store, url, at), at, versions=(version,))
    assert store.complete([done], {"one.warc.gz": 9_000}) == [True], f"a version of {url} is recorded"


def check_the_newest_version_of_any_resource_that_holds_a_payload_is_found(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        assert store.holding([DIGEST]) == {}
        kept(store, A, T0, offset=100)
        kept(store, B, T0 + 10, offset=200)
        kept(store, A, T0 + 20, OTHER, offset=300)
        held = store.holding([OTHER, DIGEST, NEAR, DIGEST])
        assert {digest: version.offset for digest, version in held.items()} == {DIGEST: 200, OTHER: 300}
        assert held[DIGEST] == next(store.versions(found(store, B).id))
        assert held[DIGEST].url == f"{B}#"
        assert store.holding([]) == {}
        store.remove([found(store, B).id])
        assert store.holding([DIGEST])[DIGEST].offset == 100
        store.remove([found(store, A).id])
        assert store.holding([DIGEST, OTHER]) == {}


def check_what_is_small_flagged_or_without_a_place_is_not_shared(make: MakeStore) -> None:
    with store_with(make, A) as store:
        kept(store, A, T0, n_bytes=MIN_SHARED_BYTES - 1)
        kept(store, A, T0 + 10, flag="truncated")
        kept(store, A, T0 + 20, file="")
        assert store.holding([DIGEST]) == {}
        kept(store, A, T0 + 30, gone=True)
        assert store.holding([DIGEST])[DIGEST].gone


def check_a_version_keeps_the_url_that_its_answer_came_from(make: MakeStore) -> None:
    with store_with(make, A) as store:
        kept(store, A, T0)
        standing, _ = store.standing(found(store, A).id)
        assert standing.version is not None
        assert standing.version.url == f"{A}#"
        assert [version.url for version in store.versions()] == [f"{A}#"]


def check_a_file_that_was_carried_away_has_an_address_until_it_is_back(make: MakeStore) -> None:
    with store_with(make, A) as store:
        kept(store, A, T0)
        assert store.carried() == {}
        store.carry("one.warc.gz", "s3://shelf/one.warc.gz")
        assert store.carried() == {"one.warc.gz": "s3://shelf/one.warc.gz"}
        assert store.files() == {"one.warc.gz": 9_000}
        store.carry("one.warc.gz", "")
        assert store.carried() == {}
        refused = False
        try:
            store.carry("another.warc.gz", "s3://shelf/another.warc.gz")
        except ArchiveError:
            refused = True
        assert refused, "a file that nobody recorded cannot be carried away"


PAYLOADS = [
    check_the_newest_version_of_any_resource_that_holds_a_payload_is_found,
    check_what_is_small_flagged_or_without_a_place_is_not_shared,
    check_a_version_keeps_the_url_that_its_answer_came_from,
    check_a_file_that_was_carried_away_has_an_address_until_it_is_back,
]
