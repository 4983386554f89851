"""The web that everyone is measured on: pages of about 8 KB on as many hosts as there are in 127.0.0.0/8.

Answers as fast as one core can. `/-/seen` tells how many pages were asked for, and when first and last.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "by", "a", "river")
MARK = b"%-24s" % b"@"  # where each page says which one it is, so that no two are the same
ROBOTS = b"User-agent: *\nDisallow: /private\nDisallow: /search?\nAllow: /\n"


def reply(body: bytes, kind: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n" % (kind, len(body))
    return head + b'ETag: "x"\r\nServer: bench\r\nCache-Control: max-age=60\r\n\r\n' + body


def page(n: int) -> bytes:
    lines = (" ".join(WORDS[(n + i + j) % len(WORDS)] for j in range(12)) for i in range(130))
    text = "".join(f"<p>{line}</p>\n" for line in lines)
    document = b"<!doctype html><title>%s</title>\n%s" % (MARK, text.encode())
    return reply(document, b"text/html; charset=utf-8")


PAGES = [page(n) for n in range(64)]
SEEN = {"n": 0, "first_s": 0.0, "last_s": 0.0}


class Origin(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._got = b""
        # Only an address for all can serve the whole of 127.0.0.0/8; nobody else is meant.
        if not str(transport.get_extra_info("peername")[0]).startswith("127."):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        self._got += data
        while b"\r\n\r\n" in self._got:
            head, _, self._got = self._got.partition(b"\r\n\r\n")
            self._transport.write(self._answer(head.split(b" ", 2)[1]))
            if b"\r\nconnection: close" in head.lower():
                self._transport.close()

    def _answer(self, path: bytes) -> bytes:
        if path == b"/robots.txt":
            return reply(ROBOTS, b"text/plain")
        if path == b"/-/seen":
            return reply(json.dumps(SEEN).encode(), b"application/json")
        now = time.perf_counter()
        SEEN["first_s"] = SEEN["first_s"] or now
        SEEN["last_s"] = now
        SEEN["n"] += 1
        here = b"%s %s" % (path[-12:], str(self._transport.get_extra_info("sockname")[0])[-10:].encode())
        return PAGES[hash(path) % len(PAGES)].replace(MARK, b"%-24s" % here, 1)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Origin, "0.0.0.0", port, backlog=4096)  # noqa: S104
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
