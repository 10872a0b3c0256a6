"""Figures of repeated measurements, and the table that is printed of them."""
import dataclasses
import statistics


@dataclasses.dataclass
class Figure:
    """What was measured again and again, in one unit."""
    unit: str
    values: list[float] = dataclasses.field(default_factory=list)

    def add(self, value: float) -> None:
        self.values.append(value)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        middle, low, high = (_number(value) for value in (self.median, min(self.values), max(self.values)))
        return f"{middle} {self.unit}" + (f" ({low} to {high})" if len(self.values) > 1 else "")


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def ratio(above: Figure, below: Figure) -> Figure:
    """Pair by pair: what ran in turn is compared with its neighbour. Unequal counts compare medians."""
    if len(above.values) != len(below.values):
        return Figure("x", [above.median / below.median])
    return Figure("x", [a / b for a, b in zip(above.values, below.values)])


@dataclasses.dataclass
class Line:
    """One row of the table. `judged` is held against the reach: at least (or at most) `reach`."""
    what: str
    ours: Figure
    judged: Figure
    reach: float
    at_most: bool = False
    peer: str = ""
    peer_figure: Figure | None = None

    @property
    def is_reached(self) -> bool:
        return self.judged.median <= self.reach if self.at_most else self.judged.median >= self.reach

    def cells(self, judged: bool) -> list[str]:
        bound = f"{'<=' if self.at_most else '>='} {_number(self.reach)} {self.judged.unit}"
        peer = f"{self.peer}: {self.peer_figure}" if self.peer_figure else self.peer
        measured = str(self.judged) if self.judged is not self.ours else ""
        verdict = ("reached" if self.is_reached else "MISSED") if judged else "-"
        return [self.what, str(self.ours), peer, measured, bound, verdict]


HEAD = ["what", "flow", "peer", "ratio", "reach", "verdict"]


def table(lines: list[Line], judged: bool) -> str:
    """As Markdown, so that it can go into docs/performance.md as it is."""
    cells = [HEAD, *(line.cells(judged) for line in lines)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    rows = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in cells]
    return "\n".join([rows[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *rows[1:]])
