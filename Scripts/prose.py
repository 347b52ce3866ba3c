#!/usr/bin/env python3
"""Checks the prose of the sources and the pages, so that what was cleaned up stays clean.

    Scripts/prose.py                 checks everything, and fails on a finding
    Scripts/prose.py PATH ...        checks these files and folders, and prints the share of their comments

The rules:

    word        a comment, a page or the name of a declaration uses a word that docs/internals/glossary.md replaces
    sentence    a sentence of a comment or a page has more than 28 words
    opening     a doc comment begins with a relative clause ("What …", "Who …", "Those …") in place of a noun or a verb
    public      a public declaration of `Sources/` has no doc comment
    type        a type of `Sources/` has no doc comment
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_SENTENCE = 28

# What is not written, and what is written in its place.
WORDS = [
    (r"yardsticks?", "baseline"),
    (r"trials?", "dry run, test, simulation"),
    (r"desks?", "queue"),
    (r"(?:shelf|shelves)", "cache"),
    (r"presence", "membership, heartbeat"),
    (r"(?:told|tells?|telling)", "reports, notifies, informs, says, shows, distinguishes"),
    (r"(?:hears?|heard) of", "learns of, receives"),
    (r"gives? word", "notifies"),
    (r"for want of", "without, because there is no"),
    (r"lest", "so that … not"),
    (r"(?:whither|whence|wherein|whereby|thereof|therein|hereby)", "where, how"),
    (r"(?:strange|strangers)", "unknown, foreign"),
    (r"foresight", "estimate"),
    (r"reluctan(?:ce|t)", "the rule's own name"),
    (r"befits?", "fits"),
    (r"has it made", "the actor and the verb"),
]
WORD_RULES = [(re.compile(rf"(?<![\w`\-]){pattern}(?![\w`\-])", re.IGNORECASE), better) for pattern, better in WORDS]
NAME_WORDS = re.compile(
    r"(?:Yardstick|yardstick|Trial(?![a-z])|trial(?![a-z])|Desk(?![a-z])|Shelf|shelf|Told(?![a-z])|told(?![a-z])"
    r"|[Tt]ells?(?=[A-Z(:]|$)|Presence|Foresight|foresight|Reluctance|reluctance)")

OPENING = re.compile(r"/// (?:What|Who|Whose|Those|That)\b")

MODIFIERS = (
    r"(?:(?:public|open|package|internal|private|fileprivate|static|class|final|nonisolated(?:\(unsafe\))?|mutating"
    r"|indirect|override|convenience|required|lazy|weak|unowned|dynamic|prefix|postfix|infix|isolated"
    r"|(?:public|package|internal|private|fileprivate)\(set\)"
    r"|@[A-Za-z]+(?:\([^)]*\))?)\s+)*")
DECLARATION = re.compile(
    rf"^(?P<modifiers>{MODIFIERS})(?P<kind>struct|class|enum|actor|protocol|func|var|let|init|case|typealias|subscript"
    r"|associatedtype)\b(?P<rest>.*)")
TYPES = {"struct", "class", "enum", "actor", "protocol"}
# Requirements of the standard library's protocols, and the statements of a table, say by their names what they are.
WITNESSES = re.compile(
    r"^\s*(?:==|<(?!\w)|hash\b|encode\(to |description\b|debugDescription\b|errorDescription\b|recoverySuggestion\b"
    r"|failureReason\b|customMirror\b|rawValue\b|allCases\b|supportsSecureCoding\b|encode\(with |makeIterator\b"
    r"|makeAsyncIterator\b|next\b|hashValue\b|errorDomain\b|errorCode\b|errorUserInfo\b|CodingKeys\b|Element\b"
    r"|AsyncIterator\b|\w*Statements \{|startIndex\b|endIndex\b|index\(|id\b(?=:))")
WITNESS_INITS = re.compile(r"^\??\((?:from decoder|coder|rawValue|_ description|(?:string|integer|array|dictionary|float|boolean)Literal)\b")


class Finding:
    def __init__(self, path, line, rule, text):
        self.path, self.line, self.rule, self.text = path, line, rule, text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
        check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def comments(text):
    """The comments of a source file, as (line number, text without the slashes); None ends a comment."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.match(r"\s*///? ?(.*)", line)
        if not match:
            inside = False
            yield number, None
            continue
        body = match[1]
        if body.lstrip().startswith("```"):
            inside = not inside
            yield number, None
        elif inside or body.startswith("    "):
            yield number, None
        else:
            yield number, body


def page_lines(text):
    """The lines of a page's prose, as (line number, text); None for code, tables, headings and empty lines."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside
            yield number, None
        elif inside or re.match(r"(?:    |\t|#|\||<|\[\w)", line) or not line.strip():
            yield number, None
        else:
            yield number, line


def paragraphs(lines):
    """The paragraphs of prose, each with the number of its first line."""
    first, words = 0, []
    for number, line in lines:
        starts = line is not None and re.match(r"\s*(?:[-*] |\d+\. |> )", line)
        if line is None or not line.strip() or starts:
            if words:
                yield first, " ".join(words)
            first, words = number, []
        if line is not None and line.strip():
            if not words:
                first = number
            words.append(re.sub(r"^\s*(?:[-*] |\d+\. |> )", "", line).strip())
    if words:
        yield first, " ".join(words)


def sentences(paragraph):
    plain = re.sub(r"``?[^`]*``?", "code", paragraph)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"\b(?:e\.g|i\.e|vs|no|cf|RFC \d+)\.", "abbreviation", plain)
    return re.split(r"(?<=[.!?:;])[\"')”*]*\s+", plain)


def prose_findings(path, lines):
    for first, paragraph in paragraphs(lines):
        for sentence in sentences(paragraph):
            count = len(re.findall(r"[\w’'\-–/.]+", sentence))
            if count > LONGEST_SENTENCE:
                yield Finding(path, first, "sentence", f"{count} words: {sentence}")


def opening_findings(path, text):
    before = ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if OPENING.match(stripped) and not before.startswith("///"):
            yield Finding(path, number, "opening", stripped)
        before = stripped


def word_findings(path, lines):
    for number, line in lines:
        if line is None:
            continue
        plain = re.sub(r"`[^`]*`", "", line)
        for pattern, better in WORD_RULES:
            match = pattern.search(plain)
            if match:
                yield Finding(path, number, "word", f"'{match[0]}' (rather: {better}): {line.strip()}")


def declaration_findings(path, text):
    """Public declarations and types without a doc comment, and names with words of the list."""
    documented = False
    string, attribute = False, 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if string:
            string = '"""' not in stripped
            continue
        if stripped.count('"""') == 1:
            string = True
        if stripped.startswith("///"):
            documented = True
            continue
        if attribute > 0 or stripped.startswith(("//", "@", "#")) and not DECLARATION.match(stripped):
            # An attribute may go over several lines.
            attribute += stripped.count("(") - stripped.count(")") if not stripped.startswith(("//", "#")) else 0
            continue
        match = DECLARATION.match(stripped)
        if match:
            modifiers, kind, rest = match["modifiers"], match["kind"], match["rest"]
            if kind == "class" and re.match(r"\s*(?:func|var|let)\b", rest):
                kind, rest = re.match(r"\s*(func|var|let)\b(.*)", rest).groups()
            public = re.search(r"\b(?:public|open)\b(?!\()", modifiers) is not None
            excused = "override" in modifiers or WITNESSES.match(rest) or (
                kind == "init" and WITNESS_INITS.match(rest))
            if not documented and not excused:
                if public:
                    yield Finding(path, number, "public", stripped)
                elif kind in TYPES:
                    yield Finding(path, number, "type", stripped)
            name = re.match(r"\s*`?(\w+)", rest)
            if name and kind != "init" and NAME_WORDS.search(name[1]):
                yield Finding(path, number, "word", f"in a name: {stripped}")
        if stripped:
            documented = False


def findings_of(path):
    text = (ROOT / path).read_text()
    if path.endswith(".swift"):
        lines = list(comments(text))
        yield from word_findings(path, lines)
        yield from prose_findings(path, lines)
        yield from opening_findings(path, text)
        if path.startswith("Sources/"):
            yield from declaration_findings(path, text)
    else:
        lines = list(page_lines(text))
        yield from word_findings(path, lines)
        yield from prose_findings(path, lines)


def checked(path):
    return path.endswith(".swift") and not path.startswith("Package") or path.endswith(".md")


def main():
    named = [str(Path(path).resolve().relative_to(ROOT)) for path in sys.argv[1:]]
    chosen = [
        path for path in tracked()
        if checked(path) and (not named or any(path == one or path.startswith(one + "/") for one in named))]
    found = [finding for path in chosen for finding in findings_of(path)]
    for finding in found:
        print(finding)
    if named:
        texts = [(ROOT / path).read_text() for path in chosen]
        lines = max(1, sum(text.count("\n") for text in texts))
        count = sum(len(re.findall(r"^\s*//", text, re.MULTILINE)) for text in texts)
        print(f"{len(chosen)} files, {lines} lines, {100 * count / lines:.1f} % comments, {len(found)} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
