"""Pages that are not what was asked for, and pages that look like those and are."""

from __future__ import annotations

from dataclasses import dataclass, field

from recrawl.model import Header, Hop, Snapshot

URL = "https://example.org/reports/2026/water"
WORDS = (
    "The water board measured the river at nine places in spring and found it cleaner than the year before "
    "although two of the places still show more nitrate than the limit that was set for them in the plan "
    "Farmers along the upper valley have begun to leave strips of meadow beside the ditches and the town has "
    "mended the sewer below the mill The next report is due in autumn when the low water tells more than the "
    "spring flood can tell about what seeps in from the fields"
)


def page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def article(title: str = "Water report", heading: str | None = None, more: str = "", times: int = 4) -> str:
    """A page of some 300 words."""
    text = "".join(f"<p>{WORDS}" for _ in range(times))
    return page(title, f"<h1>{heading or title}</h1>{text}{more}")


REPORT = article()


@dataclass(frozen=True)
class Case:
    """What was shown for a page that used to be `before`."""

    about: str
    body: str
    before: str | None = REPORT
    url: str = URL
    came: str = ""  # where a redirect led
    status: int = 302  # of that redirect
    headers: tuple[Header, ...] = ()
    media_type: str = "text/html"
    first: bool = False  # whether it must be told without an earlier copy, too
    hops: tuple[Hop, ...] = field(init=False)

    def __post_init__(self) -> None:
        hop = (Hop(url=self.url, status=self.status, location=self.came),) if self.came else ()
        object.__setattr__(self, "hops", hop)

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(body=self.body.encode(), media_type=self.media_type, charset="utf-8")

    @property
    def earlier(self) -> Snapshot | None:
        if self.before is None:
            return None
        return Snapshot(body=self.before.encode(), media_type="text/html", charset="utf-8")


_MENU = "<nav>" + "".join(f"<a href=/{i}>Menu entry number {i}</a> " for i in range(60)) + "</nav>"
_PASSWORD = (
    "<form action=/session method=post><input name=user><input type=password name=p><button>Go</button>"
)
_ACCEPT = "<form><button>Accept all</button> <button>Reject all</button></form>"
_BANNER = (
    "<div id=onetrust-consent-sdk>We and our partners use cookies to show you advertising that fits you. "
    "You may accept all cookies, reject them or change your settings at any time.</div>"
)


def sorry(title: str, heading: str, text: str = "") -> str:
    return page(title, f"{_MENU}<h1>{heading}</h1><p>{text}</p>")


_NOT_FOUND = [
    Case("bare", sorry("404 Not Found", "404 Not Found"), first=True),
    Case("site", sorry("Page not found | Example", "Sorry, this page could not be found."), first=True),
    Case(
        "told",
        sorry("Example", "Page not found", "The page you are looking for may have been moved."),
        first=True,
    ),
    Case("number", sorry("Error 404 – Example", "404", "We can't find the page."), first=True),
    Case("heading", sorry("Example – all about water", "This page doesn’t exist")),
    Case(
        "german",
        sorry("Seite nicht gefunden", "Fehler 404", "Die angeforderte Seite ist nicht da."),
        first=True,
    ),
    Case("french", sorry("Page introuvable – Exemple", "Cette page n'existe plus"), first=True),
    Case("spanish", sorry("Página no encontrada", "Página no encontrada"), first=True),
    Case("italian", sorry("Esempio", "Pagina non trovata", "La pagina richiesta non esiste."), first=True),
    Case("dutch", sorry("Pagina niet gevonden", "Pagina niet gevonden"), first=True),
    Case("polish", sorry("Nie znaleziono strony", "404"), first=True),
    Case("russian", sorry("Страница не найдена", "Страница не найдена"), first=True),
    Case("japanese", sorry("例", "お探しのページは見つかりませんでした"), first=True),
    Case("only told", page("Example", "<p>Sorry, we can't find what you asked for.")),
    Case("home", page("Example", "<h1>Welcome</h1><p>" + "Other news. " * 200), came="https://example.org/"),
    Case("www home", page("Home", "<h1>News</h1><p>Other things."), came="https://www.example.org/index.php"),
]
_LOGINS = [
    Case(
        "led", page("Example", f"<h1>Welcome</h1>{_PASSWORD}"), came="https://example.org/login", first=True
    ),
    Case("sso", page("Sign in", "<p>Enter your name."), came="https://sso.example.net/start", first=True),
    Case("in place", page("Log in | Example", f"<h1>Members</h1>{_PASSWORD}"), first=True),
    Case("heading", page("Example", f"{_MENU}<h1>Please sign in to continue</h1>{_PASSWORD}"), first=True),
    Case("german", page("Anmelden – Beispiel", _PASSWORD), first=True),
    Case("french", page("Connexion", f"<h1>Se connecter</h1>{_PASSWORD}"), first=True),
    Case("swedish", page("Logga in", _PASSWORD), came="https://example.org/auth?next=/x", first=True),
    Case("chinese", page("用户登录", _PASSWORD), first=True),
]
_CHALLENGES = [
    Case("header", page("Example", "<p>x"), headers=(("CF-Mitigated", "challenge"),), first=True),
    Case("moment", page("Just a moment...", "<p>Enable JavaScript and cookies to continue</p>"), first=True),
    Case("moment alone", page("Just a moment...", "<p>Wait.")),
    Case(
        "turnstile",
        page(
            "Example", "<h1>example.org</h1><p>Verify you are human by completing the action below.</p>"
        ).replace("</body>", "<div class=cf-turnstile></div></body>"),
        first=True,
    ),
    Case(
        "frame",
        page("example.org", "", "<script src=https://ct.captcha-delivery.com/c.js></script>"),
        first=True,
    ),
    Case(
        "interruption",
        page("Pardon Our Interruption", "<p>Something about your browser made us think you are a bot."),
        first=True,
    ),
    Case(
        "captcha",
        page("Robot Check", "<p>Type the characters.</p><form action=/errors/validatecaptcha><input></form>"),
        first=True,
    ),
    Case("german", page("Nur einen Moment …", "<p>Bestätigen Sie, dass Sie ein Mensch sind."), first=True),
    Case(
        "denied",
        page(
            "Access Denied", "<h1>Access Denied</h1>You don't have permission to access /x. Reference #18.2"
        ),
        first=True,
    ),
]
_CONSENTS = [
    Case(
        "led",
        page("Example", f"<p>We and our partners use cookies for advertising.</p>{_ACCEPT}"),
        came="https://consent.example.com/m?continue=x",
        first=True,
    ),
    Case(
        "before",
        page("Before you continue to Example", f"<p>We use cookies and data for tracking.</p>{_ACCEPT}"),
        first=True,
    ),
    Case(
        "german",
        page("Mit Werbung weiterlesen", f"<p>Wir und unsere Partner setzen Cookies.</p>{_ACCEPT} Zustimmen"),
        first=True,
    ),
    Case("dialog", page("Example", _BANNER), first=True),
    Case("dialog and a line", page("Example", f"{_BANNER}<p>Example, the paper of the valley, since 1899.")),
    Case(
        "french",
        page("Votre vie privée est importante", f"<p>Cookies, nos partenaires, publicité.</p>{_ACCEPT}"),
        first=True,
    ),
]
_EMPTIES = [
    Case("shell", page("", "<div id=root></div><script src=/app.3f2.js></script>")),
    Case("loading", page("Example", "<div id=app>Loading …</div><script src=/app.js?v=3></script>")),
    Case("nothing", page("Example", "")),
    Case("no body", ""),
]

POSITIVES = {
    "soft-404": _NOT_FOUND,
    "login": _LOGINS,
    "challenge": _CHALLENGES,
    "consent": _CONSENTS,
    "empty": _EMPTIES,
}
