"""What the linter says, and the rules it says it by."""

from __future__ import annotations

from dataclasses import dataclass

FIGURE, SCENARIO, NUMBER, COUNT = "figure", "scenario", "number", "count"
LIT, COMPARE, CLAIM, FRONT_MATTER = "lit", "compare", "claim", "front-matter"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something an author must mend: where it stands, what it is, what to write instead."""

    line: int
    column: int
    text: str
    rule: str
    says: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {' '.join(self.text.split())}: {self.says}"
