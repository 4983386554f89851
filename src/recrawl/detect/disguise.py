"""Answers that are not the resource although the server says so: walls, challenges, pages of nothing.

A sign is strong or weak. A strong one is told at first sight. A weak one is told only against an earlier copy
that was another page and did not show it: what a resource always was, it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from recrawl.detect import phrases
from recrawl.detect.text import is_html, n_words_outside
from recrawl.model import Header, Hop, Snapshot
from recrawl.parse.sketch import Sketch, sketch

_TEMPORARY = frozenset({302, 303, 307})
_ALIKE = 0.5  # of the words of two copies together that are in both: then it is the same page
_SHORT = 150  # words: a page that says nothing else
_BRIEF = 80
_HARDLY_ANY = 10
_READABLE = 50  # words of an earlier copy that had something to read
_N_TALKS = 3  # of what requests for consent talk of
_LONGEST_REQUEST = 600  # words of a request for consent

_LOGIN_PATH = re.compile(
    r"/(?:log-?(?:in|on)|sign-?in|sign_in|sso|oauth2?|authorize|authenticate|wp-login|auth|session|sessions"
    r"|anmelden|anmeldung|connexion|identification|inloggen|accedi|iniciar-sesion|entrar|logowanie|saml2?|adfs"
    r"|openid-connect)(?:[/.?]|$)"
)
_LOGIN_HOST = re.compile(r"(?:log-?in|sign-?in|auth|sso|accounts?|idp?|passport)\.")
_CONSENT_HOST = re.compile(r"(?:consent|guce|cookie-?wall|privacy-?gate|myprivacy)\.")
_CONSENT_PATH = re.compile(
    r"/(?:consent|collectconsent|cookie-?wall|cookie-?consent|privacy-?(?:gate|wall))\b"
)
_HOME = re.compile(r"/?(?:index\.\w{2,5}|home|default\.\w{2,5})?/?", re.IGNORECASE)
# What only a challenge loads, and what forms for comments load, too.
_WALLS = (
    "captcha-delivery.com/",
    "_incapsula_resource",
    "/_sec/cp_challenge",
    "px-cloud.net/",
    "awswaf.com/",
)
_CAPTCHAS = (
    *_WALLS,
    *("challenges.cloudflare.com/", "/cdn-cgi/challenge-platform/", "hcaptcha.com/", "/recaptcha/"),
    *("arkoselabs.com/", "geetest.com/", "ddos-guard.net/", "captcha"),
)


@dataclass(frozen=True, slots=True)
class _Trip:
    """How we got there."""

    asked: str
    came: str
    temporary: bool

    def led_to(self, host: re.Pattern[str], path: re.Pattern[str]) -> bool:
        """To such a place, from one that was not."""
        return self.temporary and _at(self.came, host, path) and not _at(self.asked, host, path)

    @property
    def led_home(self) -> bool:
        asked, came = urlsplit(self.asked), urlsplit(self.came)
        return (
            self.temporary
            and _site(asked.hostname) == _site(came.hostname)
            and not _HOME.fullmatch(asked.path)
            and bool(_HOME.fullmatch(came.path))
            and not came.query
        )


@dataclass(frozen=True, slots=True)
class _Sign:
    likeness: str
    strong: bool = False


def disguise(
    *,
    fetch_url: str,
    requested_url: str,
    hops: Sequence[Hop],
    status: int | None,
    headers: Sequence[Header],
    snapshot: Snapshot,
    before: Snapshot | None,
) -> str:
    """What an answer is likely to be instead of the resource: "soft-404", "login", "challenge", "consent" or
    "empty"; nothing where it may well be the resource."""
    if status is not None and not 200 <= status < 300:
        return ""
    if any(name.lower() == "cf-mitigated" and "challenge" in value.lower() for name, value in headers):
        return "challenge"
    if not is_html(snapshot):
        return ""
    trip = _Trip(requested_url, fetch_url, any(hop.status in _TEMPORARY for hop in hops))
    if n_words_outside(snapshot) > _LONGEST_REQUEST and not trip.temporary:
        return ""  # whatever it says and shows: nothing below is ever told of a page with so much to read
    now = sketch(snapshot.body, snapshot.charset)
    if not isinstance(now, Sketch):
        return ""
    sign = _sign(now, trip)
    if before is None:
        return sign.likeness if sign and sign.strong else ""
    if sign is None and now.n_words_in_all > _HARDLY_ANY:
        return ""
    if not is_html(before):
        return sign.likeness if sign else ""  # data do not become a page of this sort
    earlier = sketch(before.body, before.charset)
    if not isinstance(earlier, Sketch):
        return sign.likeness if sign and sign.strong else ""
    if sign is None:
        return "empty" if _emptied(earlier, now) else ""
    was = _sign(earlier, _Trip(requested_url, requested_url, False))
    if (was and was.likeness == sign.likeness) or _alike(earlier, now) >= _ALIKE:
        return ""
    return sign.likeness


def _sign(page: Sketch, trip: _Trip) -> _Sign | None:
    return _challenge(page) or _consent(page, trip) or _login(page, trip) or _not_found(page, trip)


def _challenge(page: Sketch) -> _Sign | None:
    if page.n_words > _SHORT:
        return None
    if page.n_words <= _HARDLY_ANY and _loads(page, _WALLS):
        return _Sign("challenge", strong=True)
    said = phrases.said(phrases.CHALLENGE, (page.title, page.heading))
    told = phrases.told(phrases.CHALLENGE_TOLD, page.text)
    asks = _loads(page, _CAPTCHAS) or any("captcha" in name or "turnstile" in name for name in page.names)
    if not (said or (told and asks)):
        return None
    return _Sign("challenge", strong=told + asks + said >= 2)


def _consent(page: Sketch, trip: _Trip) -> _Sign | None:
    n_words = page.n_words + page.n_words_of_consent
    if trip.led_to(_CONSENT_HOST, _CONSENT_PATH) and n_words <= _LONGEST_REQUEST:
        return _Sign("consent", strong=_talks_of_consent(page) or bool(page.n_words_of_consent))
    if page.n_words_of_consent >= 2 * _HARDLY_ANY and page.n_words <= 2 * _HARDLY_ANY:
        return _Sign("consent", strong=page.n_words_in_all <= _HARDLY_ANY // 2)
    if n_words > _LONGEST_REQUEST or not phrases.said(phrases.CONSENT, (page.title, page.heading)):
        return None
    if not _talks_of_consent(page):
        return _Sign("consent") if page.n_words <= 2 * _HARDLY_ANY else None
    return _Sign("consent", strong=page.n_forms > 0 and page.n_words <= 2 * _SHORT)


def _talks_of_consent(page: Sketch) -> bool:
    return sum(phrases.told(talk, page.text) for talk in phrases.CONSENT_TOLD) >= _N_TALKS


def _login(page: Sketch, trip: _Trip) -> _Sign | None:
    if page.n_words > _SHORT:
        return None
    said = phrases.said(phrases.LOGIN, (page.title, page.heading))
    if trip.led_to(_LOGIN_HOST, _LOGIN_PATH) and (said or page.n_passwords):
        return _Sign("login", strong=True)
    if page.n_passwords and page.n_words <= 2 * _HARDLY_ANY and not (said or page.heading):
        return _Sign("login")  # there is nothing else on it
    if not (said and page.n_passwords):
        return None
    asked_for = _at(trip.asked, _LOGIN_HOST, _LOGIN_PATH) or _HOME.fullmatch(urlsplit(trip.asked).path)
    return _Sign("login", strong=not asked_for and page.n_words <= _BRIEF)


def _not_found(page: Sketch, trip: _Trip) -> _Sign | None:
    if page.n_words <= _SHORT:
        titled, headed = (phrases.said(phrases.NOT_FOUND, (text,)) for text in (page.title, page.heading))
        told = phrases.told(phrases.NOT_FOUND_TOLD, page.text)
        if titled or headed:
            return _Sign("soft-404", strong=titled + headed + told >= 2 and page.n_words <= _BRIEF)
        if told and page.n_words <= _BRIEF // 2:
            return _Sign("soft-404")
    return _Sign("soft-404") if trip.led_home else None


def _emptied(earlier: Sketch, now: Sketch) -> bool:
    """Whether there was something to read and now there is a shell, or nothing at all."""
    scripted = any(address.partition("?")[0].endswith(".js") for address in now.addresses)
    shell = now.n_words_in_all == 0 or (scripted and not now.heading)
    return earlier.n_words >= _READABLE and shell


def _alike(earlier: Sketch, now: Sketch) -> float:
    had, has = earlier.words(), now.words()
    together = had | has
    return len(had & has) / len(together) if together else 1.0


def _loads(page: Sketch, marks: Sequence[str]) -> bool:
    return any(mark in address for address in page.addresses for mark in marks)


def _at(url: str, host: re.Pattern[str], path: re.Pattern[str]) -> bool:
    parts = urlsplit(url)
    return bool(host.match(parts.hostname or "") or path.search(parts.path.lower()))


def _site(host: str | None) -> str:
    return (host or "").removeprefix("www.")
