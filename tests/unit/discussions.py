"""A discussion of four posts on two pages, written down in the markups of several programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

AT = datetime(2026, 2, 10, 12, 0, tzinfo=UTC).timestamp()  # when the pages are fetched
ROOT = "https://forum.example"


@dataclass(frozen=True)
class Said:
    n: int
    who: str
    at: datetime
    words: str
    edited: datetime | None = None

    @property
    def at_s(self) -> float:
        return self.at.timestamp()


def day(n: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 2, n, hour, minute, tzinfo=UTC)


POSTS = (
    Said(101, "Ada", day(1, 13), "Has anybody seen the heron at the mill?"),
    Said(102, "Bob", day(1, 14, 5), "Twice, in the morning.", day(1, 15)),
    Said(105, "Cyd", day(3, 9, 30), "It nests behind the weir & likes fish."),
    Said(107, "Ada", day(9, 23, 59), "Thank you both."),
)


def phpbb(posts: tuple[Said, ...], page: int = 1, n_pages: int = 1, *, seen: int = 7) -> bytes:
    """Local times, two hours ahead, of which only the foot of the page tells."""

    def when(at: datetime) -> str:
        return datetime.fromtimestamp(at.timestamp() + 7_200, UTC).strftime("%a %b %d, %Y %I:%M %p").lower()

    rows = "".join(
        f'<div id="p{post.n}" class="post has-profile bg{post.n % 2}"><dl class="postprofile"><dt>'
        f'<a class="username">{post.who}</a></dt><dd>Posts: {seen}</dd></dl><div class="postbody"><h3>'
        f"Re: Heron</h3>"
        f'<p class="author"><a href="#p{post.n}">Post</a> by <strong><a class="username">{post.who}</a>'
        f"</strong>"
        f' &raquo; {when(post.at)} </p><div class="content">{post.words.replace("&", "&amp;")}</div>'
        + (
            f'<div class="notice">Last edited by <a>{post.who}</a> on {when(post.edited)}, edited 1 '
            f"time.</div>"
            if post.edited
            else ""
        )
        + f'<div class="signature">Seen {seen} birds</div></div></div>'
        for post in posts
    )
    links = "".join(
        f'<li class="active"><span>{n}</span></li>'
        if n == page
        else f'<li><a href="./viewtopic.php?t=5&amp;start={10 * (n - 1)}&amp;sid={"0f" * 16}">{n}</a></li>'
        for n in range(1, n_pages + 1)
    )
    after = (
        f'<li class="arrow next"><a rel="next" href="./viewtopic.php?t=5&amp;start={10 * page}">Next</a></li>'
    )
    return f"""<!DOCTYPE html><html><head><title>Heron - Forum</title></head><body><h1>Heron</h1>
<div class="pagination">{seen} posts <ul>{links}{after if page < n_pages else ""}</ul></div>{rows}
<p>{seen} guests online</p><p>All times are <span title="UTC+2">UTC+02:00</span></p></body></html>""".encode()


def xenforo(posts: tuple[Said, ...], page: int = 1, n_pages: int = 1, *, seen: int = 7) -> bytes:
    rows = "".join(
        f'<article class="message message--post" data-author="{post.who}" data-content="post-{post.n}" '
        f'id="js-post-{post.n}">'
        f'<div class="message-user"><h4 class="message-name"><a class="username">{post.who}</a></h4><dl>'
        f'Messages {seen}</dl></div>'
        f'<header class="message-attribution"><ul class="message-attribution-main"><li><time class="u-dt" '
        f'datetime="{post.at:%Y-%m-%dT%H:%M:%S+0000}" data-time="{post.at_s:.0f}">yesterday</time></li>'
        f'</ul>'
        f'<ul class="message-attribution-opposite"><li>Share</li><li><a '
        f'href="/threads/heron.5/post-{post.n}">#{i}</a></li></ul></header>'
        f'<div class="message-body"><div class="bbWrapper">{post.words.replace("&", "&amp;")}</div></div>'
        + (f'<div class="message-lastEdit">Last edited: <time data-time="{post.edited.timestamp():.0f}">'
        f'x</time></div>' if post.edited else "")
        + f'<div class="reactionsBar">{seen} likes</div></article>'
        for i, post in enumerate(posts, 1)
    )  # fmt: skip
    pages = "".join(
        f'<li class="pageNav-page{" pageNav-page--current" if n == page else ""}"><a '
        f'href="/threads/heron.5/{f"page-{n}" if n > 1 else ""}">{n}</a></li>'
        for n in range(1, n_pages + 1)
    )
    jump = f'<a href="/threads/heron.5/page-{page + 1}" class="pageNav-jump pageNav-jump--next">Next</a>'
    return f"""<html><body><h1 class="p-title-value">Heron</h1><nav><div class="pageNav">
<ul class="pageNav-main">{pages}</ul>
{jump if page < n_pages else ""}</div></nav>{rows}</body></html>""".encode()


def vbulletin(posts: tuple[Said, ...]) -> bytes:
    rows = "".join(
        f'<li class="postbitlegacy postbitim postcontainer" id="post_{post.n}"><div class="posthead">'
        f'<span class="postdate">'
        f'<span class="date">{post.at:%m-%d-%Y},&nbsp;<span class="time">{post.at:%I:%M %p}</span>'
        f"</span></span>"
        f'<span class="nodecontrols"><a class="postcounter" href="#post{post.n}">#{i}</a></span></div>'
        f'<div class="username_container"><a class="username"><strong>{post.who}</strong></a></div>'
        f'<div class="postbody"><div id="post_message_{post.n}"><blockquote class="postcontent restore">'
        f"{post.words.replace('&', '&amp;')}"
        f"</blockquote></div></div></li>"
        for i, post in enumerate(posts, 1)
    )
    return (
        f"<html><body><h1>Heron</h1><ol id=posts>{rows}</ol><p>All times are GMT. The time now is "
        f"12:00 PM.</p></body></html>"
    ).encode()


def discourse(posts: tuple[Said, ...], n_posts: int = 4, *, seen: int = 7) -> bytes:
    rows = [
        {
            "id": post.n,
            "username": post.who,
            "created_at": f"{post.at:%Y-%m-%dT%H:%M:%S.000Z}",
            "reads": seen,
            "updated_at": f"{post.edited or post.at:%Y-%m-%dT%H:%M:%S.000Z}",
            "version": 2 if post.edited else 1,
            "cooked": f"<p>{post.words.replace('&', '&amp;')}</p>",
            "post_number": i,
        }
        for i, post in enumerate(posts, 1)
    ]
    told = {
        "post_stream": {"posts": rows, "stream": list(range(n_posts))},
        "title": "Heron",
        "chunk_size": 2,
        "posts_count": n_posts,
        "views": seen,
    }
    return json.dumps(told).encode()


def issue(posts: tuple[Said, ...]) -> bytes:
    rows = [
        {
            "id": post.n,
            "user": {"login": post.who, "id": 1},
            "created_at": f"{post.at:%Y-%m-%dT%H:%M:%SZ}",
            "updated_at": f"{post.edited or post.at:%Y-%m-%dT%H:%M:%SZ}",
            "body": post.words,
            "reactions": {"+1": 2},
        }
        for post in posts
    ]
    return json.dumps(rows).encode()


def microdata(posts: tuple[Said, ...]) -> bytes:
    rows = "".join(
        f'<div id="post_{post.n}" itemprop="comment" itemscope itemtype="http://schema.org/Comment">'
        f'<span itemprop="author" itemscope itemtype="http://schema.org/Person"><a itemprop="url" '
        f'href="/u/{post.n}">'
        f'<span itemprop="name">{post.who}</span></a></span><time itemprop="datePublished" '
        f'datetime="{post.at:%Y-%m-%dT%H:%M:%SZ}">x</time>'
        + (
            f'<meta itemprop="dateModified" content="{post.edited:%Y-%m-%dT%H:%M:%SZ}">'
            if post.edited
            else ""
        )
        + f'<span itemprop="position">{i}</span><div itemprop="text"><p>'
        f"{post.words.replace('&', '&amp;')}</p></div></div>"
        for i, post in enumerate(posts, 1)
    )
    return (
        f'<html><body><div itemscope itemtype="http://schema.org/DiscussionForumPosting"><h1 '
        f'itemprop="headline">Heron</h1>{rows}</div></body></html>'
    ).encode()


def linked(posts: tuple[Said, ...]) -> bytes:
    first, *others = [
        {
            "@type": "Comment",
            "@id": f"{ROOT}/t/5#{post.n}",
            "text": post.words,
            "author": {"@type": "Person", "name": post.who},
            "datePublished": f"{post.at:%Y-%m-%dT%H:%M:%SZ}",
            **({"dateModified": f"{post.edited:%Y-%m-%dT%H:%M:%SZ}"} if post.edited else {}),
        }
        for post in posts
    ]
    told = {
        "@context": "https://schema.org",
        "@graph": [{**first, "@type": "DiscussionForumPosting", "comment": others}],
    }
    return (
        f'<html><head><script type="application/ld+json">{json.dumps(told)}</script></head><body><h1>'
        f"Heron</h1></body></html>"
    ).encode()


def atom(posts: tuple[Said, ...]) -> bytes:
    rows = "".join(
        f"<entry><id>tag:{post.n}</id><title>Re: Heron</title><author><name>{post.who}</name></author>"
        f"<published>{post.at:%Y-%m-%dT%H:%M:%SZ}</published><updated>"
        f"{post.edited or post.at:%Y-%m-%dT%H:%M:%SZ}</updated>"
        f'<content type="html">&lt;p&gt;{post.words.replace("&", "&amp;amp;")}&lt;/p&gt;</content></entry>'
        for post in reversed(posts)
    )
    return (
        f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Heron</title>{rows}</feed>'
    ).encode()


def mbox(posts: tuple[Said, ...]) -> bytes:
    return "\n".join(
        f"From {post.who.lower()} at forum.example  {post.at:%a %b %d %H:%M:%S %Y}\n"
        f"From: {post.who.lower()} at forum.example ({post.who})\nDate: {post.at:%a, %d %b %Y %H:%M:%S} "
        f"+0000\n"
        f"Subject: [birds] Heron\nMessage-ID: <{post.n}@forum.example>\n\n{post.words}\n"
        for post in posts
    ).encode()


def messy(posts: tuple[Said, ...], *, seen: int = 7) -> bytes:
    """A page of nobody's making: answers within answers, quotes, signatures, advertisements in between."""
    inner = ""
    for post in reversed(posts):
        quote = (
            "<blockquote><b>Eve</b> wrote on Jan 5, 2026 10:00: <p>I saw an owl.</p></blockquote>"
            if post.n == 102
            else ""
        )
        inner = (
            f'<li class="reply {"odd" if post.n % 2 else "even"}" id="reply-{post.n}"><div class="who">'
            f"<img src=a.png>"
            f'<a class="nickname" href="/members/{post.who.lower()}">{post.who}</a><small>Joined: Mar '
            f"2014</small></div>"
            f'<div class="when"><a href="#reply-{post.n}">{post.at:%B %d, %Y, %H:%M}</a></div>'
            f'<div class="words">{quote}<p>{post.words.replace("&", "&amp;")}</p></div><div class="sig">'
            f"Member of 3 clubs</div>"
            f'<div class="buttons"><a href="#">Reply</a> <a href="#">Like</a> ({seen + post.n % 5})</div>'
            f'<ul class="replies">{inner}</ul></li><li class="advert">Buy binoculars! {seen} left, only '
            f"until Feb 28, 2026</li>"
        )
    return f"""<html><body><nav><a href="/">Home</a> <a href="/new">New</a></nav>
<div id="story"><h1>Heron</h1><p>January 31, 2026</p>
<p>{"A long article on the birds of the valley and their ways. " * 12}</p></div>
<ul class="replies">{inner}</ul><div class="side"><h4>Latest</h4><ul>
<li><a href="/a">An owl</a> Feb 2, 2026</li>
<li><a href="/b">A swan</a> Feb 1, 2026</li></ul><p>{seen} guests online</p></div></body></html>""".encode()
