"""Notices: the file that holds them, and what can be done with them. Values in, values out, for whoever has a
face: the command line and the web.

The file is private, since most addresses that messages go to carry a key. Nothing here gives one out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.app import private
from recrawl.app.holding import held
from recrawl.app.outbox import delivery_rows, kept_state, started
from recrawl.app.quantity import iso, seconds
from recrawl.app.rows import Row
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError, BadSettingError, ConflictError, NotWatchedError, UnknownPartError
from recrawl.model import GLOBAL, HOUR_S, Scope, ScopeKind
from recrawl.notify import matching
from recrawl.notify.box import box_for
from recrawl.notify.hours import Hours, clock, hours, minute, zone
from recrawl.notify.matching import Match, Side
from recrawl.notify.notice import PER_HOUR, USUAL, Notice, On, sentence
from recrawl.notify.recipient import Recipient, checked

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.live.sending import Sent

FILE_NAME = "notices.json"
_FORMAT = 1
_NAME = re.compile(r"[\w.-]{1,60}")

Kept = Mapping[str, tuple[Notice, Recipient]]


def asked(
    name: str,
    *,
    choice: Choice | None = None,
    on: Sequence[str] = (),
    match: Sequence[str] = (),
    pattern: str = "",
    side: str = Side.EITHER,
    quiet: str = "",
    daily: str = "",
    every: str = "",
    zone_name: str = "UTC",
    per_hour: int = PER_HOUR,
    link: str = "",
) -> Notice:
    """A notice as people write it; without a choice it is of everything."""
    if not _NAME.fullmatch(name):
        raise BadInputError(f"{name!r} is no name for a notice; use letters, digits, dots and dashes.")
    if unknown := [one for one in on if one not in list(On)]:
        raise BadInputError(f"{unknown[0]!r} is nothing to be told of; choose of: {', '.join(On)}.")
    if side not in list(Side):
        raise BadInputError(f"{side!r} is no side of a change; choose one of: {', '.join(Side)}.")
    if daily and every:
        raise ConflictError("--daily and --every are two ways to gather news; choose one.")
    every_s = seconds(every) if every else 0.0
    if every and not 60.0 <= every_s <= 31 * 24 * HOUR_S:
        raise BadInputError("News is gathered for a minute at least and a month at most; write --every 6h.")
    if not 1 <= per_hour <= 1_000:
        raise BadInputError("--per-hour is from 1 to 1000 messages; what is more waits and becomes one.")
    scopes = (GLOBAL,) if choice is None else choice.scopes()
    if len(scopes) != 1:
        raise BadInputError("A notice is of one resource, one tag, one host or all; give several a tag.")
    zone(zone_name)
    return Notice(
        name=name,
        scope=scopes[0],
        on=frozenset(map(On, on)) or USUAL,
        match=matching.checked(Match(words=tuple(match), pattern=pattern, side=Side(side)))
        if match or pattern
        else None,
        quiet=hours(quiet) if quiet else None,
        daily=minute(daily) if daily else None,
        every_s=every_s,
        zone=zone_name,
        per_hour=per_hour,
        link=_link(link),
    )


def _link(text: str) -> str:
    """With {url} and {version} in it, as the web face has its pages. These words and no others: a template
    language would do more for whoever writes one than fill in an address."""
    if set("{}") & set(text.replace("{url}", "").replace("{version}", "")):
        raise BadInputError("--link may have {url} and {version} in it and no other braces.")
    if text and not text.startswith(("https://", "http://")):
        raise BadInputError("--link must lead to the web; begin it with https:// or http://.")
    return text


class Notices:
    """The file, read again whenever it has changed: a run that goes on for months notices."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: private.Stamp | None = None
        self._kept: Kept = {}

    def all(self) -> Kept:
        stamp = private.stamp(self._path)
        if stamp is None:
            self._stamp, self._kept = None, {}
        elif stamp != self._stamp:
            self._kept, self._stamp = _read(self._path), stamp
        return self._kept

    def keep(self, notice: Notice, recipient: Recipient) -> bool:
        """Whether there was none before."""
        with private.writing(self._path):
            kept = dict(_read(self._path)) if self._path.exists() else {}
            _write(self._path, {**kept, notice.name: (notice, recipient)})
            return not kept

    def moved(self, before: str, after: str) -> None:
        """A resource's address changed: notices of it go along."""
        own = Scope(ScopeKind.RESOURCE, before)
        if all(notice.scope != own for notice, _ in self.all().values()):
            return
        there = Scope(ScopeKind.RESOURCE, after)
        with private.writing(self._path):
            kept = {
                name: (replace(notice, scope=there) if notice.scope == own else notice, recipient)
                for name, (notice, recipient) in _read(self._path).items()
            }
            _write(self._path, kept)

    def drop(self, name: str) -> bool:
        """Whether there was such a one."""
        if not self._path.exists():
            return False
        with private.writing(self._path):
            kept = dict(_read(self._path))
            found = kept.pop(name, None) is not None
            _write(self._path, kept)
        return found


def notices(house: House) -> Notices:
    return Notices(house.home / FILE_NAME)


def add(house: House, notice: Notice, recipient: Recipient, *, replacing: bool = False) -> None:
    """News from now on is told. One of the same name gives way if it is said so, with what waits for it."""
    kept = notices(house)
    if notice.name in kept.all() and not replacing:
        raise ConflictError(
            f"There is a notice {notice.name} already; remove it first with "
            f"`recrawl notify remove {notice.name}`, or choose another name."
        )
    checked(recipient)
    if not recipient.webhook:
        from recrawl.live import services

        services.needed()
        if not services.known(recipient):
            raise UnknownPartError(
                f"Apprise does not know what to do with this {recipient.scheme} address; see its "
                "documentation for how it is written."
            )
    now = house.clock.now()
    if not kept.all():
        started(house.store)  # before it counts: what comes after this is told
    kept.keep(replace(notice, added_at=now), recipient)


def remove(house: House, name: str) -> bool:
    """Whether there was such a one; what waited for it is told to nobody."""
    return notices(house).drop(name)


def listed(house: House) -> list[Row]:
    """Every notice with how it stands; of where it goes as much as may be seen."""
    state, now = kept_state(house.store), house.clock.now()
    rows = []
    for notice, recipient in notices(house).all().values():
        box = box_for(notice, state.boxes)
        wait = held(notice, box, now)
        rows.append(
            {
                "name": notice.name,
                "to": recipient.shown,
                "signed": bool(recipient.secret),
                "allow_private": recipient.allow_private,
                "scope": notice.scope.kind.value,
                "of": notice.scope.name,
                "on": [one.value for one in On if one in notice.on],
                "match": list(notice.match.words) if notice.match else [],
                "pattern": notice.match.pattern if notice.match else "",
                "side": notice.match.side.value if notice.match else None,
                "quiet": None if notice.quiet is None else str(notice.quiet),
                "daily": None if notice.daily is None else clock(notice.daily),
                "every_s": notice.every_s or None,
                "zone": notice.zone,
                "per_hour": notice.per_hour,
                "link": notice.link,
                "when": sentence(notice),
                "added_at": iso(notice.added_at),
                "n_waiting": len(box.waiting) + box.n_more,
                "n_sending": len(box.sending),
                "n_failures": box.n_failures,
                "retry_at": iso(box.retry_at) if box.n_failures else None,
                "trouble": box.trouble,
                "held_by": wait.by or None if wait else None,
                "held_words": wait.words if wait else "",
                "held_until": iso(wait.until_at) if wait and wait.by else None,
            }
        )
    return rows


def log(house: House, limit: int = 50) -> list[Row]:
    """What was sent or failed lately, newest first."""
    return delivery_rows(house.store)[::-1][:limit]


def test(house: House, name: str) -> Sent:
    """Send a sample now, whatever the hour. It counts for nothing."""
    import asyncio

    from recrawl.app.letters import sample
    from recrawl.live.sending import Sender

    found = notices(house).all().get(name)
    if found is None:
        raise NotWatchedError(f"There is no notice {name}; see `recrawl notify list`.")
    notice, recipient = found

    async def sent() -> Sent:
        sender = Sender(user_agent=house.config.fetching.user_agent, now=house.clock.now)
        try:
            return await sender.send(recipient, sample(notice, house.clock.now()))
        finally:
            await sender.aclose()

    return asyncio.run(sent())


# -- the file --------------------------------------------------------------------------------------------


def _read(path: Path) -> Kept:
    text = private.read(path)
    try:
        document = json.loads(text)
        if document["format"] != _FORMAT:
            raise BadSettingError(f"{path} was written by another recrawl; upgrade this one.")
        kept = [(_notice(row["notice"]), checked(Recipient(**row["to"]))) for row in document["notices"]]
    except (ValueError, TypeError, KeyError, AttributeError):  # without the cause: it may quote a secret
        raise BadSettingError(
            f"{path} is not as recrawl wrote it; mend it, or remove it and add all notices again."
        ) from None
    return {notice.name: (notice, recipient) for notice, recipient in kept}


def _notice(row: dict[str, Any]) -> Notice:
    scope, match, quiet = row.pop("scope"), row.pop("match"), row.pop("quiet")
    return Notice(
        **{**row, "on": frozenset(map(On, row["on"]))},
        scope=Scope(ScopeKind(scope["kind"]), scope["name"]),
        match=Match(words=tuple(match["words"]), pattern=match["pattern"], side=Side(match["side"]))
        if match
        else None,
        quiet=Hours(**quiet) if quiet else None,
    )


def _write(path: Path, kept: Kept) -> None:
    rows = [
        {"notice": {**asdict(notice), "on": sorted(notice.on)}, "to": asdict(recipient)}
        for notice, recipient in kept.values()
    ]
    private.write(path, json.dumps({"format": _FORMAT, "notices": rows}, indent=2, ensure_ascii=False) + "\n")
