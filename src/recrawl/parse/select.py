"""Elements of a page, chosen by CSS or XPath. Call it where it can be killed: a page can be made so that
choosing takes for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

Chosen = LexborNode | str  # an element, or a mere value: a text, an attribute, a count

_FUNCTIONS = frozenset(
    re.findall(
        r"[\w-]+",
        """
        boolean ceiling comment concat contains count false floor last local-name name namespace-uri
        node normalize-space not number position round starts-with string string-length substring
        substring-after substring-before sum text translate true
        """,
    )
)
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALL = re.compile(r"(?<![\w.:-])([\w.:-]+)\s*\(")
_PREFIXED = re.compile(r"[\w.-]:[\w.*-]|[\w.-]:\s*\*")
_VALUE = re.compile(
    r"(?:@[\w.*-]+|\b(?:text|comment|node)\(\s*\)|attribute::[\w.*-]+)\s*(?:\[[^\]]*\])*\s*\)?\s*$"
)
_NAME = re.compile(r"[^\W\d][\w.-]*")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def wrong(language: str, expression: str, *, values: bool = True) -> str:
    """What is wrong with a selector, and the remedy; empty where nothing is. Without `values` it must be one
    that chooses elements."""
    if language == "css":
        return _wrong_css(expression)
    return _wrong_xpath(expression, values=values)


def chosen(tree: LexborHTMLParser, selectors: Sequence[tuple[str, str]]) -> list[Chosen]:
    """All that the selectors, pairs of language and expression, choose."""
    found: list[Chosen] = []
    mirror: _Mirror | None = None
    for language, expression in selectors:
        if language == "css":
            found.extend(tree.css(expression))
        elif tree.root is not None:
            mirror = mirror or _Mirror(tree.root)
            found.extend(mirror.chosen(expression))
    return found


def _wrong_css(expression: str) -> str:
    try:
        LexborHTMLParser("<p>").css(expression)
    except SelectolaxError:
        return "mend it, or write `xpath:` before it if it is XPath; an example is `main > p.price`."
    # The parser closes what was left open, which is seldom what was meant.
    bare = _LITERAL.sub("", expression)
    if any(bare.count(opened) != bare.count(closed) for opened, closed in ("()", "[]")):
        return "a bracket is left open; close it."
    return ""


def _wrong_xpath(expression: str, *, values: bool) -> str:
    bare = _LITERAL.sub("''", expression)
    calls = [name for name in _CALL.findall(bare) if "::" not in name]
    if unknown := sorted({name for name in calls if name not in _FUNCTIONS and name not in _OPERATORS}):
        return f"XPath 1.0 has no function {unknown[0]}(); use one that it has, such as contains()."
    if "$" in bare or _PREFIXED.search(re.sub(r"[\w-]+::", "", bare)):
        return "it names a variable or a namespace, and pages have neither; use local-name() if need be."
    try:
        found = etree.XPath(expression, regexp=False)(etree.fromstring("<html><body><p>x</p></body></html>"))
    except etree.XPathError as problem:
        return f"{str(problem).rstrip('.')}; mend it; an example is `//table//tr[1]`."
    if not values and (not isinstance(found, list) or any(map(_VALUE.search, bare.split("|")))):
        return "it gives a value, not elements that could be ignored; choose the elements around it."
    return ""


_OPERATORS = frozenset({"and", "or", "div", "mod"})  # a bracket may follow these, too


class _Mirror:
    """A page's elements as XPath sees them: the tree that a browser makes of it, tbody and all."""

    def __init__(self, root: LexborNode) -> None:
        top = etree.Element(_name(root.tag or ""), _attributes(root))
        elements = {root.mem_id: top}
        self._tree = etree.ElementTree(top)
        self._nodes = {top: root}
        for node in root.traverse(include_text=True):
            tag, parent = node.tag, node.parent
            above = None if parent is None else elements.get(parent.mem_id)
            if above is None or tag is None:  # the root itself
                continue
            if tag == "-text":
                _append(above, node.text_content or "")
            elif not tag.startswith(("-", "!")):
                element = etree.SubElement(above, _name(tag), _attributes(node))
                elements[node.mem_id] = element
                self._nodes[element] = node

    def chosen(self, expression: str) -> Iterator[Chosen]:
        found = etree.XPath(expression, regexp=False, smart_strings=False)(self._tree)
        if not isinstance(found, list):
            yield _said(found)
            return
        for item in found:
            if isinstance(item, str):
                yield item
            elif isinstance(item, etree._Element) and (node := self._nodes.get(item)) is not None:
                yield node


def _said(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)


def _append(above: etree._Element, text: str) -> None:
    text = _CONTROL.sub("\ufffd", text)
    if len(above):
        above[-1].tail = (above[-1].tail or "") + text
    else:
        above.text = (above.text or "") + text


def _attributes(node: LexborNode) -> dict[str, str]:
    return {_name(name): _CONTROL.sub("\ufffd", value or "") for name, value in node.attributes.items()}


def _name(name: str) -> str:
    """Pages name elements and attributes as XML may not; those can be chosen by other means."""
    name = name.replace(":", "_")
    return name if _NAME.fullmatch(name) else "unnamed"
