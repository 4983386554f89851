"""Threads and boards as phpBB-like software writes them: local times to the minute, in a zone that only the
foot of the page states."""

from __future__ import annotations

from html import escape

from recrawl.livingweb.content.noise import online, viewed
from recrawl.livingweb.content.pages import near
from recrawl.livingweb.content.posts import author, local, on_page, post_id, signature, text
from recrawl.livingweb.content.scene import Listed, Scene
from recrawl.livingweb.content.words import title
from recrawl.livingweb.talk import Said, n_pages, page_target

_OFFSET_H = 2
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def thread(scene: Scene) -> str:
    subject = title(scene.key)
    posts = "\n<hr class='divider'>\n".join(_post(scene, post, subject) for post in on_page(scene))
    bar = f'<div class="action-bar"><div class="pagination">{_pager(scene)}</div></div>'
    heading = f'<h2 class="topic-title"><a href="{scene.document.path}">{subject}</a></h2>'
    return _framed(scene, "viewtopic", subject, f"{heading}\n{bar}\n{posts}\n{bar}")


def board(scene: Scene) -> str:
    rows = sorted(scene.listed, key=lambda row: row.changed_at, reverse=True)
    heads = (
        '<ul class="topiclist"><li class="header"><dl class="row-item"><dt>Topics</dt>'
        '<dd class="posts">Replies</dd><dd class="views">Views</dd>'
        '<dd class="lastpost"><span>Last post</span></dd></dl></li></ul>'
    )
    listed = "\n".join(_row(scene, row) for row in rows)
    heading = f'<h2 class="forum-title"><a href="{scene.document.path}">{title(scene.key)}</a></h2>'
    body = f'{heading}\n<div class="forumbg">{heads}<ul class="topiclist topics">{listed}</ul></div>'
    return _framed(scene, "viewforum", title(scene.key), body)


def _post(scene: Scene, post: Said, subject: str) -> str:
    key, n = scene.key, post_id(scene.key, post)
    who = f'<a href="/member/{author(key, post)[:3]}" class="username">{author(key, post)}</a>'
    edited = (
        f'<div class="notice">Last edited by {who} on {_time(post.edited_at)}, edited {post.edition} '
        f"time{'s' if post.edition > 1 else ''} in total.</div>"
        if post.edition
        else ""
    )
    sig = signature(key, post)
    signed = f'<div id="sig{n}" class="signature">{sig}</div>' if sig else ""
    return f"""<div id="p{n}" class="post has-profile bg{1 + post.i % 2}"><div class="inner">
<dl class="postprofile" id="profile{n}"><dt>{who}</dt>
<dd class="profile-posts"><strong>Posts:</strong> {viewed(scene.document, "12")}</dd>
<dd class="profile-joined"><strong>Joined:</strong> Tue Mar 04, 2014 9:12 am</dd></dl>
<div class="postbody"><div id="post_content{n}">
<h3{" class='first'" if post.i == 0 else ""}><a href="#p{n}">{"Re: " if post.i else ""}{subject}</a></h3>
<p class="author"><a class="unread" href="{scene.document.path}?p={n}#p{n}" title="Post">Post</a>
<span class="responsive-hide">by <strong>{who}</strong> &raquo; </span>{_time(post.at)}</p>
<div class="content">{text(key, post)}</div>
{edited}
{signed}
</div></div></div></div>"""


def _row(scene: Scene, row: Listed) -> str:
    last_by = author(row.key, row.last) if row.last else ""
    opened_by = author(row.key, Said(0, scene.born_at))
    return f"""<li class="row bg1"><dl class="row-item topic_read">
<dt><div class="list-inner"><a href="{escape(row.url)}" class="topictitle">{row.title}</a><br>
<div class="topic-poster">by <a class="username">{opened_by}</a> &raquo; {_time(scene.born_at)}</div>
</div></dt>
<dd class="posts">{row.n_changes} <dfn>Replies</dfn></dd>
<dd class="views">{viewed(scene.document, "345")} <dfn>Views</dfn></dd>
<dd class="lastpost"><span><dfn>Last post </dfn>by <a class="username">{last_by}</a>
<br>{_time(row.changed_at)}</span></dd></dl></li>"""


def _pager(scene: Scene) -> str:
    document, page = scene.document, scene.page
    last_page = n_pages(len(scene.posts), document)
    told = f"{len(scene.posts)} posts &bull; Page <strong>{page}</strong> of <strong>{last_page}</strong>"
    if last_page == 1:
        return told
    items = [
        f'<li class="active"><span>{p}</span></li>'
        if p == page
        else f'<li><a class="button" href="{escape(page_target(document, p))}" role="button">{p}</a></li>'
        for p in near(page, last_page)
    ]
    for step, word, rel in ((-1, "Previous", "prev"), (1, "Next", "next")):
        if 1 <= page + step <= last_page:
            href = escape(page_target(document, page + step))
            link = f'<a class="button" href="{href}" rel="{rel}">{word}</a>'
            item = f'<li class="arrow {word.lower()}">{link}</li>'
            items = [item, *items] if step < 0 else [*items, item]
    return f"{told} <ul>{''.join(items)}</ul>"


def _framed(scene: Scene, section: str, heading: str, main: str) -> str:
    document = scene.document
    return f"""<!DOCTYPE html>
<html dir="ltr" lang="en-gb">
<head>
<meta charset="utf-8">
<title>{heading} - {document.host}</title>
</head>
<body id="phpbb" class="nojs notouch section-{section} ltr">
<div id="wrap" class="wrap">
<div id="page-header"><p class="right responsive-center time">It is a good day to talk.</p></div>
<div id="page-body" role="main">
{main}
<div class="stat-block online-list"><h3>Who is online</h3>
<p>Users browsing this forum: {online(document, "7")} guests. Viewed {viewed(document, "345")} times.</p>
</div></div>
<div id="page-footer"><ul class="linklist"><li class="rightside">All times are
<span title="UTC+{_OFFSET_H}">UTC+{_OFFSET_H:02}:00</span></li></ul>
<div class="copyright">Powered by phpBB-like software</div></div>
</div>
</body>
</html>
"""


def _time(at: float) -> str:
    """`Tue Jan 14, 2025 3:07 pm`"""
    there = local(at, _OFFSET_H)
    clock = f"{there.hour % 12 or 12}:{there.minute:02} {'am' if there.hour < 12 else 'pm'}"
    return f"{_DAYS[there.weekday()]} {_MONTHS[there.month - 1]} {there.day:02}, {there.year} {clock}"
