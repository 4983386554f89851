"""No answer holds a secret: not of a resource's access, not of a notice's address, not a token or a key."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.web import year as years
from tests.web.conftest import Served
from tests.web.test_gate import routes

from recrawl.app import notices
from recrawl.app.tokens import May, Tokens
from recrawl.model import Access, Scope, ScopeKind
from recrawl.notify.recipient import Recipient
from recrawl.web.face.app import create

CANARIES = {
    name: f"canary-{name}-7f3a"
    for name in ("header", "cookie", "password", "bearer", "proxy", "hook", "sign")
}
N = 7  # the resource that is asked about


def asked(app_routes: list[tuple[str, str]], host: str) -> list[str]:
    """An address for every route that is read, with what there is in it."""
    paths = {path for method, path in app_routes if method == "GET" and not path.startswith("/live")}
    there = {
        path.replace("/resources/1", f"/resources/{N}").replace("/hosts/1", f"/hosts/{host}")
        for path in paths
    }
    return sorted(there | {f"/resources/{N}/diff?from=1&until=2", "/changes.atom", "/notices", "/metrics"})


def test_no_secret_leaves_by_any_route(year_copy: Served, tmp_path: Path) -> None:
    with year_copy.house() as house:
        resource, _, _ = house.store.these([N])[0]
        access = Access(
            headers=(("X-Key", CANARIES["header"]),),
            cookies=(("sid", CANARIES["cookie"]),),
            basic=("ada", CANARIES["password"]),
            proxy=f"http://ada:{CANARIES['proxy']}@proxy.example:3128",
        )
        scopes = (Scope(ScopeKind.RESOURCE, resource.url), Scope(ScopeKind.HOST, resource.host))
        house.secrets.say(scopes[:1], access)
        house.secrets.say(scopes[1:], Access(bearer=CANARIES["bearer"]))
        to = Recipient(url=f"https://hooks.example/{CANARIES['hook']}", secret=CANARIES["sign"])
        notices.add(house, notices.asked("me", link="https://face.example/{url}"), to)
    lasting = year_copy.tokens.add("laptop", May.WRITE, years.NOW)
    key = year_copy.tokens.key().hex()
    hidden = [*CANARIES.values(), lasting, year_copy.token, key]
    hidden += [one["digest"] for one in json.loads((year_copy.home / "tokens.json").read_text())["tokens"]]
    app = create(tmp_path, Tokens(tmp_path / "tokens.json"))
    app.state.desk.close()
    with year_copy.client() as client:
        found = asked(routes(app), resource.host)
        assert len(found) > 50
        n_read = 0
        for path in found:
            answer = client.get(path)
            n_read += answer.status_code == 200
            said = answer.text + str(answer.headers)
            assert not [secret for secret in hidden if secret in said], path
        assert n_read > 35  # it was not only refusals that held nothing
        listed = client.get("/api/v1/notices").json()
        assert [one["to"] for one in listed] == ["webhook to hooks.example"]
        for wrong in ({"to": f"nonsense {CANARIES['hook']}"}, {"secret": CANARIES["sign"], "to": 5}):
            refused = client.post("/api/v1/notices", json={"name": "x", **wrong})
            assert refused.status_code in (400, 422)
            assert not re.search("canary", refused.text)
