"""Resources: all that is watched, a page at a time; and the same said of several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from recrawl.app.names import checked_tags
from recrawl.app.roll import DOWN, STRIP_S, Line, Order, State, Wanted
from recrawl.app.several import MOST, Wish, chosen, done, names
from recrawl.errors import BadInputError
from recrawl.model import Kind
from recrawl.web.face import rolls
from recrawl.web.face.backroom import StillWorkingError
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.draw.strip import strip
from recrawl.web.face.forms import Typed, settings, status_of
from recrawl.web.face.shell import path

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Word = Annotated[str, Query(max_length=500)]
Text = Annotated[str, Form()]
N_ON_PAGE = 50
N_TAGS = 200  # offered while one types
N_CHARS = 500  # of a field
MOST_PAGES = 10**6
BLANK = dict.fromkeys(("tag", "weight", "min_gap", "max_gap", "everything"), "")
STATES = {
    State.DUE: "due now",
    State.FAILING: "last visit failed",
    State.SILENT: "silent for too long",
    State.UNSEEN: "never seen",
    State.GONE: "gone",
    State.PAUSED: "paused",
}
COLUMNS = (
    (Order.URL, "Resource", ""),
    (None, "Visits of 90 days", ""),
    (Order.NEXT, "Next visit", ""),
    (Order.RATE, "Changes", ""),
    (Order.CHANGED, "Last change", ""),
    (Order.CHANCE, "Changed by now", "n"),
)


def wanted_by(
    text: Word = "",
    tag: Word = "",
    host: Word = "",
    kind: Word = "",
    state: Word = "",
    sort: Word = "",
    down: Word = "",
) -> Wanted:
    """Of a form: what is empty is not said."""
    try:
        order = Order(sort or Order.NEXT)
        return Wanted(
            text=text.strip(),
            tag=tag.strip(),
            host=host.strip(),
            kind=Kind(kind) if kind else None,
            state=State(state) if state else None,
            order=order,
            down=down == "1" if down else order in DOWN,
        )
    except ValueError:
        raise BadInputError("There is no such kind, state or order; begin with the whole list.") from None


def query(wanted: Wanted, **other: object) -> dict[str, object]:
    """What leads to this list, with some of it otherwise."""
    said: dict[str, object] = {
        "text": wanted.text,
        "tag": wanted.tag,
        "host": wanted.host,
        "kind": wanted.kind and wanted.kind.value,
        "state": wanted.state and wanted.state.value,
        "sort": wanted.order.value if wanted.order is not Order.NEXT else None,
        "down": None if wanted.down == (wanted.order in DOWN) else int(wanted.down),
    } | other
    return {name: str(value) for name, value in said.items() if value not in (None, "")}


@router.get("/resources")
async def page(
    request: Request,
    desk: Asked,
    wanted: Annotated[Wanted, Depends(wanted_by)],
    page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1,
    wait: bool = False,
) -> HTMLResponse:
    return await _page(request, desk, wanted, page, Typed(BLANK), wait=wait)


async def _page(
    request: Request,
    desk: Desk,
    wanted: Wanted,
    page: int,
    typed: Typed,
    ticked: Sequence[int] = (),
    *,
    wait: bool = False,
) -> HTMLResponse:
    found = await _listed(request, desk, wanted, page, wait)
    seen = {line.resource.id for line in found.lines} if found else set()
    tags = await desk.ask(lambda house: house.store.tags())
    now = desk.now()

    def there(**other: object) -> str:
        return path("resources", **query(wanted, **other))

    return desk.page(
        request,
        "resources.html",
        status=typed.status if typed.wrong else 200,
        block="part",
        wanted=wanted,
        found=found,
        rows=[(line, strip(line.looked, now - STRIP_S, now), badges(line)) for line in found.lines]
        if found
        else [],
        tags=sorted(tags, key=lambda tag: (-tags[tag], tag))[:N_TAGS],
        kinds=list(Kind),
        states=STATES,
        columns=[(_sorted(wanted, order), name, css) for order, name, css in COLUMNS],
        there=there,
        here_query=there(page=page if page > 1 else None).partition("?")[2],
        again=there(page=page if page > 1 else None, wait=1),
        pages=_pages(found, there) if found else [],
        most=MOST,
        typed=typed.values,
        wrong=typed.wrong,
        ticked=ticked,
        elsewhere=[one for one in ticked if one not in seen],  # visits and others move what is listed
    )


async def _listed(request: Request, desk: Desk, wanted: Wanted, page: int, wait: bool) -> rolls.Listed | None:
    """None where it takes longer than a page may wait: the page comes without, and asks for the part."""
    try:
        return await rolls.listed(desk, wanted, page, N_ON_PAGE, wait=wait)
    except StillWorkingError:
        if request.headers.get("x-part"):
            raise
        return None


def _sorted(wanted: Wanted, order: Order | None) -> tuple[str, str] | None:
    """Where a column's name leads, and how it is sorted now; None: by this nobody can sort."""
    if order is None:
        return None
    if order is not wanted.order:
        return path("resources", **query(wanted, sort=order.value, down=None)), "none"
    turned = path("resources", **query(wanted, down=int(not wanted.down)))
    return turned, "descending" if wanted.down else "ascending"


def _pages(found: rolls.Listed, there: Callable[..., str]) -> list[tuple[str, str]]:
    """The first, the last, and those around this one; an empty pair where some are left out."""
    near = {1, found.n_pages, *range(found.page - 2, found.page + 3)}
    links, before = [], 0
    for number in sorted(number for number in near if 1 <= number <= found.n_pages):
        if number > before + 1:
            links.append(("", ""))
        links.append((f"{number:,}", "" if number == found.page else there(page=number)))
        before = number
    return links


def badges(line: Line) -> list[tuple[str, str]]:
    """What is to be noticed of one, each with its tone."""
    standing, version = line.standing, line.standing.version
    said = [
        (line.resource.effective.paused, "paused", "quiet"),
        (bool(version and version.gone), "gone", "bad"),
        (standing.n_failures > 0, f"failed {standing.n_failures}×", "bad"),
        (standing.n_informative == 0, "never seen", "quiet"),
        (isfinite(standing.told_at), "said to have changed", "news"),
    ]
    return [(text, tone) for holds, text, tone in said if holds]


@router.post("/resources/several")
async def several(
    request: Request,
    desk: Asked,
    do: Annotated[str, Form(max_length=500)] = "",
    one: Annotated[list[int] | None, Form(max_length=N_ON_PAGE)] = None,
    these: Annotated[str, Form(max_length=200_000)] = "",
    everything: Annotated[bool, Form()] = False,
    query: Annotated[str, Form(max_length=4_000)] = "",
    tag: Text = "",
    weight: Text = "",
    min_gap: Text = "",
    max_gap: Text = "",
    sure: Annotated[bool, Form()] = False,
) -> Response:
    """To the chosen ones, or all that the list has, whatever was chosen to be done."""
    said = {"tag": tag, "weight": weight, "min_gap": min_gap, "max_gap": max_gap}
    do = do or _meant(said)
    typed, wish = Typed({**said, "everything": everything}), Wish(do=do, **said)
    for name, text in said.items():
        typed.within(name, text, N_CHARS)
    ticked = [*(one or ()), *(int(word) for word in these.split(",") if word.isdecimal())]
    ids = (await rolls.numbers(desk, _wanted(query))).tolist() if everything else ticked
    _check(typed, wish, ids)
    if do == "remove" and not sure and not typed.wrong:
        some = await desk.ask(names, ids[:20])
        return desk.page(request, "resources_remove.html", ids=ids, names=some, query=query)
    if not typed.wrong:
        try:
            told = await desk.ask(done, tuple(ids), wish)
        except BadInputError as problem:  # there is nothing to set, or no such thing to do
            typed.refuse("weight" if do == "set" else "", str(problem), status_of(problem))
        else:
            return desk.seen(f"/resources?{query}" if query else "/resources", told)
    return await _page(request, desk, _wanted(query), _number(query), typed, ticked)


def _meant(said: Mapping[str, str]) -> str:
    """By the Enter key, which presses no button: what the fields that were filled are for."""
    filled = {"tag" if name == "tag" else "set" for name, text in said.items() if text.strip()}
    return filled.pop() if len(filled) == 1 else ""


def _check(typed: Typed, wish: Wish, ids: Sequence[int]) -> None:
    """Of the fields those alone that have to do with what is to be done."""
    if ids:
        typed.tried("", lambda: chosen(ids))
    else:
        typed.refuse("", "Nothing is chosen; tick the resources that are meant.")
    if not wish.do:
        typed.refuse("", "It was not said what is to be done; press the button that says it.")
    elif wish.do in ("tag", "untag"):
        typed.tried("tag", lambda: checked_tags([wish.tag.strip()]))
    elif wish.do == "set":
        settings(typed, weight=wish.weight, min_gap=wish.min_gap, max_gap=wish.max_gap)


def _number(text: str) -> int:
    """Of the page that this query leads to."""
    said = dict(parse_qsl(text)).get("page", "")
    return min(max(int(said), 1), MOST_PAGES) if said.isdecimal() and len(said) < 10 else 1


def _wanted(text: str) -> Wanted:
    """The list that this query leads to."""
    known = wanted_by.__annotations__
    return wanted_by(**{name: said for name, said in parse_qsl(text) if name in known and name != "return"})
