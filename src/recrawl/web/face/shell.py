"""Pages out of templates. All that is put into one is escaped, and what is missing is an error, not a gap."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BadBase64
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from recrawl import __version__
from recrawl.app.quantity import away, iso, short
from recrawl.app.tokens import May
from recrawl.schedule.reason import percent as written_share
from recrawl.schedule.reason import rounded
from recrawl.web.face.gate import Guest

NAVIGATION = (
    ("/", "Overview"),
    ("/resources", "Resources"),
    ("/changes", "Changes"),
    ("/plan", "Plan"),
    ("/hosts", "Hosts"),
    ("/health", "Health"),
    ("/notices", "Notices"),
)
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class Shell:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._environment = Environment(
            loader=PackageLoader("recrawl.web.face"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            when=self._when,
            ago=lambda at: away(at, self._now()) if at is not None and isfinite(at) else "never",
            number=number,
            percent=percent,
            gap=lambda span_s: "–" if span_s is None or not isfinite(span_s) else short(span_s),
            bytes=size,
            told=told,
        )
        self._environment.globals.update(
            path=path, asset=asset, navigation=NAVIGATION, version=__version__, at_home=at_home
        )

    def rendered(self, name: str, block: str = "", *, path: str, guest: Guest, **values: object) -> str:
        template = self._environment.get_template(name)
        given = {
            "here": path,
            "word": guest.word,
            "may_write": guest.token.may is May.WRITE,
            "now": self._now(),
            **values,
        }
        # blocks that are rendered alone see no import of their template
        given["parts"] = self._environment.get_template("parts.html").make_module(given)
        if not block:
            return template.render(given)
        context = template.new_context(given)
        return "".join(template.blocks[block](context))

    def packed(self, message: str) -> str:
        return urlsafe_b64encode(message.encode()).decode()

    def unpacked(self, said: str) -> str:
        """A message out of a cookie; whoever wrote that, it is shown as text and no more."""
        try:
            return urlsafe_b64decode(said.encode()).decode()
        except (BadBase64, UnicodeError):
            return ""

    def _when(self, at: float | None) -> Markup:
        """A moment by how far off it is, with the moment itself behind it."""
        if at is None or not isfinite(at):
            return Markup('<span class="quiet">never</span>')
        full = iso(at) or ""
        said = away(at, self._now())
        return Markup('<time datetime="{}" title="{}">{}</time>').format(full, full, said)


def path(*parts: object, **query: object) -> str:
    """An address of ours: each part is escaped, whatever it holds; what is None or empty is left out.

    >>> path("hosts", "a/b:80", page=2, text="")
    '/hosts/a%2Fb%3A80?page=2'
    """
    kept = {name.rstrip("_"): value for name, value in query.items() if value not in (None, "", False)}
    asked = f"?{urlencode(kept, doseq=True)}" if kept else ""
    return "/" + "/".join(quote(str(part), safe="") for part in parts) + asked


def at_home(here: str, place: str) -> bool:
    """Whether a page lies under this entry of the navigation."""
    return here == place or (place != "/" and here.startswith(f"{place}/"))


@cache
def asset(name: str) -> str:
    """The address of a file that a browser may keep for ever: its content is in it."""
    data = (files("recrawl.web.face") / "static" / name).read_bytes()
    return f"/static/{name}?v={sha256(data).hexdigest()[:12]}"


def number(value: float | None, digits: int = 3) -> str:
    """
    >>> number(12345), number(0.12345), number(560.2, 2), number(None)
    ('12,345', '0.123', '560', '–')
    """
    if value is None or not isfinite(value):
        return "–"
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return rounded(value, digits)


def told(text: object) -> Markup:
    """A sentence as errors and messages have it, with what stands between backticks as code.

    >>> told("Let `recrawl run` visit <them>.")
    Markup('Let <code>recrawl run</code> visit &lt;them&gt;.')
    """
    plain, *rest = str(text).split("`")
    if len(rest) % 2:
        return escape(text)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return escape(plain) + Markup("").join(Markup("<code>{}</code>{}").format(*pair) for pair in pairs)


def percent(value: float | None) -> str:
    """
    >>> percent(0.8163), percent(None)
    ('81.6 %', '–')
    """
    return "–" if value is None or not isfinite(value) else written_share(value)


def size(n_bytes: float | None) -> str:
    """
    >>> size(1_234_567), size(12)
    ('1.2 MB', '12 bytes')
    """
    if n_bytes is None or not isfinite(n_bytes):
        return "–"
    unit, name = next((one for one in _SIZES if n_bytes >= one[0]), (1.0, "bytes"))
    return f"{n_bytes:.0f} bytes" if unit == 1.0 else f"{n_bytes / unit:.1f} {name}"
