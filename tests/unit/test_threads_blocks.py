"""Pages that nobody has described: what repeats on them and has a time. And pages made to keep us busy."""

from __future__ import annotations

import json
from math import isnan

import pytest
from tests.unit.discussions import AT, POSTS, ROOT, day, messy

from recrawl.model import Leaf
from recrawl.parse.threads import leaf

HTML, JSON = "text/html", "application/json"


def read(body: str, media_type: str = HTML, url: str = f"{ROOT}/t/5") -> Leaf:
    return leaf(body.encode(), media_type, "utf-8", url, AT)


def said(page: Leaf) -> list[tuple[str, str, float]]:
    return [(post.key, post.author, post.at) for post in page.posts]


def test_an_article_and_a_list_beside_it_are_no_posts() -> None:
    assert read(messy(POSTS[:1]).decode()).posts == ()
    assert len(read(messy(POSTS[:2]).decode()).posts) == 2


def test_headings_and_texts_that_take_turns_are_posts() -> None:
    rows = "".join(
        f"<dt>On {post.at:%B %d, %Y %H:%M}, <b>{post.who}</b>:</dt><dd>"
        f"{post.words.replace('&', '&amp;')}</dd>"
        for post in POSTS
    )
    page = read(f"<html><body><dl>{rows}</dl></body></html>")
    assert [(post.author, post.at, post.text) for post in page.posts] == [
        (post.who, post.at_s, post.words) for post in POSTS
    ]


def test_comments_of_tables_within_tables_are_posts() -> None:
    rows = "".join(
        f'<tr class="athing comtr" id="{post.n}"><td><table><tr><td class="ind"></td><td><div><span '
        f'class="comhead">'
        f'<a href="user?id={post.who}" class="hnuser">{post.who}</a> <span class="age" '
        f'title="{post.at:%Y-%m-%dT%H:%M:%S}">'
        f'<a href="item?id={post.n}">9 days ago</a></span></span></div><div class="comment"><div '
        f'class="commtext c00">'
        f'{post.words.replace("&", "&amp;")}<p>And more of it.</p></div><div class="reply"><a>reply</a>'
        f"</div></div></td></tr></table></td></tr>"
        for post in POSTS
    )
    page = read(f'<html><body><table class="comment-tree">{rows}</table></body></html>')
    assert said(page) == [(str(post.n), post.who, post.at_s) for post in POSTS]
    assert [post.text for post in page.posts] == [f"{post.words}\nAnd more of it." for post in POSTS]


def test_posts_without_a_name_of_their_own_are_told_apart_by_what_they_say() -> None:
    def page(*words: str) -> Leaf:
        rows = "".join(
            f'<div class="c"><i>Ada</i> <span>2 hours ago</span><p>{one}</p></div>' for one in words
        )
        return read(f"<html><body>{rows}</body></html>")

    keys = [post.key for post in page("One thing.", "Another.", "One thing.").posts]
    assert len(set(keys)) == 3
    assert [post.key for post in page("Before it.", "One thing.", "Another.").posts][1:] == keys[:2]


def test_the_time_of_the_fetch_is_no_part_of_what_a_post_is_known_by() -> None:
    rows = "".join(f"<div><i>Ada</i> <span>2 hours ago</span><p>Words {i}.</p></div>" for i in range(3))
    body = f"<html><body>{rows}</body></html>".encode()
    one, other = (leaf(body, HTML, "utf-8", ROOT, at).posts for at in (AT, AT + 1_800.0))
    assert [post.key for post in one] == [post.key for post in other]
    assert [post.at + 1_800.0 for post in one] == [post.at for post in other]


def test_who_wrote_a_post_is_not_what_it_is_known_by() -> None:
    def page(*authors: int) -> list[str]:
        rows = "".join(
            f'<div class="c" data-user-id="{n}"><time datetime="2026-02-0{i}T10:00Z">x</time><p>Words '
            f"{i}.</p></div>"
            for i, n in enumerate(authors, 1)
        )
        return [post.key for post in read(f"<html><body>{rows}</body></html>").posts]

    assert page(7, 8) == page(7, 8, 7)[:2]


def test_anchors_that_posts_share_tell_nothing_apart() -> None:
    def page(*words: str) -> list[str]:
        rows = "".join(
            f'<div class="c" id="comment1"><time datetime="2026-02-01T10:00Z">x</time><p>{one}</p></div>'
            for one in words
        )
        return [post.key for post in read(f"<html><body>{rows}</body></html>").posts]

    assert page("One.", "Two.")[1] == page("Two.", "One.")[0]


def test_a_post_is_all_of_its_paragraphs_where_others_have_but_one() -> None:
    rows = "".join(
        f'<div class="c" id="c{i}"><time datetime="2026-02-0{i}T10:00Z">x</time><div class="b">'
        f"{words}</div></div>"
        for i, words in enumerate(
            ("<p>Some words.</p>" * 1, "<p>More words of it.</p>", "<p>One.</p><p>Two.</p>"), 1
        )
    )
    posts = read(f"<html><body>{rows}</body></html>").posts
    assert [post.text for post in posts] == ["Some words.", "More words of it.", "One.\nTwo."]


def test_one_long_text_does_not_make_a_group_of_posts() -> None:
    def box(words: str) -> str:
        return f'<div class="box"><h2>Title</h2><p>Jan 5, 2026 10:00</p><p>{words}</p></div>'

    rows = "".join(
        f'<li id="c{i}"><b>u{i}</b> <i>Feb {i}, 2026 10:00</i><p>Some words of comment number {i}.</p></li>'
        for i in range(1, 5)
    )
    posts = read(
        f"<html><body>{box('An article on herons. ' * 90)}<ul>{rows}</ul>{box('About us.')}</body></html>"
    ).posts
    assert [post.key for post in posts] == ["c1", "c2", "c3", "c4"]


def test_an_edit_that_the_page_tells_of_is_no_second_time_of_the_post() -> None:
    rows = "".join(
        f'<div class="c" id="c{i}"><a href="/user/{i}">u{i}</a> <time datetime="2026-02-0{i}T10:00Z">'
        f"x</time><p>Some words.</p>"
        f'<small>Edited on <time datetime="2026-02-0{i}T11:00Z">x</time></small></div>'
        for i in range(1, 4)
    )
    posts = read(f"<html><body>{rows}</body></html>").posts
    assert [(post.at, post.edited_at) for post in posts] == [
        (day(i, 10).timestamp(), day(i, 11).timestamp()) for i in range(1, 4)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Edited it yesterday",
        "Modified my car yesterday",
        "Editing is what I did 3 days ago",
        "Edited it <b>yesterday</b>",
    ],
)
@pytest.mark.parametrize("body", ["<p>{}</p>", '<div class="b">{}</div>', '<div class="b"><p>{}</p></div>'])
@pytest.mark.parametrize("note", ["", "<small>Edited 2 hours ago</small>"])
def test_what_somebody_says_of_editing_is_no_note_of_an_edit(words: str, body: str, note: str) -> None:
    rows = "".join(
        f'<div class="c" id="c{i}"><b>u{i}</b> <i>Feb {i}, 2026 10:00</i>{body.format(one)}{note}</div>'
        for i, one in enumerate(("Some words of it.", words, "And others, which are longer."), 1)
    )
    posts = read(f"<html><body>{rows}</body></html>").posts
    plain = words.replace("<b>", "").replace("</b>", "")
    assert [post.text.split("\n")[0] for post in posts] == [
        "Some words of it.",
        plain,
        "And others, which are longer.",
    ]
    assert [post.at for post in posts] == [day(i, 10).timestamp() for i in range(1, 4)]
    assert note or all(isnan(post.edited_at) for post in posts)


def test_what_repeats_counts_where_a_page_tells_of_its_first_post_only() -> None:
    first = {
        "@type": "DiscussionForumPosting",
        "text": "Has anybody?",
        "author": "Ada",
        "datePublished": "2026-02-01",
    }
    rows = "".join(
        f'<li id="c{post.n}"><a href="/user/x">{post.who}</a> <i>{post.at:%b %d, %Y %H:%M}</i><p>'
        f"{post.words}</p></li>"
        for post in POSTS
    )
    script = f'<script type="application/ld+json">{json.dumps(first)}</script>'
    assert len(read(f"<html><body>{script}<ul>{rows}</ul></body></html>").posts) == 4
    assert [post.text for post in read(f"<html><body>{script}</body></html>").posts] == ["Has anybody?"]


WORDPRESS = """<li id="comment-{n}" class="comment byuser depth-1"><article class="comment-body"><footer><div
class="comment-author vcard"><b class="fn"><a href="http://x.example" class="url">{who}</a></b> <span
class="says">says:
</span></div><div class="comment-metadata"><a href="#comment-{n}"><time
datetime="{at:%Y-%m-%dT%H:%M:%SZ}">x</time></a>
</div></footer><div class="comment-content"><p>{words}</p></div><div class="reply"><a href="#">Reply</a>
</div></article></li>"""
LINKS = """<div class="thing comment" id="thing_{n}"><div class="entry unvoted"><p class="tagline"><a
class="expand">[-]</a>
<a href="/user/{who}" class="author">{who}</a> <span class="score unvoted">3 points</span> <time
datetime="{at:%Y-%m-%dT%H:%M:%SZ}">x</time></p><form class="usertext"><div class="md"><p>{words}</p></div>
</form>
<ul class="buttons"><li><a>permalink</a></li><li><a>reply</a></li></ul></div></div>"""
TRACKER = """<div class="timeline-item" id="issuecomment-{n}"><h3><strong><a class="author"
href="/{who}">{who}</a></strong>
commented <a href="#issuecomment-{n}"><relative-time datetime="{at:%Y-%m-%dT%H:%M:%SZ}">x</relative-time>
</a></h3><div>
<table><tbody><tr><td class="comment-body"><p>{words}</p></td></tr></tbody></table></div></div>"""
QUESTIONS = """<div id="answer-{n}" class="answer"><div class="votecell"><div
class="js-vote-count">{n}</div></div>
<div class="answercell"><div class="s-prose"><p>{words}</p></div><div class="user-info"><div
class="when">answered <span
title="{at:%Y-%m-%d %H:%M:%S}Z, License: CC BY-SA 4.0">x</span></div><div class="user-details">
<a href="/users/1/x">{who}</a><span class="reputation-score">12k</span></div></div></div></div>"""
TABLE = """<tr><td>{who}<br><small>Posts: {n}</small></td><td><small>Posted: {at:%m/%d/%Y %H:%M}</small>
<hr>{words}</td>
</tr>"""


@pytest.mark.parametrize("markup", [WORDPRESS, LINKS, TRACKER, QUESTIONS, TABLE])
def test_well_known_sites_need_no_description(markup: str) -> None:
    rows = "".join(
        markup.format(n=post.n, who=post.who, at=post.at, words=post.words.replace("&", "&amp;"))
        for post in POSTS
    )
    wrapped = f"<table>{rows}</table>" if markup == TABLE else rows
    posts = read(f"<html><body><h1>Heron</h1><div>{wrapped}</div></body></html>").posts
    assert [(post.author, post.at, post.text) for post in posts] == [
        (post.who, post.at_s, post.words) for post in POSTS
    ]


def test_a_word_of_thanks_is_a_post() -> None:
    rows = "".join(
        f'<div class="c" id="c{i}"><b>u{i}</b> <i>Feb {i}, 2026 10:00</i><p>{words}</p><a href="#">'
        f"Like</a> 3 likes</div>"
        for i, words in enumerate(("Thanks!", "Like", "More of it."), 1)
    )
    posts = read(f"<html><body>{rows}</body></html>").posts
    assert [post.text.split("\n")[0] for post in posts] == ["Thanks!", "Like", "More of it."]


# -- hostile -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        '<div class="c">1 hour ago x' * 3_000,
        "".join(f'<p class="a{i % 7} c{i}">Feb 1, 2026 10:00 <b>x</b> words</p>' for i in range(4_000)),
        "<li>" * 5_000 + "2026-02-01T10:00:00Z",
        "<time>1:00" * 5_000,
        "<x-a>Feb 1, 2026<x-b>" * 3_000,
        '<div itemscope itemtype="http://schema.org/Comment"><p itemprop="text">a' * 2_000,
        "<script type='application/ld+json'>" + "[" * 50_000 + "</script>",
    ],
    ids=["nested", "many", "deep", "times", "unknown tags", "items", "brackets"],
)  # fmt: skip
def test_a_page_that_was_made_to_keep_readers_busy_is_read_or_bounded(body: str) -> None:
    assert len(read(f"<html><body>{body}</body></html>").posts) <= 10_000


@pytest.mark.parametrize(
    "feed", ["<feed><entry>", '{"version": "https://jsonfeed.org/version/1", "items": [3]}', "<rss>&x;</rss>"]
)
def test_a_feed_that_is_none_is_refused(feed: str) -> None:
    with pytest.raises(ValueError, match="it is no feed"):
        read(feed, "")


@pytest.mark.parametrize(
    "told", ["[" * 50_000, '{"a":' * 20_000, "nul", '{"post_stream": {"posts": [1, null, {"id": []}]}}']
)
def test_json_that_is_none_is_refused_or_empty(told: str) -> None:
    try:
        assert all(post.key for post in read(told, JSON).posts)
    except (ValueError, RecursionError):
        return
