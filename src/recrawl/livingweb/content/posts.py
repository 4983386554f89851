"""What is said in the threads of forum software, whatever it is written in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from recrawl.livingweb.content.scene import Scene
from recrawl.livingweb.content.words import draws, name, number, sentence
from recrawl.livingweb.talk import Said

_N_AUTHORS = 12


def author(key: str, post: Said) -> str:
    return name(key, "author", number(_N_AUTHORS, key, "who", post.i))


def text(key: str, post: Said) -> str:
    """Everything but its second sentence stays as it was when it is edited."""
    return f"{sentence(key, 'post', post.i)} {sentence(key, 'more', post.i, post.edition)}"


def signature(key: str, post: Said) -> str:
    """Of its author; some have none."""
    who = author(key, post)
    return sentence(key, "signature", who) if draws(key, "signs", who)[0] % 3 else ""


def post_id(key: str, post: Said) -> int:
    """The software's own number: of the whole forum, so that a thread's first is not 1."""
    return 1_000 * (1 + number(90, key, "ids")) + post.i


def thread_id(path: str) -> int:
    """The last number in its address."""
    found = re.findall(r"[0-9]+", path)
    return int(found[-1]) if found else 1


def on_page(scene: Scene) -> tuple[Said, ...]:
    n = scene.document.posts_per_page
    return scene.posts[(scene.page - 1) * n : scene.page * n]


def local(at: float, offset_h: int) -> datetime:
    return datetime.fromtimestamp(at, UTC).astimezone(timezone(timedelta(hours=offset_h)))
