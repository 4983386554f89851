"""Pages that are what was asked for, however much they look like something else."""

from __future__ import annotations

from tests.unit.disguises import REPORT, WORDS, Case, article, page, sorry

_PASSWORD = (
    "<form action=/session method=post><input name=user><input type=password name=p><button>Go</button>"
)
_COMMENT = f"<h2>Comments</h2><p>Log in to comment.</p>{_PASSWORD}</form>"
_LOGIN = page("Log in | Example", f"<h1>Log in</h1>{_PASSWORD}")
_CAPTCHA = "<script src=https://www.google.com/recaptcha/api.js></script><div class=g-recaptcha></div>"
_TURNSTILE = "<script src=https://challenges.cloudflare.com/turnstile/v0/api.js></script>"
_BANNER = (
    "<div id=onetrust-consent-sdk><h2>We value your privacy</h2>We and our partners use cookies to show you "
    "advertising that fits you. Accept all, reject all or change your settings.</div>"
)
_POLICY = article("Cookie policy", more="<p>We use cookies. You may accept or reject them. Our partners …")
_NOTE = page("Water today", "<h1>Water today</h1><p>412 cm, falling.")
_SHELL = page("Example", "<div id=root></div><script src=/app.js></script>")
_HOME_URL = "https://example.org/"

# Ordinary changes of ordinary pages.
_CHANGES = [
    Case("one word", REPORT.replace("cleaner", "dirtier")),
    Case("rewritten", article("Water report", times=2).replace("river", "brook").replace("spring", "autumn")),
    Case("wholly other", page("Fish report", "<h1>Fish</h1><p>" + "Trout and grayling came back. " * 40)),
    Case("short note", _NOTE),
    Case("short note, other before", _NOTE, before=page("Water today", "<h1>Water today</h1><p>420 cm.")),
    Case("one line", page("Closed", "<h1>Closed</h1><p>The office is closed until Monday.")),
    Case("one word left", page("Example", "<p>Closed.")),
    Case("moved within", REPORT.replace("cleaner", "x"), came="https://example.org/reports/water-2026"),
    Case("moved for good", page("Home", "<p>" + "News. " * 99), came=_HOME_URL, status=301),
    Case("to another language", article("Wasser"), came="https://example.org/de/reports/2026/water"),
    Case("to https", REPORT + " ", url="http://example.org/a", came="https://example.org/a", status=307),
    Case("home to index", page("Home", "<p>New."), url=_HOME_URL, came="https://example.org/index.html"),
    Case("index to home", page("Home", "<p>New."), url="https://example.org/index.html", came=_HOME_URL),
    Case("to a search", page("Search", "<p>3 hits"), came="https://example.org/?q=water"),
    Case("to another site", page("Partner", "<p>Hello there."), came="https://partner.example.com/"),
    Case("plain text", "404 not found", media_type="text/plain"),
    Case("pdf", "%PDF-1.7 Just a moment...", media_type="application/pdf"),
    Case("first copy", REPORT, before=None),
    Case("first copy of a note", _NOTE, before=None),
    Case("first copy of a shell", _SHELL, before=None),
    Case("still a shell", _SHELL.replace("app.js", "app.2.js"), before=_SHELL),
    Case("japanese", page("水の報告", "<p>" + "春の川の水は去年よりきれいになった。" * 20)),
    Case("from a shell", REPORT, before=_SHELL),
    Case("a short page emptied", page("Water today", ""), before=_NOTE),
]
# About pages that are not there, and pages that never were.
_ABOUT_NOT_FOUND = [
    Case("how to", article("How to fix a 404 error", "How to fix a 404 Not Found error")),
    Case("what is", article("What is a 404? | Glossary", "404 Not Found")),
    Case("encyclopaedia", article("HTTP 404 – Encyclopaedia", "HTTP 404")),
    Case("glossary", page("404 errors | Glossary", f"<h1>404 errors</h1><p>{WORDS}"), before=None),
    Case(
        "short entry", page("Not found errors", "<h1>Errors</h1><p>404: not found. 410: gone."), before=None
    ),
    Case("japanese", page("404", "<h1>ページが見つかりません</h1><p>" + "とは何か、その理由を述べる。" * 40)),
    Case("car", page("Peugeot 404", "<h1>Peugeot 404</h1><p>Built from 1960 to 1975.")),
    Case("room", page("Room 404", "<h1>Room 404</h1><p>Second floor, forty seats.")),
    Case("album", article("404 (album)", "404")),
    Case("lost and found", page("Lost and found", "<h1>Lost and found</h1><p>One umbrella was not found.")),
    Case("no hits", page("Search", "<h1>Search</h1><p>Nothing found for flood. Try another word.")),
    Case("a shop's item", page("Lamp", "<h1>Lamp</h1><p>This product is not available at the moment.")),
    Case("quoted", article("Web poetry", more="<p>“Page not found”, it said. “The page you requested …”")),
    Case("bug", article("Bug 812: “Page not found” after login", "Bug 812: “Page not found” after login")),
    Case(
        "always", sorry("Page not found", "Page not found", "a"), before=sorry("Page not found", "404", "b")
    ),
    Case("missing person", page("Not found yet", "<h1>Anna, 14, has not been found yet</h1><p>Call us.")),
    Case("status page", page("Status", "<h1>All systems work</h1><p>404s: 3. 500s: 0."), before=None),
]
_ABOUT_LOGINS = [
    Case("comments", article(more=_COMMENT)),
    Case("comments at first", article(more=_COMMENT), before=None),
    Case("the login page", _LOGIN.replace("Go", "Enter"), before=_LOGIN, url="https://example.org/login"),
    Case("its first copy", _LOGIN, before=None, url="https://example.org/login"),
    Case("a site that is its login", _LOGIN, before=None, url=_HOME_URL),
    Case("accounts", _LOGIN, before=None, url="https://accounts.example.org/x"),
    Case(
        "led on from it",
        _LOGIN,
        before=None,
        url="https://example.org/login",
        came="https://example.org/auth/1",
    ),
    Case("always a login", _LOGIN.replace("Go", "Enter"), before=_LOGIN),
    Case("manual", article("How to sign in", "Sign in")),
    Case("short manual", page("Sign in – Help", "<h1>Sign in</h1><p>Press the key."), before=None),
    Case("header form", f"<header>{_PASSWORD}</form></header>{REPORT}"),
    Case("header form at first", f"<header>{_PASSWORD}</form></header>{REPORT}", before=None),
    Case("register", page("Join", f"<h1>Join the club</h1><p>Choose a password.</p>{_PASSWORD}")),
    Case("led but readable", article("Report"), came="https://example.org/auth/report"),
    Case("password tips", article("Ten tips for a good password", more=_PASSWORD)),
    Case("a docs path", article("Session"), url="https://example.org/docs/session", before=None),
    Case("back from a login", REPORT, before=_LOGIN),
]
_ABOUT_CHALLENGES = [
    Case("contact form", page("Contact", f"<h1>Contact</h1><p>Write to us.</p><form>{_CAPTCHA}</form>")),
    Case("contact at first", page("Contact", f"<h1>Contact</h1><form>{_CAPTCHA}</form>"), before=None),
    Case("newsletter", article(more=f"<form>{_TURNSTILE}<input name=mail></form>")),
    Case("jsd", article(more="<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>")),
    Case("product", article("Captcha: verify you are human", "Verify you are human")),
    Case("poem", page("Just a moment", f"<h1>Just a moment</h1><p>{WORDS}"), before=None),
    Case("news", article("Security check", "Airport security check")),
    Case("coding challenge", page("Challenge 7", "<h1>Challenge 7</h1><p>Sort a list in place.")),
    Case("denied", article("Access denied", "Access denied: why visas are refused")),
    Case("other header", REPORT + " ", headers=(("cf-mitigated", "none"), ("cf-ray", "x"))),
]
_ABOUT_CONSENT = [
    Case("banner", REPORT.replace("</body>", f"{_BANNER}</body>")),
    Case("banner at first", REPORT.replace("</body>", f"{_BANNER}</body>"), before=None),
    Case("banner on a note", _NOTE.replace("</body>", f"{_BANNER}</body>"), before=_NOTE),
    Case("banner above", article(more="").replace("<h1>", f"{_BANNER}<h1>"), before=None),
    Case("policy", _POLICY.replace("cleaner", "x"), before=_POLICY),
    Case("policy at first", _POLICY, before=None),
    Case("privacy matters", article("Your privacy matters"), before=None),
    Case("recipe", page("Cookies", "<h1>Cookies</h1><p>Butter, sugar, flour. Bake them."), before=None),
    Case("before you", article("Before you continue to the summit", "Before you continue"), before=None),
    Case("path", article("Consent"), url="https://example.org/consent/", before=None),
]

NEGATIVES = [*_CHANGES, *_ABOUT_NOT_FOUND, *_ABOUT_LOGINS, *_ABOUT_CHALLENGES, *_ABOUT_CONSENT]
