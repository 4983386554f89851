"""The one page that is shown to whoever has no token: complete in itself, as nothing else is served then."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}
h1{font-size:1.4rem}
input,button{font:inherit;box-sizing:border-box;width:100%;padding:.6rem;margin:.3rem 0}
""".strip()
# The address that `recrawl serve` prints carries the token behind a #, which no browser
# sends and no log keeps.
_SCRIPT = """
const found = /^#(rc_[\\w-]+)$/.exec(location.hash);
const form = document.querySelector("form");
if (found && form) {
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.token.value = found[1];
  form.submit();
}
""".strip()


def page(status: int, text: str, wanted: str) -> tuple[str, str]:
    """The page, and the policy that lets its own style and script through and nothing else."""
    form = f"""<form method="post" action="/enter"><input type="hidden" name="next" value="{escape(wanted)}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Come in</button></form>
<p>It is in the address that <code>recrawl serve</code> printed when it began;
<code>recrawl token add NAME</code> makes another.</p>"""
    html = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>recrawl</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<style>{_STYLE}</style></head>
<body><main><h1>recrawl</h1><p role="alert">{escape(text)}</p>
{form if status == 401 else '<p><a href="/">Back</a></p>'}</main>
<script>{_SCRIPT}</script></body></html>
"""
    policy = (
        f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    return html, policy


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
