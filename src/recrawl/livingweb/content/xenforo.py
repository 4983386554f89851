"""Threads and boards as XenForo-like software writes them: every time is there for machines, and its zone."""

from __future__ import annotations

from html import escape

from recrawl.livingweb.content.noise import online, viewed
from recrawl.livingweb.content.pages import near
from recrawl.livingweb.content.posts import (
    author,
    local,
    on_page,
    post_id,
    signature,
    text,
    thread_id,
)
from recrawl.livingweb.content.scene import Listed, Scene
from recrawl.livingweb.content.words import title
from recrawl.livingweb.talk import Said, n_pages, page_target

_OFFSET_H = 1


def thread(scene: Scene) -> str:
    first = (scene.page - 1) * scene.document.posts_per_page + 1
    posts = "\n".join(_post(scene, post, n) for n, post in enumerate(on_page(scene), start=first))
    pager = _pager(scene)
    block = f'<div class="block block--messages"><div class="block-body">{posts}</div></div>'
    return _framed(scene, "thread_view", title(scene.key), f"{pager}\n{block}\n{pager}")


def board(scene: Scene) -> str:
    rows = sorted(scene.listed, key=lambda row: row.changed_at, reverse=True)
    items = "\n".join(_row(scene, row) for row in rows)
    return _framed(scene, "forum_view", title(scene.key), f'<div class="structItemContainer">{items}</div>')


def _post(scene: Scene, post: Said, n_shown: int) -> str:
    key, n = scene.key, post_id(scene.key, post)
    who, path = author(key, post), f"{scene.document.path}post-{n}"
    edited = (
        f'<div class="message-lastEdit">Last edited: {_time(post.edited_at)}</div>' if post.edition else ""
    )
    sig = signature(key, post)
    signed = f'<aside class="message-signature"><div class="bbWrapper">{sig}</div></aside>' if sig else ""
    return f"""<article class="message message--post js-post" data-author="{who}" data-content="post-{n}"
 id="js-post-{n}"><span class="u-anchorTarget" id="post-{n}"></span><div class="message-inner">
<div class="message-cell message-cell--user"><section class="message-user">
<h4 class="message-name"><a class="username" data-user-id="{len(who)}">{who}</a></h4>
<h5 class="userTitle message-userTitle">Member</h5>
<dl class="pairs pairs--justified"><dt>Messages</dt><dd>{viewed(scene.document, "12")}</dd></dl>
</section></div><div class="message-cell message-cell--main">
<header class="message-attribution message-attribution--split">
<ul class="message-attribution-main listInline"><li class="u-concealed">
<a href="{path}">{_time(post.at)}</a></li></ul>
<ul class="message-attribution-opposite"><li><a href="{path}" rel="nofollow">#{n_shown}</a></li></ul></header>
<div class="message-content js-messageContent"><div class="message-userContent">
<article class="message-body js-selectToQuote"><div class="bbWrapper">{text(key, post)}</div></article></div>
{edited}{signed}</div></div></div></article>"""


def _row(scene: Scene, row: Listed) -> str:
    url, last_by = escape(row.url), author(row.key, row.last) if row.last else ""
    opened = Said(0, scene.born_at)
    return f"""<div class="structItem structItem--thread js-threadListItem-{thread_id(row.url)}">
<div class="structItem-cell structItem-cell--main">
<div class="structItem-title"><a href="{url}">{row.title}</a></div><div class="structItem-minor">
<ul class="structItem-parts"><li><a class="username">{author(row.key, opened)}</a></li>
<li class="structItem-startDate"><a href="{url}" rel="nofollow">{_time(opened.at)}</a></li></ul></div></div>
<div class="structItem-cell structItem-cell--meta">
<dl class="pairs pairs--justified"><dt>Replies</dt><dd>{row.n_changes}</dd></dl>
<dl class="pairs pairs--justified structItem-minor"><dt>Views</dt>
<dd>{viewed(scene.document, "345")}</dd></dl></div>
<div class="structItem-cell structItem-cell--latest"><a href="{url}latest" rel="nofollow">
{_time(row.changed_at, "structItem-latestDate u-dt")}</a>
<div class="structItem-minor"><a class="username">{last_by}</a></div></div></div>"""


def _pager(scene: Scene) -> str:
    document, page = scene.document, scene.page
    last_page = n_pages(len(scene.posts), document)
    if last_page == 1:
        return ""
    items = "".join(
        f'<li class="pageNav-page{" pageNav-page--current" if p == page else ""}">'
        f'<a href="{page_target(document, p)}">{p}</a></li>'
        for p in near(page, last_page)
    )
    before = _jump(page_target(document, page - 1), "prev") if page > 1 else ""
    after = _jump(page_target(document, page + 1), "next") if page < last_page else ""
    return (
        f'<nav class="pageNavWrapper"><div class="pageNav">{before}'
        f'<ul class="pageNav-main">{items}</ul>{after}</div></nav>'
    )


def _jump(href: str, way: str) -> str:
    return f'<a href="{href}" class="pageNav-jump pageNav-jump--{way}">{way.capitalize()}</a>'


def _framed(scene: Scene, template: str, heading: str, main: str) -> str:
    document = scene.document
    return f"""<!DOCTYPE html>
<html id="XF" lang="en-US" dir="LTR" data-app="public" data-template="{template}"
 data-content-key="thread-{thread_id(document.path)}" data-logged-in="false">
<head>
<meta charset="utf-8">
<title>{heading} | {document.host}</title>
</head>
<body data-template="{template}">
<div class="p-pageWrapper"><div class="p-body"><div class="p-body-inner">
<div class="p-body-header"><div class="p-title"><h1 class="p-title-value">{heading}</h1></div></div>
<div class="p-body-main"><div class="p-body-content"><div class="p-body-pageContent">
{main}
</div></div></div>
<div class="p-body-sidebar"><div class="block"><h3 class="block-minorHeader">Online now</h3>
<div class="block-footer">Guests: {online(document, "7")}, views today: {viewed(document, "345")}</div>
</div></div></div></div>
<footer class="p-footer"><div class="p-footer-copyright">XenForo-like software</div></footer></div>
</body>
</html>
"""


def _time(at: float, kind: str = "u-dt") -> str:
    there = local(at, _OFFSET_H)
    stamp = f"{there:%Y-%m-%dT%H:%M:%S%z}"
    day = f"{there:%b} {there.day}, {there.year}"
    return f'<time class="{kind}" dir="auto" datetime="{stamp}" data-time="{int(at)}">{day}</time>'
