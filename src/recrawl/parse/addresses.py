"""What a URL gives away before anybody has followed it."""

from __future__ import annotations

import re
from math import nan
from urllib.parse import SplitResult, urlsplit

from recrawl import urls
from recrawl.errors import BadUrlError

_DATED = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}[-_/.]?(?:0[1-9]|1[0-2])(?:[-_/.]?[0-3][0-9])?(?![0-9])")
_DIGIT = re.compile(r"[0-9]")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SCHEME = re.compile(r"([a-z][a-z0-9+.\-]{0,30}):", re.IGNORECASE)
_IGNORED = re.compile(r"[\t\n\r]")  # by browsers, within a URL
_MOST_HOST = 300  # characters of a link in which its host must end


def _words(names: str) -> re.Pattern[str]:
    """Whole words, or with a * the beginnings of words."""
    spelled = "|".join(name[:-1] if name.endswith("*") else rf"{name}(?![a-z])" for name in names.split())
    return re.compile(rf"(?<![a-z])(?:{spelled})")


# In the languages that such words are often written in, whatever that of the page.
_WORDS = {
    "url_news": _words("news newsroom press* nachrichten actu* noticias notizie nieuws latest today"),
    "url_blog": _words("blog* post posts article* artikel weblog journal stories story"),
    "url_archive": _words("archiv* histor* versions revisions changelog old previous past"),
    "url_about": _words("about* contact* kontakt imprint impressum help faq* support* team careers jobs"),
    "url_legal": _words(
        "legal* terms* tos privacy* policy policies conditions cookie* gdpr ccpa dsa eula licen* "
        "agreement* copyright dmca datenschutz* nutzungsbedingungen agb confidentialit* cgu cgv privacidad "
        "terminos termos mentions guidelines compliance rules"
    ),
    "url_forum": _words("forum* thread* topic* discussion* discuss question* community viewtopic"),
    "url_shop": _words("shop* store product* produkt* produit* item items cart price* pricing buy offer*"),
    "url_listing": _words("tag tags category categories kategorie* label labels search"),
}
_ENDINGS = {
    "url_page": frozenset({"html", "htm", "xhtml", "shtml"}),
    "url_program": frozenset({"php", "asp", "aspx", "jsp", "jspx", "cgi", "pl", "do", "cfm"}),
    "url_data": frozenset(
        {"json", "csv", "tsv", "xml", "rdf", "ttl", "nt", "nq", "jsonld", "owl", "rss", "atom"}
    )
    | {"geojson", "xls", "xlsx", "parquet", "yaml", "yml"},
    "url_document": frozenset({"pdf", "doc", "docx", "odt", "rtf", "txt", "md", "ppt", "pptx", "epub"}),
}


def url_features(url: str) -> dict[str, float]:
    """Those features of a sight that its URL tells; none where it cannot be read."""
    parts = _split(url)
    if parts is None or not (parts.netloc or parts.path.strip("/")):
        return {}
    segments = [segment for segment in parts.path.split("/") if segment]
    ending = segments[-1].rpartition(".") if segments and not parts.path.endswith("/") else ("", "", "")
    named = ".".join(parts.netloc.rpartition("@")[2].split(".")[:-2])  # the site's own name says little
    words = _CAPITAL.sub(" ", f"{named} {parts.path}").lower()
    return {
        "level": _level(url),
        "url_length": float(len(url)),
        "url_segments": float(len(segments)),
        "url_digits": float(len(_DIGIT.findall(f"{parts.path}?{parts.query}"))),
        "url_dated": float(_DATED.search(parts.path) is not None),
        "url_parameters": float(sum(bool(each) for each in parts.query.split("&"))),
        **{name: float(pattern.search(words) is not None) for name, pattern in _WORDS.items()},
        **{name: float(bool(ending[0]) and ending[2].lower() in known) for name, known in _ENDINGS.items()},
    }


def site(url: str) -> str:
    """Whose a URL is: its host without port and www; empty where it has none."""
    parts = _split(url)
    return "" if parts is None else _host(parts.netloc)


def external(link: str, own: str, base: str) -> bool | None:
    """Whether a link leads away from a site; None where it leads to no place on the web, or within the page.

    `own` is the page's site; `base` the site that relative links are of. A name above or below the page's own
    is the same site.

    >>> [external(link, "a.org", "a.org") for link in ("/x", "//b.org/", "https://en.a.org", "tel:1", "#top")]
    [False, True, False, None, None]
    """
    if link.startswith("/") and link[1:2].isalnum():  # most are like this
        return not _same(base, own)
    text = _IGNORED.sub("", link[:_MOST_HOST]).strip()
    if not text or text.startswith("#"):
        return None
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return None
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("//"):
        return None if scheme else not _same(base, own)
    return not _same(_host(re.split(r"[/?#\\]", rest[2:], maxsplit=1)[0]), own)


def _same(one: str, other: str) -> bool:
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _host(netloc: str) -> str:
    name = netloc.rpartition("@")[2].lower()
    return re.sub(r":[0-9]*\Z", "", name).rstrip(".").removeprefix("www.")


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url.strip())
    except ValueError:
        return None


def _level(url: str) -> float:
    try:
        return float(urls.directory_level(url))
    except BadUrlError:
        return nan
