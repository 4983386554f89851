"""What is shown in place of a document: it is all one page, whatever was asked for."""

from __future__ import annotations

from recrawl.livingweb.kinds import Disguise


def _page(title: str, body: str) -> str:
    return f'<!DOCTYPE html>\n<html lang="en"><head><title>{title}</title></head><body>{body}</body></html>\n'


WALLS = {
    Disguise.SOFT_404: _page(
        "Page not found",
        "<h1>Page not found</h1><p>The page that you are looking for does not exist or was moved.</p>"
        '<p><a href="/">Back to the front page</a></p>',
    ),
    Disguise.LOGIN: _page(
        "Sign in",
        '<h1>Sign in to continue</h1><form action="/login" method="post"><label>User name <input name="user">'
        '</label><label>Password <input type="password" name="password"></label>'
        "<button>Sign in</button></form>",
    ),
    Disguise.CHALLENGE: _page(
        "Just a moment...",
        "<h1>Checking your browser before you may go on</h1><p>Turn on JavaScript to continue.</p>"
        '<script src="/challenge.js"></script>',
    ),
    Disguise.CONSENT: _page(
        "Before you continue",
        "<h1>Before you continue</h1><p>We use cookies. Choose whether you accept them.</p>"
        "<form><button>Accept all</button><button>Reject all</button></form>",
    ),
    Disguise.EMPTY: _page("", '<div id="root"></div><script src="/app.js"></script>'),
}
