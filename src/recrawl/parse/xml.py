"""XML without document types, entities or anything from outside: the only way it is read here."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring


def tree(body: bytes) -> Element:
    """The root element. A document that declares a type is refused, whatever it declares."""
    root: Element = fromstring(body, forbid_dtd=True)
    return root


def local(element: Element) -> str:
    """Its name without the namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()


def children(element: Element, name: str) -> Iterator[Element]:
    """The children of that local name, in whatever namespace."""
    return (child for child in element if local(child) == name)


def text_of(element: Element, *names: str) -> str:
    """The text of the first child that has one of these names."""
    for name in names:
        for child in children(element, name):
            return " ".join("".join(child.itertext()).split())
    return ""
