#!/usr/bin/env python3
"""Writes the list of the store's tables into docs/internals/store.md, and checks it.

    Scripts/tables.py           write the list
    Scripts/tables.py --check   check that the list is what would be written

A table is of the type in whose file it is made. That the statements on it stand with that type is checked by
Tests/Store/StorageTests/Tables/StatementTests.swift. Other files of the list have statements that join it.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORAGE = ROOT / "Sources/Store/Storage"
PAGE = ROOT / "docs/internals/store.md"
HEAD = "| SQL table | type | file | other files that name it |\n| --- | --- | --- | --- |\n"

DEFINITION = re.compile(r"\bCREATE (?:/\*unlogged\*/ )?TABLE (?:IF NOT EXISTS )?([a-z_]+) \(")
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)")


def type_of(path):
    return re.split(r"[+.]", path.name)[0]


def rows():
    sources = {path: path.read_text() for path in sorted(STORAGE.rglob("*.swift"))}
    files, tables = {}, defaultdict(list)
    for path, source in sources.items():
        for table in DEFINITION.findall(source):
            files[table] = path
            tables[path].append(table)
    naming = defaultdict(set)
    for path, source in sources.items():
        for table in NAMED.findall(source):
            if table in files and type_of(path) != type_of(files[table]):
                naming[files[table]].add(path)
    for path, names in sorted(tables.items(), key=lambda item: sorted(item[1])[0]):
        others = [
            other.stem if other.parent == path.parent
            else str(other.relative_to(STORAGE).with_suffix(""))
            for other in sorted(naming[path])
        ]
        yield " | ".join([
            "| " + ", ".join(f"`{name}`" for name in names), f"`{type_of(path)}`",
            f"`{path.relative_to(STORAGE)}`",
            (", ".join(f"`{other}`" for other in others) or "–") + " |\n",
        ])


def main():
    page = PAGE.read_text()
    start = page.index(HEAD) + len(HEAD)
    end = page.index("\n\n", start) + 1
    written = page[:start] + "".join(rows()) + page[end:]
    if "--check" in sys.argv[1:]:
        if written != page:
            sys.exit(
                f"tables: the list in {PAGE.relative_to(ROOT)} is not what the sources say; "
                "run Scripts/tables.py and commit the page")
        return
    PAGE.write_text(written)


if __name__ == "__main__":
    main()
