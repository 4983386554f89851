"""Scrapy on the same task: obey robots.txt, one request a host at a time, record headers and digests.

spider.py [--warc] URLS RECORD    with --warc also a request and a response record of each page beside RECORD,
                                  each a gzip member, as recrawl writes them
"""

from __future__ import annotations

import hashlib
import json
import sys
from io import BytesIO
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess

URLS = Path(sys.argv[-2]).read_text("utf-8").split()
RECORD = Path(sys.argv[-1]).open("w", encoding="utf-8")  # noqa: SIM115
WARC = Path(sys.argv[-1] + ".warc.gz").open("wb") if "--warc" in sys.argv else None  # noqa: SIM115

if WARC:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    WRITER = WARCWriter(WARC, gzip=True, warc_version="WARC/1.1")


def stored(response) -> None:  # type: ignore[no-untyped-def]
    pairs = [(k.decode(), v.decode()) for k, vs in response.headers.items() for v in vs]
    head = StatusAndHeaders(f"{response.status} OK", pairs, protocol="HTTP/1.1")
    answer = WRITER.create_warc_record(response.url, "response", BytesIO(response.body), http_headers=head)
    asked = [(k.decode(), v.decode()) for k, vs in response.request.headers.items() for v in vs]
    head = StatusAndHeaders("GET / HTTP/1.1", asked, is_http_request=True)
    question = WRITER.create_warc_record(response.url, "request", BytesIO(b""), http_headers=head)
    WRITER.write_request_response_pair(question, answer)


class Spider(scrapy.Spider):  # type: ignore[misc]  # it is not installed where this is checked
    name = "bench"

    async def start(self):  # type: ignore[no-untyped-def]
        for url in URLS:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):  # type: ignore[no-untyped-def]
        headers = {k.decode(): [v.decode() for v in vs] for k, vs in response.headers.items()}
        digest = hashlib.sha256(response.body).hexdigest()
        RECORD.write(json.dumps([response.url, response.status, headers, digest]) + "\n")
        if WARC:
            stored(response)


process = CrawlerProcess(
    {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": True,
        "USER_AGENT": "bench",
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    }
)
process.crawl(Spider)
process.start()
RECORD.close()
if WARC:
    WARC.close()
