"""Every case, and what the origin must serve for it."""

from __future__ import annotations

from tests.hostile.case import Case
from tests.hostile.codings import CODINGS
from tests.hostile.manners import MANNERS
from tests.hostile.meaning import MEANING
from tests.hostile.origin import OTHER, Replies
from tests.hostile.parsers import PARSERS
from tests.hostile.redirects import REDIRECTS
from tests.hostile.wire import WIRE

TABLE: dict[str, Case] = {  # by the host's name
    f"{case.row.lower()}n{number}": case
    for number, case in enumerate([*WIRE, *CODINGS, *REDIRECTS, *MANNERS, *PARSERS, *MEANING])
}
HOSTS: dict[str, Replies] = {key: case.replies for key, case in TABLE.items()} | {
    f"{key}{OTHER}": case.other for key, case in TABLE.items()
}
