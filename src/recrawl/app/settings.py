"""What people say of resources, checked before anything goes by it: by options, forms and programs alike."""

from __future__ import annotations

from recrawl.app.names import readable
from recrawl.app.quantity import seconds
from recrawl.errors import BadSettingError, ConflictError
from recrawl.model import LEAST_WEIGHT, MOST_WEIGHT, Changes, Kind, Manner, Settings

LEAST_BYTES, MOST_BYTES = 1024, 2**30  # of a body: less is hardly a page, more is not read


def settings(
    *,
    kind: str | None = None,
    weight: float | None = None,
    min_gap: str | None = None,
    max_gap: str | None = None,
    paused: bool | None = None,
    allow_private: bool | None = None,
    changes: str | None = None,
    manner: Manner | None = None,
) -> Settings:
    """What is None is not said."""
    if changes is not None and changes not in list(Changes):
        raise BadSettingError(f"{changes!r} changes cannot be told; choose one of: {', '.join(Changes)}.")
    if kind is not None and kind not in list(Kind):
        raise BadSettingError(f"{kind!r} is not a kind; choose one of: {', '.join(Kind)}.")
    if weight is not None and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise BadSettingError(
            f"A weight of {weight:g} means nothing; give a number above 0, from {LEAST_WEIGHT:g} "
            f"to {MOST_WEIGHT:g}."
        )
    min_gap_s, max_gap_s = (None if said is None else seconds(said) for said in (min_gap, max_gap))
    if any(gap_s is not None and gap_s <= 0.0 for gap_s in (min_gap_s, max_gap_s)):
        raise BadSettingError("A gap must be longer than nothing; write it as 30m, 6h or 2d.")
    if min_gap_s is not None and max_gap_s is not None and min_gap_s > max_gap_s:
        raise ConflictError(
            f"The smallest gap, {min_gap}, is longer than the largest, {max_gap}; swap or change them."
        )
    return Settings(
        kind=None if kind is None else Kind(kind),
        weight=weight,
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        paused=paused,
        allow_private=allow_private,
        manner=manner,
        changes=None if changes is None else Changes(changes),
    )


def manner(
    *,
    render: bool | None = None,
    insecure: bool | None = None,
    max_bytes: int | None = None,
    page_rows: int | None = None,
    user_agent: str | None = None,
    include: list[str] | None = None,
    ignore: list[str] | None = None,
    keys: list[str] | None = None,
    main: bool | None = None,
    mask: bool | None = None,
) -> Manner | None:
    """How to look; None where nothing is said of it."""
    from recrawl.detect.selectors import checked
    from recrawl.observe.robots import product

    if max_bytes is not None and not LEAST_BYTES <= max_bytes <= MOST_BYTES:
        raise BadSettingError(
            f"The largest body read (--max-bytes) must be from {LEAST_BYTES} to {MOST_BYTES} bytes; "
            "give such a number."
        )
    if page_rows is not None and page_rows < 1:
        raise BadSettingError("Rows at a time (--page-rows) must be at least 1; a few thousand suit most.")
    if user_agent is not None and not (
        product(user_agent) and user_agent.isascii() and user_agent.isprintable()
    ):
        raise BadSettingError(
            "A user agent (--user-agent) must begin with a name in ASCII, as example-bot/1.0."
        )
    for selector in include or ():
        checked(selector)
    for selector in ignore or ():
        checked(selector, ignoring=True)
    if not all(map(readable, keys or ())):
        raise BadSettingError("A key (--keys) is a column of the table's first row; give its name.")
    said = Manner(
        render=render,
        insecure=insecure,
        max_bytes=max_bytes,
        page_rows=page_rows,
        user_agent=user_agent,
        include=tuple(include) if include else None,
        ignore=tuple(ignore) if ignore else None,
        keys=tuple(keys) if keys else None,
        main=main,
        mask=mask,
    )
    return None if said == Manner() else said
