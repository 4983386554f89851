"""Secrets: what opens doors, in a file of its own that nobody but its owner can read.

They are said of a resource, a tag, a host or everything, as settings are, and the nearest wins part by part.
Nothing here prints or logs a value, and no error message quotes one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recrawl.app import private
from recrawl.app.doors import checked
from recrawl.errors import BadSettingError
from recrawl.model import GLOBAL, Access, Header, Resource, Scope, ScopeKind
from recrawl.urls import host_key

FILE_NAME = "secrets.json"
_FORMAT = 1
_NOTHING = Access()

Layers = Mapping[Scope, Access]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of an access by their names; there is no value in it."""

    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    basic: bool = False
    bearer: bool = False
    proxy: bool = False


def parts(access: Access) -> Parts:
    return Parts(
        headers=tuple(name for name, _ in access.headers),
        cookies=tuple(name for name, _ in access.cookies),
        basic=access.basic is not None,
        bearer=access.bearer is not None,
        proxy=access.proxy is not None,
    )


def nearest(layers: Iterable[Access]) -> Access:
    """The nearest layer that says something wins, part by part; `layers` come nearest first.

    Basic, bearer and a header Authorization are one part: a request carries one of them.
    """
    found = _NOTHING
    for layer in layers:
        if _login(found):
            layer = replace(layer, basic=None, bearer=None, headers=_without(layer.headers, "authorization"))
        found = Access(
            headers=_both(found.headers, layer.headers, str.lower),
            cookies=_both(found.cookies, layer.cookies, str),
            basic=found.basic or layer.basic,
            bearer=found.bearer or layer.bearer,
            proxy=found.proxy or layer.proxy,
        )
    return found


def _login(access: Access) -> bool:
    named = any(name.lower() == "authorization" for name, _ in access.headers)
    return named or access.basic is not None or access.bearer is not None


def _both(near: Sequence[Header], wide: Sequence[Header], key: Callable[[str], str]) -> tuple[Header, ...]:
    known = {key(name) for name, _ in near}
    return (*near, *(item for item in wide if key(item[0]) not in known))


def _without(items: Sequence[Header], *names: str) -> tuple[Header, ...]:
    return tuple(item for item in items if item[0].lower() not in names)


class Secrets:
    """The file, read again whenever it has changed: a run that goes on for months notices."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: private.Stamp | None = None
        self._layers: Layers = {}

    def access_for(self, resource: Resource) -> Access | None:
        return self._settled(resource.url, resource.tags, resource.host)

    def access_at(self, url: str) -> Access | None:
        """For a URL that need not be watched."""
        return self._settled(url, (), host_key(url))

    def _settled(self, url: str, tags: Iterable[str], host: str) -> Access | None:
        layers = self.layers()
        if not layers:
            return None
        asked = (
            Scope(ScopeKind.RESOURCE, url),
            *(Scope(ScopeKind.TAG, tag) for tag in sorted(tags)),
            Scope(ScopeKind.HOST, host),
            GLOBAL,
        )
        access = nearest(layers[scope] for scope in asked if scope in layers)
        return None if access == _NOTHING else access

    def layers(self) -> Layers:
        """What is kept, by scope, from the widest to the nearest."""
        stamp = private.stamp(self._path)
        if stamp is None:
            self._stamp, self._layers = None, {}
            return self._layers
        if stamp != self._stamp:
            self._layers = _read(self._path)
            self._stamp = stamp
        return self._layers

    def say(self, scopes: Iterable[Scope], access: Access) -> None:
        """Add these parts; what was kept under the same names goes."""
        checked(access)
        with self._writing() as kept:
            kept.update({scope: nearest([access, kept.get(scope, _NOTHING)]) for scope in scopes})

    def forget(self, scopes: Iterable[Scope], which: Parts | None = None) -> int:
        """Drop these parts, or all; of how many scopes there was something to drop."""
        if not self.layers():
            return 0
        with self._writing() as kept:
            before = dict(kept)
            for scope in scopes:
                kept[scope] = _less(kept.get(scope, _NOTHING), which) if which else _NOTHING
            return sum(kept[scope] != before.get(scope, _NOTHING) for scope in kept)

    def moved(self, before: str, after: str) -> bool:
        """A resource's address changed: whether its own secrets, if it has any, went along.

        They go neither to another host nor from https to http. Whoever can answer there could read them, and
        a redirect is the server's word, not the owner's.
        """
        own = Scope(ScopeKind.RESOURCE, before)
        if own not in self.layers():
            return True
        trusted = host_key(before) == host_key(after) and (
            after.startswith("https:") or before[:5] == after[:5]
        )
        with self._writing() as kept:
            access = kept.pop(own, _NOTHING)
            if trusted:
                kept[Scope(ScopeKind.RESOURCE, after)] = access
        return trusted

    @contextmanager
    def _writing(self) -> Iterator[dict[Scope, Access]]:
        """What is kept, to be changed; written in one piece, one process at a time."""
        with private.writing(self._path):
            kept = dict(_read(self._path)) if self._path.exists() else {}
            yield kept
            _write(self._path, {scope: access for scope, access in kept.items() if access != _NOTHING})


def _less(access: Access, which: Parts) -> Access:
    headers = {name.lower() for name in which.headers}
    return Access(
        headers=_without(access.headers, *headers),
        cookies=tuple(item for item in access.cookies if item[0] not in which.cookies),
        basic=None if which.basic else access.basic,
        bearer=None if which.bearer else access.bearer,
        proxy=None if which.proxy else access.proxy,
    )


# -- the file --------------------------------------------------------------------------------------------


def _read(path: Path) -> Layers:
    text = private.read(path)
    try:
        document = json.loads(text)
        if document["format"] != _FORMAT:
            raise BadSettingError(f"{path} was written by another recrawl; upgrade this one.")
        layers = dict(_layer(**item) for item in document["scopes"])
    except (ValueError, TypeError, KeyError):  # without the cause: it may quote a secret
        raise BadSettingError(
            f"{path} is not as recrawl wrote it; mend it, or remove it and say everything again."
        ) from None
    order = list(ScopeKind)[::-1]
    return dict(sorted(layers.items(), key=lambda item: (order.index(item[0].kind), item[0].name)))


def _layer(
    *,
    scope: str,
    name: str,
    headers: Sequence[Sequence[str]] = (),
    cookies: Sequence[Sequence[str]] = (),
    basic: Sequence[str] | None = None,
    bearer: str | None = None,
    proxy: str | None = None,
) -> tuple[Scope, Access]:
    access = Access(
        headers=tuple((key, value) for key, value in headers),
        cookies=tuple((key, value) for key, value in cookies),
        basic=None if basic is None else (basic[0], basic[1]),
        bearer=bearer,
        proxy=proxy,
    )
    return Scope(ScopeKind(scope), name), checked(access)


def _write(path: Path, layers: Layers) -> None:
    scopes: list[dict[str, Any]] = []
    for scope, access in layers.items():
        said = {name: getattr(access, name) for name in ("headers", "cookies", "basic", "bearer", "proxy")}
        scopes.append({"scope": scope.kind.value, "name": scope.name, **{k: v for k, v in said.items() if v}})
    text = json.dumps({"format": _FORMAT, "scopes": scopes}, indent=2, ensure_ascii=False)
    private.write(path, text + "\n")
