"""Sixty things that a page may say so that somebody else's browser runs them, and a home full of them.

Each payload that builds an element gives it the attribute `data-hit`, and each that runs calls `hit`: a page
in which neither is found has escaped it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.keeper import Still
from tests.warcs import fetched

from recrawl.app.build import open_house
from recrawl.model import (
    DAY_S,
    Adoption,
    Changed,
    Kind,
    NewResource,
    Outcome,
    Plan,
    Request,
    Settings,
    Standing,
    Version,
    Visit,
    digest,
)

NOW = 1_798_761_600.0
_ELEMENTS = (
    "<script data-hit>hit(1)</script>",
    "<SCRIPT data-hit>hit(1)</SCRIPT>",
    "<img data-hit src=x onerror=hit(1)>",
    "<img data-hit src=x onerror='hit(1)'>",
    '<img data-hit src="x" onerror="hit(1)">',
    "<svg data-hit onload=hit(1)>",
    "<svg data-hit><script>hit(1)</script></svg>",
    "<svg data-hit/onload=hit(1)>",
    "<body data-hit onload=hit(1)>",
    "<iframe data-hit src=javascript:hit(1)></iframe>",
    "<iframe data-hit srcdoc='<script>parent.hit(1)</script>'></iframe>",
    "<object data-hit data=javascript:hit(1)></object>",
    "<embed data-hit src=javascript:hit(1)>",
    "<a data-hit href=javascript:hit(1)>x</a>",
    "<a data-hit href='java\tscript:hit(1)'>x</a>",
    "<a data-hit href=' javascript:hit(1)'>x</a>",
    "<form data-hit action=javascript:hit(1)><input type=submit>",
    "<button data-hit formaction=javascript:hit(1)>x</button>",
    "<details data-hit open ontoggle=hit(1)>",
    "<input data-hit autofocus onfocus=hit(1)>",
    "<select data-hit autofocus onfocus=hit(1)>",
    "<textarea data-hit autofocus onfocus=hit(1)>",
    "<video data-hit><source onerror=hit(1)></video>",
    "<audio data-hit src=x onerror=hit(1)>",
    "<marquee data-hit onstart=hit(1)>",
    "<style data-hit>*{background:url(javascript:hit(1))}</style>",
    "<link data-hit rel=stylesheet href=javascript:hit(1)>",
    "<meta data-hit http-equiv=refresh content='0;url=javascript:hit(1)'>",
    "<base data-hit href=javascript:hit(1)//>",
    "<math data-hit><a xlink:href=javascript:hit(1)>x</a></math>",
    "<template data-hit><script>hit(1)</script></template>",
    "<noscript><p title='</noscript><img data-hit src=x onerror=hit(1)>'>",
    "<table background=javascript:hit(1) data-hit>",
    "<div data-hit style='width:expression(hit(1))'>",
    "<x data-hit onclick=hit(1)>click",
    "<img data-hit src=`x`onerror=hit(1)>",
    "<img/data-hit/src=x/onerror=hit(1)>",
    "<<script data-hit>hit(1)//<</script>",
    "<scr<script data-hit>ipt>hit(1)</script>",
    "<!--><img data-hit src=x onerror=hit(1)>-->",
    "<![CDATA[<img data-hit src=x onerror=hit(1)>]]>",
    "]]><img data-hit src=x onerror=hit(1)>",
    "\N{FULLWIDTH LESS-THAN SIGN}img data-hit src=x onerror=hit(1)\N{FULLWIDTH GREATER-THAN SIGN}",
    "<img data-hit src=x onerror=&#104;&#105;&#116;(1)>",
)
_BREAKS = (
    '"><img data-hit src=x onerror=hit(1)>',
    "'><img data-hit src=x onerror=hit(1)>",
    '" onmouseover=hit(1) data-hit x="',
    "' onfocus=hit(1) autofocus data-hit x='",
    "</title><script data-hit>hit(1)</script>",
    "</textarea><script data-hit>hit(1)</script>",
    "</style><script data-hit>hit(1)</script>",
    "</script><script data-hit>hit(1)</script>",
    "--><script data-hit>hit(1)</script>",
    "</text></svg><img data-hit src=x onerror=hit(1)>",
    "</time></td></table><img data-hit src=x onerror=hit(1)>",
)
_OTHERS = (
    "javascript:hit(1)",
    "data:text/html,<script data-hit>hit(1)</script>",
    "{{ 7777 * 7777 }}{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    '=HYPERLINK("javascript:hit(1)")',
    "\r\nX-Hit: 1\r\n\r\n<script data-hit>hit(1)</script>",
)
PAYLOADS = (*_ELEMENTS, *_BREAKS, *_OTHERS)
assert len(PAYLOADS) == 60
_FORMS = ("html", "json", "csv", "rss")


def url_of(i: int) -> str:
    """The payload stands in it as far as an address can carry it."""
    from recrawl.urls import resource_url

    said = "".join(c for c in PAYLOADS[i] if c.isprintable()).replace("\\", "")
    return resource_url(f"https://h{i}.example/{i}?q={said.replace('#', '').replace(' ', '+')}")


def made(home: Path) -> None:
    clock = Still(NOW - 10 * DAY_S)
    with open_house(home, clock=clock) as house:
        for i, payload in enumerate(PAYLOADS):
            tag = "".join(c for c in payload if c.isprintable() and c != ",").strip()[:60]
            form = _FORMS[i % len(_FORMS)]
            kind = Settings(kind=Kind.FEED) if form == "rss" else Settings()
            url = url_of(i)
            house.store.add([NewResource(url=url, host=f"h{i}.example", settings=kind, tags=(tag,))], NOW)
            resource = house.store.find(url)
            assert resource is not None
            visits, versions = [], []
            for turn in range(3):
                at = NOW - (3 - turn) * DAY_S
                body = _body(form, payload, turn)
                fetch = replace(
                    fetched(body),
                    request=Request(url=url),
                    url=url,
                    started_at=at,
                    ended_at=at,
                    headers=(("Content-Type", _TYPES[form]),),
                )
                version = Version(
                    resource_id=resource.id,
                    seq=0,
                    at=at,
                    digest=digest(body),
                    fingerprint=digest(body),
                    detector={"html": "text", "json": "json", "csv": "table", "rss": "feed"}[form],
                    media_type=_TYPES[form] if i % 5 else payload,
                    charset="utf-8" if i % 7 else payload,
                    status=200,
                    n_bytes=len(body),
                )
                versions.append(house.archive.put(fetch, version))
                visits.append(
                    Visit(
                        fetch_id=f"{i}-{turn}",
                        resource_id=resource.id,
                        at=at,
                        since_at=at - DAY_S if turn else float("nan"),
                        status=200,
                        changed=Changed.YES if turn else Changed.UNKNOWN,
                        significant=True if turn else None,
                        evidence=payload,
                        moved_to=f"https://moved.example/?{payload}",
                    )
                )
            failed = Visit(
                fetch_id=f"{i}-failed",
                resource_id=resource.id,
                at=NOW - 60.0,
                since_at=visits[-1].at,
                outcome=Outcome.NET_ERROR,
                evidence=payload,
            )
            standing = Standing(
                since_at=visits[-1].at,
                last_at=failed.at,
                gap_s=DAY_S,
                due_at=NOW + 600.0 * i,
                n_informative=3,
                n_changes=2,
                n_failures=1,
                bits=3,
                etag=payload,
                version=versions[-1],
            )
            before, _ = house.store.standing(resource.id)
            plan = Plan(resource_id=resource.id, due_at=standing.due_at, gap_s=DAY_S, rule="index:fresh")
            adoption = Adoption(
                resource=resource,
                before=before,
                visits=(*visits, failed),
                versions=tuple(versions),
                standing=standing,
                plan=plan,
            )
            assert house.store.adopt([adoption], now=NOW, files=house.archive.sync()) == [True]


_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "csv": "text/csv",
    "rss": "application/rss+xml",
}


def _body(form: str, payload: str, turn: int) -> bytes:
    said = f"{payload} {turn}"
    match form:
        case "json":
            return json.dumps({payload: said, "list": [said] * turn}).encode()
        case "csv":
            cell = said.replace('"', '""').replace("\r", " ").replace("\n", " ")
            return f'id,"{cell}"\n1,"{cell}"\n{turn},"{cell}"\n'.encode()
        case "rss":
            from xml.sax.saxutils import escape

            safe = escape("".join(c for c in said if c.isprintable()))
            item = f"<item><guid>{turn}</guid><title>{safe}</title><description>{safe}</description></item>"
            return f'<rss version="2.0"><channel><title>{safe}</title>{item}</channel></rss>'.encode()
    from html import escape as escaped

    return f"<title>{escaped(said)}</title><h1>{escaped(said)}</h1><p>{escaped(said)}<p>{turn}".encode()
