"""Scrapy on the same task: obey robots.txt, one request a host at a time, record headers and digests."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess

URLS = Path(sys.argv[1]).read_text("utf-8").split()
RECORD = Path(sys.argv[2]).open("w", encoding="utf-8")  # noqa: SIM115


class Spider(scrapy.Spider):  # type: ignore[misc]  # it is not installed where this is checked
    name = "bench"

    async def start(self):  # type: ignore[no-untyped-def]
        for url in URLS:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):  # type: ignore[no-untyped-def]
        headers = {k.decode(): [v.decode() for v in vs] for k, vs in response.headers.items()}
        digest = hashlib.sha256(response.body).hexdigest()
        RECORD.write(json.dumps([response.url, response.status, headers, digest]) + "\n")


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
