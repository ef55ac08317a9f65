"""The pages of the repository as tests read them: headings with their anchors, links, blocks of code.

Reads text only, with the few rules of Markdown that our pages use; imports nothing of the project.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
OUTSIDE = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    page: Path
    language: str
    text: str

    def lines(self, word: str) -> list[str]:
        """What is typed in it that begins with this word, without prompt; continued lines are joined."""
        joined = self.text.replace("\\\n", " ")
        typed = [line.strip().removeprefix("$ ") for line in joined.splitlines()]
        return [line for line in typed if line.startswith(f"{word} ")]


def pages() -> list[Path]:
    """Every page that is kept in the repository."""
    folders = ("docs", "examples", "src", "tests", ".github")
    return sorted(
        [*REPOSITORY.glob("*.md"), *(page for folder in folders for page in (REPOSITORY / folder).rglob("*.md"))]
    )


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


def blocks(page: Path, language: str | None = None) -> list[CodeBlock]:
    found = [CodeBlock(page, *match.groups()) for match in FENCE.finditer(page.read_text())]
    return [block for block in found if language is None or block.language == language]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)


def headings(text: str) -> list[tuple[int, str]]:
    return [(len(marks), title) for marks, title in HEADING.findall(prose(text))]


def anchors(text: str) -> set[str]:
    """As GitHub and mkdocs name headings."""
    seen: dict[str, int] = {}
    found = set()
    for _, title in headings(text):
        slug = slug_of(title)
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found |= {slug, f"{slug}-{count}", f"{slug}_{count}"} if count else {slug}
    return found | set(re.findall(r"<a id=\"([^\"]+)\"", text))


def slug_of(title: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def links(text: str) -> list[str]:
    """Where a page points to inside the repository."""
    plain = re.sub(r"`[^`\n]*`", "", prose(text))
    targets = [markdown or html for markdown, html in LINK.findall(plain)]
    return [target for target in targets if not target.startswith(OUTSIDE)]
