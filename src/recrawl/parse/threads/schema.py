"""Discussions that say of themselves what they are, in the words of schema.org."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.parse import html
from recrawl.parse.threads.drafts import MOST_POSTS, Draft
from recrawl.parse.threads.elements import attribute, beside, digits, line, text
from recrawl.parse.threads.services import objects

_TYPES = frozenset(
    {"discussionforumposting", "socialmediaposting", "comment", "answer", "question", "message",
     "emailmessage", "usercomments", "correctioncomment", "review"}
)  # fmt: skip
_SAID = ("text", "articleBody", "commentText", "reviewBody", "messageBody")
_WHEN = ("datePublished", "dateCreated", "commentTime", "dateSent", "dateReceived")
_WHO = ("author", "creator", "sender")
_PLACES = ("content", "datetime", "href", "title")
_MOST_NODES = 200_000
_MOST_DEPTH = 60


def drafts(tree: LexborHTMLParser) -> list[Draft]:
    """Of a tree that still has its scripts: by its attributes, or by its JSON-LD where that tells more."""
    linked = _told_apart(list(_linked(tree)))
    marked = _told_apart(list(_marked(tree)))
    return linked if len(linked) > len(marked) else marked


def _told_apart(found: list[Draft]) -> list[Draft]:
    """Names that are those of the page rather than of its posts are none."""
    names = [one.key for one in found if one.key]
    if len(set(names)) == len(names):
        return found
    return [
        Draft(author=one.author, text=one.text, written=one.written, edited=one.edited, number=one.number)
        for one in found
    ]


# -- JSON-LD -------------------------------------------------------------------------------------------------


def _linked(tree: LexborHTMLParser) -> Iterator[Draft]:
    n_found = 0
    for script in tree.css("script[type='application/ld+json']")[:50]:
        try:
            document = json.loads(script.text())
        except (ValueError, RecursionError):
            continue
        for item in objects(document):
            if (draft := _draft(item)) is not None:
                yield draft
                n_found += 1
                if n_found == MOST_POSTS:
                    return


def _draft(item: dict[str, Any]) -> Draft | None:
    types = item.get("@type")
    names = types if isinstance(types, list) else [types]
    if not any(isinstance(name, str) and name.rpartition("/")[2].lower() in _TYPES for name in names):
        return None
    said, when = _first(item, _SAID), _first(item, _WHEN)
    if not said and isinstance(item.get("name"), str):
        said = item["name"]  # a question may be all in its title
    if not said or not (when or _first(item, _WHO) or _name(item, _WHO)):
        return None
    if "<" in said:
        said = html.visible(said.encode("utf-8", "replace"), "utf-8")
    key = next(
        (str(item[name]) for name in ("@id", "identifier", "url") if isinstance(item.get(name), str)), ""
    )
    modified = item.get("dateModified")
    return Draft(
        key=key,
        author=_name(item, _WHO),
        text="\n".join(filter(None, (" ".join(row.split()) for row in said.splitlines()))),
        written=when,
        edited=modified if isinstance(modified, str) and modified != when else "",
    )


def _first(item: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((item[name] for name in names if isinstance(item.get(name), str) and item[name]), "")


def _name(item: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = item.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict):
            value = value.get("name") or value.get("alternateName")
        if isinstance(value, str) and value:
            return value
    return ""


# -- microdata -----------------------------------------------------------------------------------------------


def _marked(tree: LexborHTMLParser) -> Iterator[Draft]:
    scopes = {
        node.mem_id: node
        for node in tree.css("[itemscope][itemtype]")
        if attribute(node, "itemtype").rpartition("/")[2].lower() in _TYPES
    }
    if not scopes:
        return
    held, outside = _held(tree), beside(tree, scopes.values())
    for n, (mem_id, node) in enumerate(scopes.items()):
        if n == MOST_POSTS:
            return
        if (draft := _item(node, held.get(mem_id, {}), held, outside)) is not None:
            yield draft


Properties = dict[int, dict[str, LexborNode]]  # by the item that they are of; the first of each name


def _held(tree: LexborHTMLParser) -> Properties:
    scope_of: dict[int, int] = {}  # the nearest item around an element
    held: Properties = {}
    for node in tree.css("[itemprop]")[:_MOST_NODES]:
        way: list[int] = []
        around = node.parent
        while around is not None:
            if around.mem_id in scope_of:
                found = scope_of[around.mem_id]
                break
            if "itemscope" in around.attributes:
                found = around.mem_id
                break
            way.append(around.mem_id)
            around = around.parent
        else:
            found = -1
        scope_of.update(dict.fromkeys(way, found))
        for name in attribute(node, "itemprop").split():
            held.setdefault(found, {}).setdefault(name, node)
    return held


def _item(
    node: LexborNode, properties: dict[str, LexborNode], held: Properties, outside: Container[int]
) -> Draft | None:
    when = _value(properties, *_WHEN)
    who = next((properties[name] for name in _WHO if name in properties), None)
    author = "" if who is None else _author(who, held)
    edited = _value(properties, "dateModified")
    place = _value(properties, "position").lstrip("#")
    body = next((properties[name] for name in _SAID if name in properties), None)
    if body is None or not (when or author):
        return None
    key = attribute(node, "itemid") or _named(body, node) or _value(properties, "url", "identifier")
    return Draft(
        key=key,
        author=author,
        text=attribute(body, "content") if body.tag == "meta" else text(body, outside),
        written=when,
        edited=edited if edited != when else "",
        number=int(place) if place.isdecimal() and len(place) < 9 else 0,
    )


def _named(body: LexborNode, item: LexborNode) -> str:
    """The number in the nearest name around a text, up to the item that it is of."""
    around: LexborNode | None = body
    for _ in range(_MOST_DEPTH):
        if around is None:
            break
        if number := digits(attribute(around, "id")):
            return number
        if around.mem_id == item.mem_id:
            break
        around = around.parent
    return attribute(item, "id")


def _value(properties: dict[str, LexborNode], *names: str, of: tuple[str, ...] = _PLACES) -> str:
    for name in names:
        node = properties.get(name)
        if node is None:
            continue
        for where in of:
            if value := attribute(node, where):
                return value
        if value := line(node):
            return value
    return ""


def _author(node: LexborNode, held: Properties) -> str:
    inner = held.get(node.mem_id, {})
    return _value({"name": inner.get("name", node)}, "name", of=("content",))
