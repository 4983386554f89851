"""Discussions in other clothes: older forums, mailing lists on the web, JSON of any service."""

from __future__ import annotations

import json
from math import isnan

import pytest
from tests.unit.discussions import AT, POSTS, ROOT

from recrawl.model import Leaf, Post
from recrawl.parse.threads import leaf

HTML, JSON = "text/html", "application/json"


def read(body: str, media_type: str = HTML, url: str = f"{ROOT}/t/5") -> Leaf:
    return leaf(body.encode(), media_type, "utf-8", url, AT)


def said(page: Leaf) -> list[tuple[str, str, float]]:
    return [(post.key, post.author, post.at) for post in page.posts]


MYBB = """<div class="post classic" id="post_{n}"><div class="author_information"><strong>
<span class="largetext">
<a href="/user-1.html">{who}</a></span></strong></div><div class="post_head"><div class="float_right"><strong>
<a href="#pid{n}">#{i}</a></strong></div><span class="post_date">{at:%m-%d-%Y, %I:%M %p}</span></div>
<div class="post_body" id="pid_{n}">{words}</div></div>"""
SMF = """<div class="post_wrapper"><div class="poster"><h4><a href="/u1">{who}</a></h4></div>
<div class="keyinfo">
<h5 id="subject_{n}"><a href="#msg{n}">Re: Heron</a></h5>
<div class="smalltext">&#171; <strong>Reply #{i} on:</strong>
{at:%B %d, %Y, %I:%M:%S %p} &#187;</div></div>
<div class="post"><div class="inner" id="msg_{n}">{words}</div></div></div>"""
VBULLETIN_3 = """<table id="post{n}" class="tborder"><tr><td class="thead"><a name="post{n}">
</a>{at:%m-%d-%Y, %I:%M %p}
</td><td class="thead">#<a id="postcount{n}">{i}</a></td></tr><tr><td><a class="bigusername">{who}</a></td>
<td><div id="post_message_{n}">{words}</div></td></tr></table>"""
XENFORO_1 = """<li id="post-{n}" class="message" data-author="{who}"><div class="messageText">{words}</div>
<div class="messageMeta"><a class="datePermalink"><abbr class="DateTime" data-time="{at_s:.0f}">x</abbr>
</a></div></li>"""
NODEBB = """<li component="post" data-pid="{n}" data-username="{who}">
<span class="timeago" title="{at:%Y-%m-%dT%H:%M:%S.000Z}">
</span><div component="post/content">{words}</div></li>"""
HYPERKITTY = """<div class="email" id="{n}"><div class="email-header"><div class="email-author">
<h2 class="name">{who}</h2>
</div><div class="email-date"><span title="Sender's time: x">{at:%d %b} {at:%Y} {at:%H:%M}</span></div></div>
<div class="email-body"><p>{words}</p></div></div>"""
DISCOURSE = """<div id="post_{n}" class="topic-body crawler-post"><div class="crawler-post-meta">
<span class="creator"><a href="/u/x"><span itemprop="name">{who}</span></a></span><span
class="crawler-post-infos"><time class="post-time" datetime="{at:%Y-%m-%dT%H:%M:%SZ}">x</time>
<span itemprop="position">{i}</span></span></div>
<div class="post" itemprop="text"><p>{words}</p></div></div>"""
INVISION = """<article id="elComment_{n}" class="cPost ipsBox ipsComment">
<h3 class="cAuthorPane_author">{who}</h3>
<a href="?do=findComment&comment={n}"><time datetime="{at:%Y-%m-%dT%H:%M:%SZ}">x</time></a>
<div data-role="commentContent"><p>{words}</p></div></article>"""


@pytest.mark.parametrize(
    "markup",
    [MYBB, SMF, VBULLETIN_3, XENFORO_1, NODEBB, HYPERKITTY, INVISION, DISCOURSE],
    ids=["MyBB", "SMF", "vBulletin 3", "XenForo 1", "NodeBB", "HyperKitty", "Invision", "Discourse"],
)
def test_other_programs_are_known_too(markup: str) -> None:
    rows = "".join(
        markup.format(
            n=post.n, i=i, who=post.who, at=post.at, at_s=post.at_s, words=post.words.replace("&", "&amp;")
        )
        for i, post in enumerate(POSTS, 1)
    )
    page = read(f"<html><body><h1>Heron</h1>{rows}</body></html>")
    assert said(page) == [(str(post.n), post.who, post.at_s) for post in POSTS]
    assert [post.text for post in page.posts] == [post.words for post in POSTS]
    assert [post.number for post in page.posts] in ([1, 2, 3, 4], [0, 0, 0, 0])


# -- mailing lists -------------------------------------------------------------------------------------------

PIPERMAIL = """<HTML><BODY><h1>February 2026 Archives by thread</h1><ul>
<!--0 01769950800.101- -->
<LI><A HREF="000101.html">[birds] Heron</A><A NAME="101">&nbsp;</A><I>Ada</I>
<UL>
<!--1 01769950800.101-01769954700.102- -->
<LI><A HREF="000102.html">[birds] Heron</A><A NAME="102">&nbsp;</A><I>Bob</I>
</UL></ul></BODY></HTML>"""


def test_the_index_of_pipermail_tells_who_when_and_about_what() -> None:
    page = read(PIPERMAIL, url=f"{ROOT}/pipermail/birds/2026-February/thread.html")
    assert said(page) == [("000101", "Ada", POSTS[0].at_s), ("000102", "Bob", POSTS[1].at_s)]
    assert page.posts[0].text == "[birds] Heron"


def test_the_index_of_mhonarc_tells_who_and_about_what() -> None:
    rows = "".join(
        f'<li><strong><a name="{n:05}" href="msg{n:05}.html">Heron</a></strong>, <em>{who}</em></li>'
        for n, who in ((7, "Ada"), (8, "Bob"))
    )
    page = read(f"<html><body><ul>{rows}</ul></body></html>")
    assert [(post.key, post.author, isnan(post.at)) for post in page.posts] == [
        ("00007", "Ada", True),
        ("00008", "Bob", True),
    ]


def test_a_mail_of_pipermail_is_one_post() -> None:
    body = """<BODY><H1>[birds] Heron</H1><B>Ada</B> <A HREF="mailto:x">ada at h.example</A><BR>
<I>Sun Feb  1 14:00:00 CET 2026</I><P><UL><LI>Next message: <A HREF="000102.html">x</A></LI></UL><HR>
<PRE>Has anybody seen
the heron?</PRE></BODY>"""
    page = read(body, url=f"{ROOT}/pipermail/birds/2026-February/000101.html")
    assert [(post.key, post.author, post.at) for post in page.posts] == [("000101", "Ada", POSTS[0].at_s)]


def test_mails_are_read_whatever_they_are_packed_in() -> None:
    mails = """From ada@h.example Sun Feb  1 13:00:00 2026
From: =?utf-8?q?Ad=C3=A9?= <ada@h.example>
Date: Sun, 1 Feb 2026 14:00:00 +0100
Message-ID: <1@h>
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

SGVsbG8=
--b--

From here on it is a text: no time stands in this line.

From bob@h.example Sun Feb  1 14:05:00 2026
From: bob@h.example
Date: Sun, 1 Feb 2026 14:05:00 +0000
Subject: Only a subject

"""
    page = read(mails, "application/mbox")
    assert [(post.author, post.at, post.text) for post in page.posts] == [
        ("Adé", POSTS[0].at_s, "Hello"),
        ("bob", POSTS[1].at_s, "Only a subject"),
    ]


# -- services ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "told",
    [
        [
            {
                "id": 101,
                "author_name": "Ada",
                "date_gmt": "2026-02-01T13:00:00",
                "content": {"rendered": "<p>Yes.</p>"},
            }
        ],
        {
            "items": [
                {
                    "comment_id": 101,
                    "owner": {"display_name": "Ada"},
                    "creation_date": 1769950800,
                    "body": "Yes.",
                }
            ]
        },
        {
            "data": {
                "children": [
                    {
                        "kind": "t1",
                        "data": {"id": "101", "author": "Ada", "created_utc": 1769950800.0, "body": "Yes."},
                    }
                ]
            }
        },
        {
            "children": [
                {"id": 101, "author": "Ada", "created_at_i": 1769950800, "text": "Yes.", "children": []}
            ]
        },
        [
            {
                "id": 101,
                "author": {"username": "Ada", "id": 3},
                "created_at": "2026-02-01T14:00:00+01:00",
                "body": "Yes.",
            }
        ],
    ],
    ids=["blog", "questions", "links", "news", "tracker"],
)
def test_any_service_that_says_who_when_and_what_is_understood(told: object) -> None:
    page = read(json.dumps(told), JSON)
    assert page.posts == (
        Post(key="101", author="Ada", at=POSTS[0].at_s, text="Yes.", edited_at=page.posts[0].edited_at),
    )


def test_rss_and_json_feeds_are_threads_too() -> None:
    rss = (
        "<rss version='2.0'><channel><title>x</title><item><guid>101</guid><title>Heron</title>"
        "<author>Ada</author><pubDate>Sun, 01 Feb 2026 13:00:00 GMT</pubDate></item></channel></rss>"
    )
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [
            {
                "id": "101",
                "content_text": "Heron",
                "date_published": "2026-02-01T13:00:00Z",
                "authors": [{"name": "Ada"}],
            }
        ],
    }
    for page in (read(rss, "application/rss+xml"), read(json.dumps(feed), "application/feed+json")):
        assert [(post.key, post.author, post.at, post.text) for post in page.posts] == [
            ("101", "Ada", POSTS[0].at_s, "Heron")
        ]


def test_a_question_and_its_answers_are_posts() -> None:
    told = {
        "@context": "https://schema.org",
        "@type": "QAPage",
        "mainEntity": {
            "@type": "Question",
            "name": "Where is the heron?",
            "author": {"name": "Ada"},
            "dateCreated": "2026-02-01T13:00Z",
            "acceptedAnswer": {
                "@type": "Answer",
                "text": "<p>At the mill.</p>",
                "author": [{"name": "Bob"}],
                "datePublished": "2026-02-01T14:05Z",
                "url": "/q/1#a2",
            },
        },
    }
    page = read(f'<script type="application/ld+json">{json.dumps(told)}</script>')
    assert [(post.author, post.text) for post in page.posts] == [
        ("Ada", "Where is the heron?"),
        ("Bob", "At the mill."),
    ]
    assert [post.at for post in page.posts] == [POSTS[0].at_s, POSTS[1].at_s]


def test_an_address_that_all_posts_share_is_not_their_key() -> None:
    def page(*words: str) -> list[str]:
        comments = [
            {
                "@type": "Comment",
                "url": f"{ROOT}/t/5",
                "text": one,
                "author": "Ada",
                "datePublished": "2026-02-01",
            }
            for one in words
        ]
        return [
            post.key
            for post in read(f'<script type="application/ld+json">{json.dumps(comments)}</script>').posts
        ]

    assert page("One.", "Two.")[1] == page("Two.", "One.")[0]


def test_the_first_post_of_a_page_for_crawlers_has_the_number_of_what_it_stands_in() -> None:
    """As Discourse writes them: the discussion is the first post, and its name is further inside."""
    page = read(
        '<div itemscope itemtype="http://schema.org/DiscussionForumPosting"><h1 itemprop="headline">'
        "Heron</h1>"
        '<div id="post_1"><span itemprop="author" itemscope><span itemprop="name">'
        "Ada</span>"
        '</span><time itemprop="datePublished" datetime="2026-02-01T13:00:00Z">x</time><div '
        'itemprop="text">Yes.</div>'
        '</div><div id="post_2" itemprop="comment" itemscope itemtype="http://schema.org/Comment"><div '
        'itemprop="text">'
        'No.</div><time itemprop="datePublished" datetime="2026-02-01T14:05:00Z">x</time></div></div>'
    )
    assert said(page) == [("1", "Ada", POSTS[0].at_s), ("2", "", POSTS[1].at_s)]
