"""The pictures of the documentation site: the module tree of the example, and the flow chart of the architecture."""

from __future__ import annotations

import re
from itertools import combinations

import flow_chart
import pytest

from .built_site import Element, article, page, site
from .conftest import EXAMPLE, ROOT, Cli

ARCHITECTURE = "SpruceForCausalLM"
CHART = re.search(r"```mermaid\n(.*?)```", (ROOT / "docs/architecture.md").read_text(encoding="utf-8"), re.S)

Box = tuple[float, float, float, float]  # left, top, right, bottom


def picture(path: str) -> Element:
    return article(path).one("figure", "picture").one("svg")


def boxes(svg: Element) -> list[Box]:
    found = []
    for rect in svg.all("rect"):
        x, y, wide, high = (float(rect.attributes[key]) for key in ("x", "y", "width", "height"))
        found.append((x, y, x + wide, y + high))
    return found


def size(svg: Element) -> tuple[float, float]:
    _, _, wide, high = map(float, svg.attributes["viewbox"].split())
    return wide, high


# -- the module tree ------------------------------------------------------------------------------------------------


def test_the_picture_has_the_modules_that_the_command_prints(cli: Cli) -> None:
    printed = cli("tree", ARCHITECTURE, EXAMPLE).stdout.split("\n\n")[0].splitlines()
    names = [re.sub(r"^[│├└─ ]+", "", line).split()[0] for line in printed]
    svg = picture("tree/index.html")
    assert [name.text for name in svg.all("tspan", "name")] == names
    assert len(svg.all("tspan", "pin")) == sum("◆" in line for line in printed) > 0
    conditions = [re.search(r"(if .*?)  ", line)[1] for line in printed if "  if " in line]
    assert [condition.text for condition in svg.all("tspan", "condition")] == conditions != []


def test_a_condition_is_a_dashed_box_and_a_list_a_stack() -> None:
    svg = picture("tree/index.html")
    assert len(svg.all("rect", "conditional")) == 1
    assert len(svg.all("rect", "repeated")) == 2 * 2  # layers and experts, each a box and one behind it


def test_a_box_lies_in_the_box_of_its_module_or_beside_it() -> None:
    svg = picture("tree/index.html")
    assert all(inside(box, (0, 0, *size(svg))) for box in boxes(svg))
    front = [box for box in boxes(svg) if (box[0] - 4, box[1] - 4, box[2] - 4, box[3] - 4) not in boxes(svg)]
    for one, other in combinations(front, 2):
        assert inside(one, other) or inside(other, one) or apart(one, other), (one, other)


def inside(one: Box, other: Box) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]


def apart(one: Box, other: Box) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_the_picture_leads_to_the_page_that_folds() -> None:
    (link,) = article("tree/index.html").one("figcaption").all("a")
    path = link.attributes["href"].removeprefix("../")
    assert (site() / path).is_file()
    assert ARCHITECTURE in page(path).one("h1").text


def test_github_shows_nothing_where_the_site_has_the_picture() -> None:
    text = (ROOT / "docs/tree.md").read_text(encoding="utf-8")
    assert re.findall(r"^<!-- picture: module tree of (\w+) -->$", text, re.M) == [ARCHITECTURE]
    assert "<!--" not in article("tree/index.html").text


# -- the flow chart -------------------------------------------------------------------------------------------------


def test_the_chart_of_the_architecture_has_every_box_and_arrow_apart() -> None:
    assert CHART is not None
    svg = picture("architecture/index.html")
    drawn = [" ".join(text.text for text in texts).replace("  ", " ") for texts in labels(svg)]
    names = set(re.findall(r"\w+", re.sub(r"\[.*?\]|^flowchart LR", "", CHART[1]))) - {"commands", "selection", "pages"}
    assert set(drawn) == names | set(re.findall(r"\[\"(.*?)\"\]", CHART[1]))
    arrows = [path for path in svg.all("path") if "arrow" in path.classes]
    assert len(arrows) == len(re.findall(r"-->|-\.->", CHART[1]))
    assert sum("dashed" in arrow.classes for arrow in arrows) == CHART[1].count("-.->")
    assert all(apart(one, other) for one, other in combinations(boxes(svg), 2))
    assert all(inside(box, (0, 0, *size(svg))) for box in boxes(svg))


def labels(svg: Element) -> list[list[Element]]:
    """The lines of text in each box."""
    texts = svg.all("text")
    return [
        [
            text
            for text in texts
            if left < float(text.attributes["x"]) < right and top < float(text.attributes["y"]) < bottom
        ]
        for left, top, right, bottom in boxes(svg)
    ]


def test_arrows_point_from_left_to_right_and_round_boxes() -> None:
    assert CHART is not None
    svg = picture("architecture/index.html")
    for arrow in (path for path in svg.all("path") if "arrow" in path.classes):
        numbers = [float(number) for number in re.findall(r"-?\d+", arrow.attributes["d"])]
        points = [(numbers[0], numbers[1]), *zip(numbers[6::6], numbers[7::6], strict=True)]
        assert points == sorted(points)
        for x, y in points[1:-1]:
            assert not [box for box in boxes(svg) if box[0] < x < box[2] and box[1] < y < box[3]]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("flowchart TD\n  a --> b", "only flowchart LR"),
        ("flowchart LR\n  a ==> b", "from '==> b' on"),
        ("flowchart LR\n  a -->", "ends with an arrow"),
        ("flowchart LR\n  a --> b --> c\n  c --> a", "in a circle"),
    ],
)
def test_what_the_chart_cannot_draw_is_said(source: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        flow_chart.render(source)
