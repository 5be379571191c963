"""What mkdocs calls while it builds the documentation: names of objects, and formulas as MathML."""

from __future__ import annotations

import html as entities
import itertools
import re
from xml.etree import ElementTree as Xml

from latex2mathml.converter import convert_to_element

_ROLE = re.compile(r":(?:func|class|meth|attr|mod):(?=<code>)")
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
_ACCENTS = {"~": "\u02dc", "^": "\u02c6"}  # drawn over a letter: the signs that fonts make for this purpose
_NAME = re.compile(r"[A-Za-z]{2,}")
_BOLD_ZERO = 0x1D7CE
_THIN_SPACE = "0.167em"


def on_page_content(html: str, **_: object) -> str:
    """Docstrings name objects with roles, as Python's own do: Markdown shows the name alone. Formulas become MathML."""
    html = _ROLE.sub("", html)
    html = _INLINE.sub(lambda found: typeset(entities.unescape(found[1]), "inline"), html)
    return _DISPLAY.sub(
        lambda found: f'<div class="formula" tabindex="0">{typeset(entities.unescape(found[1]), "block")}</div>', html
    )


def typeset(latex: str, display: str) -> str:
    """A formula in LaTeX as MathML, which browsers draw without a script."""
    known = latex.replace(r"\begin{aligned}", r"\begin{array}{rl}").replace(r"\end{aligned}", r"\end{array}")
    tree = convert_to_element(known.strip(), display=display)
    for element in tree.iter():
        element.text = entities.unescape(element.text or "") or None
        if element.text and ("\\" in element.text or "&" in element.text):  # the converter passes on what it cannot do
            raise ValueError(f"a formula must be LaTeX that latex2mathml knows, got {element.text} in {latex.strip()}")
    for element in list(tree.iter()):
        _mark_signs(element)
        _draw_as_text_would(element)
        _space_names(element)
    return Xml.tostring(tree, encoding="unicode")


def _draw_as_text_would(element: Xml.Element) -> None:
    """Hats close to their letters, no space around bars and slashes, bold digits: browsers need to be asked."""
    if element.tag == "mover" and element[1].text in _ACCENTS:
        element.set("accent", "true")
        element[1].text = _ACCENTS[str(element[1].text)]
        element[1].set("stretchy", "false")
    if element.tag == "mo" and element.text in ("|", "/"):
        element.attrib = {"stretchy": "false", "lspace": "0", "rspace": "0"}
    if element.tag == "mn" and element.get("mathvariant") == "bold":
        element.attrib = {}
        element.text = "".join(chr(_BOLD_ZERO + int(digit)) for digit in str(element.text))


def _mark_signs(parent: Xml.Element) -> None:
    """A minus after a bracket or a relation is a sign, not a difference: no space around it."""
    for before, child in itertools.pairwise(parent):
        if child.tag == "mo" and child.text in ("\u2212", "+") and before.tag == "mo" and before.text in tuple("([=,"):
            child.set("form", "prefix")


def _space_names(parent: Xml.Element) -> None:
    """``a log p``, not ``alogp``: a thin space around the name of a function, as TeX has it."""
    for i in range(len(parent) - 1, -1, -1):
        child = parent[i]
        if child.tag not in ("mi", "mo", "mtext") or not _NAME.fullmatch(child.text or ""):
            continue
        if child.tag == "mo":
            child.tag, child.attrib = "mi", {}
        if child.tag == "mi" and i + 1 < len(parent) and (parent[i + 1].text or "") not in tuple("()[]|,."):
            parent.insert(i + 1, Xml.Element("mspace", width=_THIN_SPACE))
        if i and (parent[i - 1].tag not in ("mo", "mspace", "mi") or parent[i - 1].text == "∂"):
            parent.insert(i, Xml.Element("mspace", width=_THIN_SPACE))
