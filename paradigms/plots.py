"""Drawings of the factor graph that one lexeme gets.

Variables are rounded boxes: given cells shaded, holes white with their likeliest form. Factors are
boxes with square corners that say what they are and how much they count. Sources stand on the left,
holes on the right, the factors of a hole beside it. Pictures need the extra `plot`; a `.dot` file
needs nothing.

Public names: `PLOT_FORMATS`, `Drawing`, `VariableBox`, `FactorBox`, `lexeme_drawing`,
`drawing_bytes`.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsbp.factors.base import Factor
from paradigms.evidence import LEMMA
from paradigms.inspection import Inspected
from paradigms.lexemes import Candidate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_FORMATS = (".svg", ".png", ".pdf", ".dot")
MAX_HOLES = 5
"""Holes drawn; more would not be legible."""
MAX_FORM, MAX_CELL = 20, 34
"""Characters of a label; what is longer loses its middle."""

COLOURS = {
    "direct": "#1f5fa8",
    "borrowed": "#c25e00",
    "copying": "#2e7d32",
    "edits": "#b0175a",
    "n-gram": "#7b3fa0",
}
OTHER_COLOUR = "#444444"
MEANINGS = {
    "direct": "direct: changes seen between the same two cells",
    "borrowed": "borrowed: changes between cells that differ alike",
    "copying": "copying: the same form",
    "edits": "edits: learned from all pairs of cells together",
    "n-gram": "n-gram: how much the form looks like the language",
}
FONTS = ("DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans Devanagari", "FreeSans")

FAR_LEFT, LEFT, MIDDLE, RIGHT, OUTER = -2.7, 0.0, 4.2, 7.8, 10.5
"""Centres of the columns, in inches."""
BOX_WIDTH, BOX_HEIGHT = 2.5, 0.52
FACTOR_WIDTH, FACTOR_HEIGHT = 1.35, 0.27
ROW, SPACE = 0.36, 0.3


@dataclass(frozen=True)
class VariableBox:
    """A variable: what to write, whether it is given, and where its centre is (inches).

    The form of a hole is its likeliest one, and has a probability.
    """

    name: str
    cell: str
    form: str
    given: bool
    probability: str
    x: float
    y: float


@dataclass(frozen=True)
class FactorBox:
    """A factor: its kind, how much it counts, the names of its variables, and its centre."""

    kind: str
    exponent: float | None
    ends: tuple[str, ...]
    x: float
    y: float

    @property
    def label(self) -> str:
        """Kind and exponent."""
        return self.kind if self.exponent is None else f"{self.kind} {_signed(self.exponent)}"

    @property
    def width(self) -> float:
        """Width of its edges, in points."""
        return 1.0 if self.exponent is None else 0.6 + 3.0 * min(abs(self.exponent), 1.5)

    @property
    def colour(self) -> str:
        """Colour of its kind."""
        return COLOURS.get(self.kind, OTHER_COLOUR)


@dataclass(frozen=True)
class Drawing:
    """What to draw where.

    Args:
        title: Lines; the first is the heading.
        variables: In any order.
        factors: In any order.
        height: Of the whole, without title and legend, in inches; y runs from 0 down to -height.
    """

    title: tuple[str, ...]
    variables: tuple[VariableBox, ...]
    factors: tuple[FactorBox, ...]
    height: float


def lexeme_drawing(inspected: Inspected, max_holes: int = MAX_HOLES) -> Drawing:
    """The drawing of a lexeme's graph.

    Args:
        inspected: The lexeme.
        max_holes: Holes drawn at most, the first in reading order, with the cells that speak about
            them. What is left out is said in the title.
    """
    holes = inspected.lexeme.holes
    drawn = holes[:max_holes]
    factors = inspected.graph(holes).factors
    # The last variable of a factor is the one that it speaks about.
    pairs_of = {hole: [f for f in factors if _speaks_about(f, hole)] for hole in drawn}
    right = [hole for hole in drawn if pairs_of[hole]]
    left = {v.name for pairs in pairs_of.values() for f in pairs for v in f.variables[:-1]}
    left = (left | set(drawn)) - set(right)
    order = _left_order(left, pairs_of)
    position_of, boxes, top = {}, [], 0.0
    for hole in right:
        pairs = sorted(pairs_of[hole], key=lambda factor: order.get(factor.variables[0].name, 0))
        band = max(ROW * len(pairs), BOX_HEIGHT)
        position_of[hole] = (RIGHT, top - band / 2)
        for number, factor in enumerate(pairs):
            y = top - band / 2 + ROW * ((len(pairs) - 1) / 2 - number)
            boxes.append(_factor_box(inspected, factor, MIDDLE, y))
        top -= band + SPACE
    height = max(-top - SPACE, len(left) * (BOX_HEIGHT + 0.2))
    for name, number in order.items():
        position_of[name] = (LEFT, -height * (number + 0.5) / len(order))
    for factor in factors:
        x, y = position_of.get(factor.variables[0].name, (0.0, 0.0))
        if len(factor.variables) == 1 and factor.variables[0].name in position_of:
            boxes.append(_factor_box(inspected, factor, OUTER if x == RIGHT else FAR_LEFT, y))
    variables = [_variable_box(inspected, name, *at) for name, at in position_of.items()]
    return Drawing(_title(inspected, variables), tuple(variables), tuple(boxes), height)


def _speaks_about(factor: Factor, hole: str) -> bool:
    return len(factor.variables) > 1 and factor.variables[-1].name == hole


def _left_order(left: set[str], pairs_of: Mapping[str, Sequence[Factor]]) -> dict[str, int]:
    """Place of each variable of the left column, near the holes that it speaks about."""
    mean_of = {}
    for name in sorted(left):
        rows = [
            row
            for row, pairs in enumerate(pairs_of.values())
            for factor in pairs
            if name in [variable.name for variable in factor.variables[:-1]]
        ]
        mean_of[name] = sum(rows) / max(len(rows), 1)
    return {name: n for n, name in enumerate(sorted(mean_of, key=lambda name: mean_of[name]))}


def _factor_box(inspected: Inspected, factor: Factor, x: float, y: float) -> FactorBox:
    names = tuple(variable.name for variable in factor.variables)
    return FactorBox(inspected.kind(factor), inspected.exponent(factor), names, x, y)


def drawing_bytes(drawing: Drawing, suffix: str) -> bytes:
    """The content of a file with the drawing; the same drawing gives the same bytes.

    Args:
        drawing: What to draw.
        suffix: One of `PLOT_FORMATS`.

    Raises:
        ImportError: matplotlib is not installed, and the format is not `.dot`.
    """
    if suffix == ".dot":
        return _dot(drawing).encode("utf-8")
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'fsbp[plot]'") from error
    # In SVG and PDF text stays text: whatever shows the file orders and joins the letters.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "", "pdf.fonttype": 42}
    stream = io.BytesIO()
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Matplotlib currently does not support")
        _figure(drawing).savefig(stream, format=suffix[1:], dpi=130, metadata=date)
    return stream.getvalue()


def _variable_box(inspected: Inspected, name: str, x: float, y: float) -> VariableBox:
    lexeme = inspected.lexeme
    cell = "lemma" if name == LEMMA else _short(name, MAX_CELL)
    given = (lexeme.lemma or "",) if name == LEMMA else lexeme.cells.get(name, ())
    if given:
        return VariableBox(name, cell, _short(given[0]), True, "", x, y)
    best, *_ = (*inspected.candidates_of.get(name, ()), Candidate("?", 0.0))
    return VariableBox(name, cell, _short(best.form), False, f"{best.probability:.2f}", x, y)


def _title(inspected: Inspected, variables: Sequence[VariableBox]) -> tuple[str, ...]:
    lexeme = inspected.lexeme
    holes, given = len(lexeme.holes), len(lexeme.given) + bool(lexeme.lemma)
    drawn_given = sum(box.given for box in variables)
    drawn_holes = len(variables) - drawn_given
    # The name comes last: written from right to left, it would reorder what follows it.
    counts = f"{_number(given, 'given form')} and {_number(holes, 'hole')}"
    lines = [f"{counts} of {_short(lexeme.key)}"]
    lines.append(inspected.origin)
    if drawn_holes < holes:
        lines[-1] += f"; drawn are {_number(drawn_holes, 'hole')} and what speaks about them"
    elif drawn_given < given:
        lines[-1] += "; given forms that speak about no hole are left out"
    return tuple(lines)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _short(text: str, most: int = MAX_FORM) -> str:
    """The text on one line, without its middle where it is long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}…{text[-half:]}"


def _figure(drawing: Drawing) -> Figure:
    """A matplotlib figure of the drawing, legend below."""
    from matplotlib import font_manager
    from matplotlib.figure import Figure

    installed = {font.name for font in font_manager.fontManager.ttflist}
    fonts = [name for name in FONTS if name in installed] or ["sans-serif"]
    from_left = [box.x - FACTOR_WIDTH / 2 for box in drawing.factors]
    low = min([LEFT - BOX_WIDTH / 2, *from_left]) - 0.3
    high = OUTER + FACTOR_WIDTH / 2 + 0.3
    above, below = 0.35 + 0.28 * len(drawing.title), 1.15
    size = (high - low, drawing.height + above + below)
    figure = Figure(figsize=size)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(low, high)
    axes.set_ylim(-drawing.height - below, above)
    for number, line in enumerate(drawing.title):
        y = above - 0.3 - 0.28 * number
        size_pt, colour = (13, "black") if number == 0 else (9.5, "#444444")
        axes.text(low + 0.25, y, line, size=size_pt, color=colour, family=fonts, parse_math=False)
    at = {box.name: box for box in drawing.variables}
    for factor in drawing.factors:
        for end in factor.ends:
            _draw_edge(axes, at[end], factor)
    for factor in drawing.factors:
        _draw_factor(axes, factor, fonts)
    for variable in drawing.variables:
        _draw_variable(axes, variable, fonts)
    _draw_legend(axes, drawing, low + 0.25, fonts)
    return figure


def _draw_edge(axes: Axes, variable: VariableBox, factor: FactorBox) -> None:
    """A curve that leaves the variable and reaches the factor level."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    side = 1.0 if factor.x > variable.x else -1.0
    start = (variable.x + side * BOX_WIDTH / 2, variable.y)
    end = (factor.x - side * FACTOR_WIDTH / 2, factor.y)
    middle = (start[0] + end[0]) / 2
    points = [start, (middle, start[1]), (middle, end[1]), end]
    codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    axes.add_patch(
        PathPatch(
            Curve(points, codes), fill=False, color=factor.colour, lw=factor.width, alpha=0.75
        )
    )


def _draw_factor(axes: Axes, box: FactorBox, fonts: Sequence[str]) -> None:
    from matplotlib.patches import Rectangle

    corner = (box.x - FACTOR_WIDTH / 2, box.y - FACTOR_HEIGHT / 2)
    axes.add_patch(Rectangle(corner, FACTOR_WIDTH, FACTOR_HEIGHT, color=box.colour))
    _write(axes, box.x, box.y, box.label, 8.5, "white", fonts)


def _draw_variable(axes: Axes, box: VariableBox, fonts: Sequence[str]) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - BOX_WIDTH / 2 + 0.1, box.y - BOX_HEIGHT / 2 + 0.1)
    axes.add_patch(
        FancyBboxPatch(
            corner,
            BOX_WIDTH - 0.2,
            BOX_HEIGHT - 0.2,
            boxstyle="round,pad=0.1,rounding_size=0.2",
            facecolor="#d9d9d9" if box.given else "white",
            edgecolor="#222222",
            lw=1.1,
        )
    )
    _write(axes, box.x, box.y + 0.12, box.cell, 7.5, "#555555", fonts)
    middle = box.x - (0.2 if box.probability else 0.0)
    _write(axes, middle, box.y - 0.1, box.form, 10.5, "black", fonts)
    _write(axes, box.x + BOX_WIDTH / 2 - 0.27, box.y - 0.1, box.probability, 8.5, "#555555", fonts)


def _draw_legend(axes: Axes, drawing: Drawing, x: float, fonts: Sequence[str]) -> None:
    """What the boxes mean, in two columns below the drawing."""
    from matplotlib.patches import Rectangle

    kinds = [kind for kind in MEANINGS if any(box.kind == kind for box in drawing.factors)]
    entries = [("#d9d9d9", "#222222", "given form")]
    entries.append(("white", "#222222", "hole, with its likeliest form and the probability"))
    entries += [(COLOURS[kind], COLOURS[kind], MEANINGS[kind]) for kind in kinds]
    for number, (face, edge, text) in enumerate(entries):
        left, y = x + 4.3 * (number // 2), -drawing.height - 0.4 - 0.25 * (number % 2)
        axes.add_patch(Rectangle((left, y - 0.07), 0.25, 0.14, facecolor=face, edgecolor=edge))
        axes.text(left + 0.35, y, text, size=8.5, va="center", family=fonts, parse_math=False)
    text = "Numbers and the width of the lines: the exponent of the factor, how much it counts."
    y = -drawing.height - 0.95
    axes.text(x, y, text, size=8.5, va="center", family=fonts, parse_math=False)


def _write(
    axes: Axes, x: float, y: float, text: str, size: float, colour: str, fonts: Sequence[str]
) -> None:
    axes.text(
        x,
        y,
        text,
        size=size,
        color=colour,
        ha="center",
        va="center",
        family=list(fonts),
        parse_math=False,
    )


def _dot(drawing: Drawing) -> str:
    """The drawing in the language of Graphviz, without positions."""
    number_of = {box.name: number for number, box in enumerate(drawing.variables)}
    lines = ["graph lexeme {", "  rankdir=LR;", f"  label={_quoted(*drawing.title)};"]
    for number, box in enumerate(drawing.variables):
        style = 'style="rounded,filled", fillcolor=' + ("lightgrey" if box.given else "white")
        label = _quoted(box.cell, f"{box.form} {box.probability}".strip())
        lines.append(f"  v{number} [shape=box, {style}, label={label}];")
    for number, factor in enumerate(drawing.factors):
        look = f'shape=box, style=filled, fillcolor="{factor.colour}", fontcolor=white'
        lines.append(f"  f{number} [{look}, label={_quoted(factor.label)}];")
        *sources, target = (f"v{number_of[name]}" for name in factor.ends)
        pen = f'[penwidth={factor.width:.2f}, color="{factor.colour}"]'
        lines += [f"  {source} -- f{number} {pen};" for source in sources]
        lines.append(f"  f{number} -- {target} {pen};")
    return "\n".join([*lines, "}", ""])


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
