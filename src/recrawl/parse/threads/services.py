"""Discussions as programs tell them to programs: JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from yarl import URL

from recrawl.parse import html
from recrawl.parse.threads.boards import Row
from recrawl.parse.threads.drafts import MOST_POSTS, Draft
from recrawl.parse.threads.elements import led
from recrawl.parse.threads.paging import Paging, in_url

_CHUNK = 20  # posts on a page of Discourse, where it does not say
_MOST_VALUES = 500_000
_MOST_DEPTH = 200

_KEYS = ("id", "comment_id", "answer_id", "post_id", "question_id", "iid", "guid", "uuid", "name", "url")
_WHEN = (
    "created_at", "createdAt", "created_utc", "creation_date", "created_on", "date_gmt", "created",
    "published_at", "publishedAt", "posted_at", "date", "time", "timestamp", "created_at_i",
)  # fmt: skip
_EDITED = ("updated_at", "updatedAt", "edited_at", "last_edit_date", "modified_gmt", "edited", "updated")
_WHO = (
    "username", "user", "author", "author_name", "by", "owner", "creator", "display_name", "login",
    "user_name",
)  # fmt: skip
_NAMES = ("login", "username", "display_name", "name", "nickname", "full_name")
_SAID = (
    "cooked",
    "body",
    "text",
    "content",
    "message",
    "comment",
    "raw",
    "body_html",
    "comment_text",
    "note",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The posts of a document, and the way to the next one."""

    drafts: list[Draft]
    title: str = ""
    paging: Paging = field(default_factory=Paging)


def told(text: str, url: str) -> Told:
    document = json.loads(text)
    if _is_discourse(document):
        return _discourse(document, url)
    title = document.get("title") if isinstance(document, dict) else ""
    return Told(
        drafts=list(_posts(document)),
        title=title if isinstance(title, str) else "",
        paging=Paging(number=in_url(url) or 1),
    )


# -- Discourse -----------------------------------------------------------------------------------------------


def _is_discourse(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("post_stream"), dict)


def _discourse(document: dict[str, Any], url: str) -> Told:
    stream = document["post_stream"]
    posts = [one for one in _list(stream.get("posts")) if isinstance(one, dict)]
    drafts = [
        Draft(
            key=str(post.get("id", "")),
            author=_string(post.get("username")) or _string(post.get("name")),
            text=_visible(_string(post.get("cooked")) or _string(post.get("raw"))),
            written=_string(post.get("created_at")),
            edited=_revised(post),
            number=_integer(post.get("post_number")),
        )
        for post in posts[:MOST_POSTS]
        # What is taken back stays as a line that says so.
        if not post.get("deleted_at") and not post.get("user_deleted")
    ]
    return Told(drafts=drafts, title=_string(document.get("title")), paging=_pages(document, stream, url))


def _revised(post: dict[str, Any]) -> str:
    """Its time moves for other reasons too; the number of its version tells."""
    if "version" in post and _integer(post["version"]) < 2:
        return ""
    edited = _string(post.get("updated_at"))
    return edited if edited != post.get("created_at") else ""


def _pages(document: dict[str, Any], stream: dict[str, Any], url: str) -> Paging:
    if not urlsplit(url).path.rpartition("/")[2].removesuffix(".json").isdecimal():
        return Paging()  # some posts of it, asked for by their numbers
    here = URL(url)
    number = in_url(url) or 1
    size = _integer(document.get("chunk_size")) or _CHUNK
    n_posts = len(_list(stream.get("stream"))) or _integer(document.get("posts_count"))
    n_pages = max(1, -(-n_posts // size))

    def page(n: int) -> str:
        return str(here.update_query(page=str(n)))

    last_url = page(n_pages) if n_pages > 1 and n_pages != number else url
    return Paging(number=number, next_url=page(number + 1) if number < n_pages else "", last_url=last_url)


# -- any other -----------------------------------------------------------------------------------------------


def _posts(document: Any) -> Iterator[Draft]:
    """Every object that was said by somebody at some time, in the order in which they stand."""
    n_found = 0
    for item in objects(document):
        draft = _draft(item)
        if draft is not None:
            yield draft
            n_found += 1
            if n_found == MOST_POSTS:
                return


def objects(document: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document, without recursion."""
    waiting: list[tuple[Any, int]] = [(document, 0)]
    n_seen = 0
    while waiting and n_seen < _MOST_VALUES:
        value, depth = waiting.pop()
        n_seen += 1
        inside = value if isinstance(value, list) else []
        if isinstance(value, dict):
            yield value
            inside = list(value.values())
        if depth < _MOST_DEPTH:
            waiting.extend((one, depth + 1) for one in reversed(inside) if isinstance(one, dict | list))


def _draft(item: dict[str, Any]) -> Draft | None:
    said = next((text for name in _SAID if (text := _text(item.get(name)))), "")
    when = next((_moment(item[name]) for name in _WHEN if item.get(name)), "")
    who = next((name for field in _WHO if (name := _person(item.get(field)))), "")
    if not said or not when or item.get("deleted") is True:
        return None
    key = next((str(item[name]) for name in _KEYS if isinstance(item.get(name), str | int)), "")
    if not (who or key):
        return None
    edited = next((_moment(item[name]) for name in _EDITED if item.get(name)), "")
    return Draft(
        key=key, author=who, text=_visible(said), written=when, edited="" if edited == when else edited
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):  # WordPress
        value = value.get("rendered") or value.get("html") or value.get("raw") or value.get("text")
    return value if isinstance(value, str) else ""


def _person(value: Any) -> str:
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, dict):
        value = next((value[name] for name in _NAMES if isinstance(value.get(name), str) and value[name]), "")
    return value if isinstance(value, str) else ""


def _moment(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return f"{value:.0f}" if isinstance(value, int | float) and abs(value) < 1e16 else str(value)


def _visible(said: str) -> str:
    if "<" in said or "&" in said:
        return html.visible(said.encode("utf-8", "replace"), "utf-8")
    return "\n".join(filter(None, (" ".join(row.split()) for row in said.splitlines())))


# -- boards --------------------------------------------------------------------------------------------------


def rows(text: str, url: str) -> list[Row]:
    """The threads of a list: of Discourse, of an issue tracker, or of any service that links to them."""
    document = json.loads(text)
    listed = document.get("topic_list") if isinstance(document, dict) else None
    if isinstance(listed, dict):
        return [row for one in _list(listed.get("topics")) for row in _discourse_row(one, url)]
    inside = list(document.values()) if isinstance(document, dict) else [document]
    lists = [one for one in inside if isinstance(one, list)]
    found = [
        row for some in lists for item in some if isinstance(item, dict) for row in _linked_row(item, url)
    ]
    # Further inside there may be others that look alike: milestones, repositories.
    return found or [row for item in objects(document) for row in _linked_row(item, url)]


def _discourse_row(topic: Any, url: str) -> Iterator[Row]:
    if not isinstance(topic, dict) or not _integer(topic.get("id")):
        return
    # What stands before /latest.json or /c/… is where the forum is; it may be in a folder.
    root = url.partition("/c/")[0] if "/c/" in url else url.rpartition("/")[0]
    yield Row(
        url=led(url, f"{root}/t/{_string(topic.get('slug')) or '-'}/{_integer(topic['id'])}"),
        title=_string(topic.get("title")),
        written=_string(topic.get("last_posted_at")) or _string(topic.get("bumped_at")),
        n_posts=_integer(topic["posts_count"]) if topic.get("posts_count") is not None else -1,
    )


def _linked_row(item: dict[str, Any], url: str) -> Iterator[Row]:
    link = next(
        (item[name] for name in ("html_url", "web_url", "link", "url") if _string(item.get(name))), ""
    )
    title = _string(item.get("title")) or _string(item.get("name"))
    when = next(
        (_moment(item[name]) for name in ("last_activity_date", *_EDITED, *_WHEN) if item.get(name)), ""
    )
    target = led(url, link) if link else ""
    if not (title and when and target):
        return
    counts = ("comments", "comments_count", "num_comments", "user_notes_count", "answer_count", "replies")
    n_replies = next((item[name] for name in counts if type(item.get(name)) is int), -1)
    yield Row(url=target, title=title, written=when, n_posts=n_replies + 1 if n_replies >= 0 else -1)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _integer(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0
