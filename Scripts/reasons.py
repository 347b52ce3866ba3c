#!/usr/bin/env python3
"""Checks that what hides a failure or an unchecked promise has its reason beside it.

    Scripts/reasons.py

In Sources each `try?`, `try!`, `fatalError`, `preconditionFailure`, `@unchecked Sendable`,
`nonisolated(unsafe)` and `usleep` has a comment on its line, or on one of the two lines above.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOUBTFUL = re.compile(
    r"\btry[?!]|\bfatalError\(|\bpreconditionFailure\(|@unchecked Sendable|nonisolated\(unsafe\)|\busleep\(")


def mistakes_of(path):
    lines = (ROOT / path).read_text().splitlines()
    for number, line in enumerate(lines):
        found = DOUBTFUL.search(line.split("//")[0])
        if found and "//" not in line and not any(
                other.lstrip().startswith("//") for other in lines[max(0, number - 2):number]):
            yield f"reasons: {path}:{number + 1}: {found[0]} has no comment beside it that says why"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Sources"], cwd=ROOT,
        capture_output=True, text=True, check=True)
    paths = [path for path in listed.stdout.splitlines() if path.endswith(".swift") and (ROOT / path).is_file()]
    mistakes = [mistake for path in paths for mistake in mistakes_of(path)]
    if mistakes:
        sys.exit("\n".join(mistakes))


if __name__ == "__main__":
    main()
