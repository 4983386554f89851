"""Forum programs that are known by their markup."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.parse.threads.drafts import MOST_POSTS, Draft
from recrawl.parse.threads.elements import attribute, beside, chosen, digits, first, line, text, written
from recrawl.parse.threads.times import MOST_WRITTEN

_NUMBER = re.compile(r"(?:#\s?|\A)([0-9]{1,8})(?![0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """Where a program puts what. Of several selectors the first that chooses anything counts."""

    post: str
    text: tuple[str, ...]
    when: tuple[str, ...]
    author: tuple[str, ...]
    edited: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    key: tuple[str, ...] = ("id",)  # attributes
    author_in: str = ""  # an attribute that has the author's name
    gone: str = ".deleted, .is-deleted, .message--deleted"


MARKUPS: tuple[Markup, ...] = (
    Markup(  # XenForo 2
        post="article.message[data-content^='post-']",
        key=("data-content", "id"),
        author_in="data-author",
        author=(".message-name .username", ".message-name"),
        when=(".message-attribution time", "header time", "time"),
        text=(".message-body .bbWrapper", ".message-content .bbWrapper", ".bbWrapper"),
        edited=(".message-lastEdit time",),
        number=(".message-attribution-opposite li:last-child", ".message-attribution-opposite"),
    ),
    Markup(  # XenForo 1
        post="li.message[id^='post-'][data-author]",
        author_in="data-author",
        author=("a.username",),
        when=(".messageMeta .DateTime", ".DateTime"),
        text=(".messageText",),
        edited=(".editDate .DateTime",),
        number=(".postNumber", ".hashPermalink"),
    ),
    Markup(  # phpBB 3, prosilver
        post="div.post[id^='p']",
        author=("p.author .username", "p.author .username-coloured", ".postprofile .username",
                ".postprofile .username-coloured", "p.author strong"),
        when=("p.author time", "p.author"),
        text=(".content",),
        edited=(".notice",),
    ),
    Markup(  # vBulletin 5
        post="li.b-post[data-node-id]",
        key=("data-node-id",),
        author=(".author [itemprop=name]", ".author a", ".author"),
        when=(".b-post__timestamp time", "time"),
        text=(".js-post__content-text", ".b-post__content"),
        number=(".b-post__count",),
        edited=(".b-post__edit-details time",),
    ),
    Markup(  # vBulletin 4
        post="li[id^='post_'].postbit, li[id^='post_'].postbitlegacy, li[id^='post_'].postcontainer",
        author=(".username strong", ".username"),
        when=(".postdate .date", ".postdate"),
        text=(".postcontent", "[id^='post_message_']"),
        edited=(".lastedited",),
        number=(".postcounter", ".nodecontrols a"),
    ),
    Markup(  # vBulletin 3
        post="table[id^='post']",
        author=("a.bigusername", ".bigusername"),
        when=("td.thead",),
        text=("[id^='post_message_']",),
        edited=(".smallfont em",),
        number=("td.thead a[id^='postcount']",),
    ),
    Markup(  # MyBB
        post="div.post[id^='post_']",
        author=(".author_information .largetext", ".author_information a"),
        when=(".post_date",),
        text=(".post_body",),
        edited=(".post_edit",),
        number=(".post_head strong a",),
    ),
    Markup(  # SMF 2
        post="div.post_wrapper",
        key=(),
        author=(".poster h4 a", ".poster h4"),
        when=(".keyinfo time", ".keyinfo .smalltext", ".keyinfo"),
        text=(".post .inner", ".inner"),
        edited=(".modified",),
    ),
    Markup(  # NodeBB
        post="li[component=post][data-pid]",
        key=("data-pid",),
        author_in="data-username",
        author=("[component='post/header'] a",),
        when=("[itemprop=datePublished]", ".timeago", "time"),
        text=("[component='post/content']",),
    ),
    Markup(  # Invision
        post="article.ipsComment[id^='elComment_']",
        author=(".cAuthorPane_author", ".ipsComment_author"),
        when=("time",),
        text=("[data-role=commentContent]",),
    ),
    Markup(  # Discourse, as crawlers see it
        post="div.crawler-post[id^='post_']",
        author=(".creator [itemprop=name]", ".creator a", ".creator"),
        when=(".crawler-post-infos time", ".post-time", ".crawler-post-infos"),
        text=(".post",),
        number=(".crawler-post-infos [itemprop=position]", "[itemprop=position]"),
    ),
    Markup(  # HyperKitty: mailing lists
        post="div.email",
        author=(".email-author .name", ".email-author a", ".email-author"),
        when=(".email-date time", ".email-date [title]", ".email-date"),
        text=(".email-body",),
    ),
)  # fmt: skip


def drafts(tree: LexborHTMLParser) -> list[Draft]:
    """By the first markup that fits."""
    for markup in MARKUPS:
        nodes = chosen(tree, markup.post, MOST_POSTS)
        outside = beside(tree, nodes) if nodes else set()
        found = [draft for node in nodes for draft in _draft(node, markup, outside)]
        if found:
            return found
    return []


def _draft(node: LexborNode, markup: Markup, outside: Container[int]) -> Iterator[Draft]:
    body = first(node, markup.text)
    if body is None or (markup.gone and node.css_matches(markup.gone)):
        return
    who = first(node, markup.author)
    edited = first(node, markup.edited)
    number = first(node, markup.number)
    place = _NUMBER.search(line(number)) if number is not None else None
    yield Draft(
        key=_key(node, body, markup),
        author=(attribute(node, markup.author_in) if markup.author_in else "") or line(who),
        text=text(body, outside),
        written=_when(first(node, markup.when)),
        edited=_edited(edited) if edited is not None else "",
        number=int(place[1]) if place else 0,
    )


def _key(node: LexborNode, body: LexborNode, markup: Markup) -> str:
    for name in markup.key:
        if value := attribute(node, name):
            return digits(value) or value
    # In some programs only what is inside has a name, or a link to it does.
    named = node.css_first("[id^='msg'], [id^='post'], a[name], [id]")
    value = attribute(body, "id") or (attribute(named, "id") or attribute(named, "name") if named else "")
    return digits(value) or value


def _when(node: LexborNode | None) -> str:
    """A line of words may end with the time: "Post by Ada » Sat Jan 31"."""
    said = written(node)
    return said.rpartition("»")[2].strip() or said


def _edited(node: LexborNode) -> str:
    inner = node if node.tag == "time" else node.css_first("time[datetime], [data-time]")
    if inner is not None:
        return written(inner)
    return line(node)[:MOST_WRITTEN]
