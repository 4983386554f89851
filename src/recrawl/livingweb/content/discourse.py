"""Threads and boards as Discourse-like software tells them to machines."""

from __future__ import annotations

import json

from recrawl.livingweb.content.noise import viewed
from recrawl.livingweb.content.posts import author, on_page, post_id, text, thread_id
from recrawl.livingweb.content.scene import Scene, iso
from recrawl.livingweb.content.words import title
from recrawl.livingweb.talk import Said


def thread(scene: Scene) -> str:
    document = scene.document
    told = {
        "post_stream": {
            "posts": [_post(scene, post) for post in on_page(scene)],
            "stream": [post_id(scene.key, post) for post in scene.posts],
        },
        "id": thread_id(document.path),
        "title": title(scene.key),
        "slug": slug(document.path),
        "posts_count": len(scene.posts),
        "created_at": iso(scene.born_at),
        "last_posted_at": iso(scene.posts[-1].at),
        "highest_post_number": scene.posts[-1].i + 1,
        "chunk_size": document.posts_per_page,
        "views": _VIEWS,
    }
    return _written(scene, told)


def board(scene: Scene) -> str:
    rows = sorted(scene.listed, key=lambda row: row.changed_at, reverse=True)
    topics = [
        {
            "id": thread_id(row.url),
            "title": row.title,
            "slug": slug(row.url),
            "posts_count": row.n_changes + 1,
            "reply_count": row.n_changes,
            "created_at": iso(scene.born_at),
            "last_posted_at": iso(row.changed_at),
            "bumped": True,
            "bumped_at": iso(row.changed_at),
            "views": _VIEWS,
            "last_poster_username": _username(author(row.key, row.last)) if row.last else "",
        }
        for row in rows
    ]
    return _written(scene, {"users": [], "topic_list": {"per_page": 30, "topics": topics}})


# Where the number of views goes, once the rest is written.
_VIEWS = "views"


def _written(scene: Scene, told: object) -> str:
    text = json.dumps(told, ensure_ascii=False)
    return text.replace(f'"views": "{_VIEWS}"', f'"views": {viewed(scene.document, "345")}') + "\n"


def _post(scene: Scene, post: Said) -> dict[str, object]:
    who = author(scene.key, post)
    return {
        "id": post_id(scene.key, post),
        "name": who,
        "username": _username(who),
        "created_at": iso(post.at),
        "cooked": f"<p>{text(scene.key, post)}</p>",
        "post_number": post.i + 1,
        "post_type": 1,
        "updated_at": iso(post.edited_at if post.edition else post.at),
        "topic_id": thread_id(scene.document.path),
        "topic_slug": slug(scene.document.path),
        "version": post.edition + 1,
        "views": _VIEWS,
    }


def slug(path: str) -> str:
    """What stands before the number in `/t/old-mill/12.json`."""
    return path.rpartition("/")[0].rpartition("/")[2] or "topic"


def _username(who: str) -> str:
    return who.lower().replace(" ", "_").rstrip(".")
