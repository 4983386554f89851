"""Tags and hosts as people name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.model import Resource
from recrawl.urls import canonical_file, file_host, host_key, is_file_url

N_SHOWN = 8  # of those that someone may have meant
# What is not seen, or turns round what stands beside it: controls, formats, and all spaces but the plain one.
_UNSEEN = (
    "\\x00-\\x1f\\x7f-\\xa0\\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u1680\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff0-\ufffb\ufffe-\uffff\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
TAG = f"^ *[^ {_UNSEEN}][^{_UNSEEN}]*$"  # as the API describes one: the same in every language of patterns
_TAG = re.compile(TAG[1:-1])


def readable(text: str) -> bool:
    return _TAG.fullmatch(text) is not None


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    given = tuple(tags)
    if not all(map(readable, given)):
        raise BadInputError("A tag must have a name that can be read; write it as --tag news.")
    return given


def host_named(text: str) -> str:
    """The host as the store knows it, of its name (with a port that is not the usual one) or of a URL.

    >>> host_named("Example.ORG"), host_named("https://example.org:8443/a"), host_named("example.org:443")
    ('example.org', 'example.org:8443', 'example.org')
    """
    if is_file_url(text):
        return file_host(canonical_file(text))
    if "://" in text:
        return host_key(text)
    if not text.strip() or "/" in text:
        raise BadInputError(f"{text!r} is not a host; write it as example.org, or as a URL on it.")
    return host_key(f"{'https' if text.endswith(':443') else 'http'}://{text.strip()}/")


def unreached(store: Store, *, tag: str | None = None, host: str | None = None) -> str:
    """Why nothing is meant by this tag or host, with those there are; empty where something is."""
    if (tag is None and host is None) or next(store.resources(tag=tag, host=host, limit=1), None):
        return ""
    if tag is not None:
        return _unreached(store, "has the tag", tag, "tags", lambda resource: resource.tags)
    return _unreached(store, "is on the host", host or "", "hosts", lambda resource: (resource.host,))


def nothing_matches(store: Store, *, tag: str | None, host: str | None, text: str | None) -> str:
    """Why a list is empty though something is watched."""
    wrong = unreached(store, tag=tag) or unreached(store, host=host)
    if not wrong and tag is None and host is None:
        wrong = f"No watched URL has {text!r} in it."
    return wrong or "No watched resource is all of that at once; ask for less."


def _unreached(
    store: Store, wanting: str, name: str, plural: str, names: Callable[[Resource], Iterable[str]]
) -> str:
    known = sorted({one for resource, _, _ in store.resources() for one in names(resource)})
    bare = name.partition(":")[0]
    near = [one for one in known if bare in one] or get_close_matches(name, known, N_SHOWN, cutoff=0.5)
    shown = (near or known)[:N_SHOWN]
    there = (
        f"{plural}: {', '.join(shown)}{' and others' if len(known) > len(shown) else ''}"
        if known
        else f"there are no {plural} yet"
    )
    return f"No watched resource {wanting} {name!r}; {there}."
