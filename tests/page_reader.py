"""Reads an HTML page into elements that tests can ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", style: str = "") -> list[Element]:
        """The elements below this one, in order, of a tag and a class."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and (not style or style in child.classes):
                    found.append(child)
                found += child.all(tag, style)
        return found

    def one(self, tag: str = "", style: str = "") -> Element:
        """The only such element."""
        (found,) = self.all(tag, style)
        return found


class _Reader(HTMLParser):
    def __init__(self, strict: bool) -> None:
        super().__init__()
        self.strict = strict
        self.here = self.root = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not self.strict or len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in _VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        assert not self.strict or self.here.tag == tag, f"</{tag}> where <{self.here.tag}> is open"
        element: Element | None = self.here
        while element is not None and element.tag != tag:
            element = element.parent
        if element is not None and element.parent is not None:
            self.here = element.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def parsed(text: str, strict: bool = False) -> Element:
    """Return a page; ``strict`` fails where tags do not nest as they are written."""
    reader = _Reader(strict)
    reader.feed(text)
    reader.close()
    assert not strict or reader.here is reader.root, f"<{reader.here.tag}> is not closed"
    return reader.root
