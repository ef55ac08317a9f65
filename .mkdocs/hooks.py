"""What the site needs beside the documents: pages of the repository's root become pages of it, and links that lead to code become plain words."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PAGES = sorted(page.name for page in ROOT.glob("*.md"))
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files, config):
    for name in PAGES:
        files.append(File.generated(config, f"repository/{name}", content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    known = {file.src_uri for file in files}

    def leads(match):
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        here = page.file.src_uri.removeprefix("repository/")
        start = ROOT if page.file.src_uri.startswith("repository/") else ROOT / "docs" / Path(here).parent
        place = (start / path).resolve().relative_to(ROOT)
        uri = str(place.relative_to("docs")) if place.parts[:1] == ("docs",) else f"repository/{place}"
        uri = f"{uri}/README.md" if f"{uri}/README.md" in known else uri
        if uri not in known:
            return text
        up = "../" * (page.file.src_uri.count("/"))
        return f"[{text}]({up}{uri}{'#' if anchor else ''}{anchor})"

    shown = LINK.sub(leads, markdown)
    return re.sub(r'(srcset|src)="docs/', r'\1="../', shown) if page.file.src_uri.startswith("repository/") else shown
