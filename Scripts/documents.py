#!/usr/bin/env python3
"""Checks that what the pages name is there: paths of the repository, and links from page to page.

    Scripts/documents.py

A path is a word in backquotes that begins with a folder of the repository's root, or that ends in
`.swift`: then it may be the end of a longer path. Links are those of Markdown, with their headings.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = "Sources|Tests|Scripts|Examples|deploy|docs"
SPAN = re.compile(r"`([^`\s]+)`")
ROOTED = re.compile(rf"^(?:{FOLDERS})/[\w+./-]*$")
SWIFT = re.compile(r"^[\w+./-]+\.swift$")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
        check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def prose(text):
    """The text with its code blocks blanked, line by line."""
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            yield ""
        else:
            yield "" if inside else line


def slug(heading):
    """The name by which a heading is linked."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(text):
    """The names by which the headings of a page are linked."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for line in prose(text):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            found.add(slug(heading[1]))
    return found


def mistakes_of(page, paths):
    folder = (ROOT / page).parent
    for number, line in enumerate(prose((ROOT / page).read_text()), start=1):
        for span in SPAN.findall(line):
            path = span.rstrip("/.")
            if ROOTED.match(span) and not (ROOT / path).exists():
                yield number, f"there is no {span}"
            elif SWIFT.match(span) and not any(known == span or known.endswith("/" + span) for known in paths):
                yield number, f"there is no file {span}"
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            linked = (folder / file).resolve() if file else ROOT / page
            if not linked.exists():
                yield number, f"links to {file}, which is not there"
            elif anchor and linked.suffix == ".md" and anchor not in anchors(linked.read_text()):
                yield number, f"links to '{target}', which has no such heading"


def main():
    paths = tracked()
    mistakes = [
        f"documents: {page}:{number}: {mistake}"
        for page in paths if page.endswith(".md")
        for number, mistake in mistakes_of(page, paths)
    ]
    if mistakes:
        sys.exit("\n".join(mistakes))


if __name__ == "__main__":
    main()
