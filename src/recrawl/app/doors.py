"""What may stand in a secret: nothing that could become a second header, or break the request."""

from __future__ import annotations

import re

from yarl import URL

from recrawl.errors import BadSettingError
from recrawl.model import Access

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
_COOKIE = re.compile(r"[\x21-\x2b\x2d-\x3a\x3c-\x7e]*")  # no space, comma or semicolon
_BEARER = re.compile(r"[\x21-\x7e]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_REMEDIES = {
    "cookie": "give it with --cookie",
    "proxy-authorization": "give it with --proxy, as part of the proxy's URL",
    "user-agent": "set it with `recrawl set --user-agent`",
}
# What recrawl says itself, and what would change where one message ends and the next begins.
_OURS = re.compile(
    r"accept(-encoding)?|connection|content-.*|expect|host|if-.*|keep-alive|proxy-.*|range|te|trailer|"
    r"transfer-encoding|upgrade"
)


def checked(access: Access) -> Access:
    """The access itself, or an error that names the part and never its value."""
    for name, value in access.headers:
        _check_header_name(name)
        _must(bool(_FIELD.fullmatch(value)), f"The value of header {name}", "visible ASCII characters")
    for name, value in access.cookies:
        _must(bool(_TOKEN.fullmatch(name)), f"The cookie name {name!r}", "letters, digits and - _ . only")
        _must(
            bool(_COOKIE.fullmatch(value)),
            f"The value of cookie {name}",
            "no space, comma, semicolon or control character",
        )
    if access.basic is not None:
        user, password = access.basic
        _must(bool(user) and ":" not in user, "The user name", "at least one character and no colon")
        _must(not _CONTROLS.search(user + password), "The user name or password", "no control character")
    if access.bearer is not None:
        _must(
            bool(_BEARER.fullmatch(access.bearer)), "The bearer token", "visible ASCII characters, no space"
        )
    if access.proxy is not None:
        _must(_is_proxy(access.proxy), "The proxy", "the form http://user:password@host:port")
    named = sum(name.lower() == "authorization" for name, _ in access.headers)
    if named + (access.basic is not None) + (access.bearer is not None) > 1:
        raise BadSettingError(
            "A request carries one login; give --basic, --bearer or --header Authorization."
        )
    return access


def _check_header_name(name: str) -> None:
    _must(bool(_TOKEN.fullmatch(name)), f"The header name {name!r}", "letters, digits and - _ . only")
    if (remedy := _REMEDIES.get(name.lower())) is not None:
        raise BadSettingError(f"{name} is not set as a header; {remedy}.")
    if _OURS.fullmatch(name.lower()):
        raise BadSettingError(f"recrawl sends {name} itself; leave it out.")


def _is_proxy(text: str) -> bool:
    if _CONTROLS.search(text) or " " in text:
        return False
    try:
        url = URL(text)
        return bool(
            url.scheme == "http" and url.host and url.port and url.path == "/" and not url.query_string
        )
    except ValueError:
        return False


def _must(fits: bool, what: str, rule: str) -> None:
    if not fits:
        raise BadSettingError(f"{what} does not fit; it must have {rule}.")
