#!/usr/bin/env python3
"""Compares the CloudKit module with the names of Apple's CloudKit in docs/reference/cloudkit-names.txt and with the
declarations in docs/reference/cloudkit-symbols.txt, and writes what it finds to docs/reference/api-coverage.md. The
module must have been built.

usage: Scripts/api_coverage.py [--check] [--build FOLDER]

  --check         change nothing; fail when the page is stale, a name has neither a symbol nor a reason, or a
                  declaration is missing or differs
  --build FOLDER  where `swift build` put the module (default: $BUILD or .build)
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "docs/reference/cloudkit-names.txt"
LIST = ROOT / "docs/reference/cloudkit-symbols.txt"
PAGE = ROOT / "docs/reference/api-coverage.md"
# The sync engine need not be whole for the check to pass.
OPTIONAL_SECTIONS = {"16"}
MODULE = "CloudKit"
# What the module exports as its own.
ENUMERATIONS = "CCloudKitEnumerations"
TYPE_LINE = re.compile(
    r"(?P<kind>class|struct|enum|protocol|extension) (?P<name>[\w.]+)(?: : (?P<supers>.*))?$")


# --- Reading a declaration ---------------------------------------------------------------------


class Canon:
    """One spelling for declarations that mean the same."""

    modifiers = re.compile(
        r"\b(public|open|final|convenience|required|override|mutating|nonmutating)\s+")

    def __init__(self, aliases):
        longest_first = sorted(aliases, key=len, reverse=True)
        self.aliases = [(re.compile(rf"(?<![\w.]){re.escape(a)}(?!\w)"), aliases[a])
                        for a in longest_first]

    def type(self, text):
        for _ in range(3):
            for pattern, target in self.aliases:
                text = pattern.sub(target, text)
        return text

    def declaration(self, text):
        text = text.replace("`", "").replace("any ", "")
        text = re.sub(r"@(?!escaping\b|Sendable\b)\w+(\([^)]*\))?\s*", "", text)
        text = self.modifiers.sub("", text)
        text = re.sub(r"\bclass (func|var|let)\b", r"static \1", text)
        if re.match(r"(static )?let ", text):
            text = text.replace("let ", "var ", 1) + " { get }"
        elif re.match(r"(static )?var ", text) and not text.rstrip().endswith("}"):
            text += " { get set }"
        generic = re.match(r"[^(<]*<(\w+)>", text)
        if generic:
            text = re.sub(rf"\b{generic[1]}\b(?!<)", "T", text)
        # What a parameter is called inside does not count.
        text = re.sub(r"([(,]\s*)(\w+) \w+:", r"\1\2:", text)
        text = self.type(text)
        text = re.sub(r"\((\w+)\)\?", r"\1?", text)
        text = re.sub(r"\s*([^\w\s@])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()
        return text.replace(",]", "]")


def base_name(declaration):
    """The name with the labels, as symbol graphs have it: `fetch(withRecordID:completionHandler:)`."""
    text = declaration.replace("`", "")
    text = re.sub(r"@\w+(\([^)]*\))?\s*", "", text)
    match = re.search(r"\b(func|init|subscript|var|let|case|typealias)\b\s*(\w+)?", text)
    keyword, name = match[1], match[2]
    if keyword == "case" and "(" in text:
        values = re.sub(r"\[[^\]]*\]", "", text[text.index("(") + 1 : text.rindex(")")]).split(",")
        labels = [re.match(r"\s*(?:(\w+):)?", value)[1] or "_" for value in values]
        return f"{name}({''.join(label + ':' for label in labels)})"
    if keyword in ("var", "let", "case", "typealias"):
        return name
    name = name if keyword == "func" else keyword
    start = text.index("(", match.start())
    depth, labels, part = 0, [], ""
    for character in text[start:]:
        if character in "([{":
            depth += 1
        if depth == 1 and character in "(,":
            part = ""
        elif depth == 1 and character == ":" and part is not None:
            labels.append(part.split()[0])
            part = None
        elif part is not None:
            part += character
        if character in ")]}":
            depth -= 1
            if depth == 0:
                break
    if keyword == "subscript":
        return "subscript"
    return f"{name}({''.join(label + ':' for label in labels)})"


# --- The names ---------------------------------------------------------------------------------


class Section:
    """A section of the list of names. Without a reason, the module must have its names."""

    kinds = {
        "documented": "Apple's documentation", "interface": "Swift interfaces of later SDKs",
        "former": "headers of earlier SDKs", "absent": "absent", "hidden": "not visible in Swift",
    }

    def __init__(self, heading):
        self.kind, _, self.reason = heading.partition(": ")
        if self.kind not in self.kinds or (self.kind in ("absent", "hidden")) != bool(self.reason):
            sys.exit(f"api_coverage: unknown section '{heading}' in {NAMES.name}")
        self.names = []  # (name, [what the type inherits and conforms to])


def read_names():
    sections, seen = [], set()
    for line in NAMES.read_text().splitlines():
        if line.startswith("## "):
            sections.append(Section(line[3:]))
        elif line and not line.startswith("#"):
            name, _, supers = line.partition(" : ")
            if name in seen:
                sys.exit(f"api_coverage: {name} stands twice in {NAMES.name}")
            seen.add(name)
            sections[-1].names.append((name, supers.split(", ") if supers else []))
    return sections


class Names:
    """Finds out which names the module has."""

    def __init__(self, module):
        self.module = module
        self.canon = Canon(aliases(module))

    def has(self, name):
        if name in self.module.types or self.canon.type(name) in self.module.types:
            return True
        head = name.split("(")[0]
        owner = head.rpartition(".")[0]
        member = name[len(owner) + 1 :] if owner else name
        if member.startswith("subscript("):
            member = "subscript"
        owners = self.module.lineage(self.canon.type(owner)) if owner else [""]
        return bool(IMPLIED_MEMBERS.get(member, set()) & set(owners)) or any(
            self.module.members.get((parent, member)) for parent in owners)

    def lacks(self, name, supers):
        """Returns which of these the type neither inherits nor conforms to."""
        lineage = set(self.module.lineage(self.canon.type(name)))
        return [parent for parent in supers if self.canon.type(parent) not in lineage]


# Members that the graph leaves out, with the protocols that require them.
IMPLIED_MEMBERS = {
    "rawValue": {"RawRepresentable"}, "Element": {"Sequence", "IteratorProtocol"},
    "Iterator": {"Sequence"},
}


def compare_names(sections, module):
    """What is wrong with each name, as texts."""
    names, wrong = Names(module), []
    for section in sections:
        for name, supers in section.names:
            if section.reason:
                if names.has(name):
                    wrong.append(f"`{name}` has a symbol, although it is listed as {section.kind}")
            elif not names.has(name):
                wrong.append(f"`{name}` has neither a symbol nor a reason")
            else:
                wrong += [f"`{name}` is no {parent} here" for parent in names.lacks(name, supers)]
    return wrong


# --- The declarations and the module -----------------------------------------------------------


class Wanted:
    def __init__(self, section, owner, text, deprecated, type_match=None, of_deprecated=False):
        self.section, self.owner, self.text = section, owner, text
        self.deprecated, self.type_match = deprecated, type_match
        # Members of a deprecated type may be marked too.
        self.of_deprecated = of_deprecated

    @property
    def title(self):
        if self.type_match:
            return self.text.split(" : ")[0]
        return f"{self.owner}: {self.text}" if self.owner else self.text


def read_list():
    wanted, section, owner, owner_deprecated = [], "", None, False
    for line in LIST.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
            continue
        if not line.strip() or line.startswith("#"):
            continue
        text = line.strip()
        deprecated = text.startswith("deprecated ")
        text = text.removeprefix("deprecated ")
        if line.startswith(" "):
            wanted.append(Wanted(section, owner, text, deprecated, None, owner_deprecated))
            continue
        match = TYPE_LINE.match(text)
        owner_deprecated = deprecated
        owner = match["name"] if match else None
        if not match or match["kind"] != "extension":
            wanted.append(Wanted(section, None, text, deprecated, match))
    return wanted


class Module:
    def __init__(self, build):
        self.members = defaultdict(list)  # (owner, name) -> symbols
        self.types = {}
        self.supers = defaultdict(set)
        names = {}
        relations = []
        for graph in self.graphs(build):
            for symbol in graph["symbols"]:
                path = ".".join(symbol["pathComponents"])
                names.setdefault(symbol["identifier"]["precise"], path)
                kind = symbol["kind"]["identifier"].removeprefix("swift.")
                if kind in ("class", "struct", "enum", "protocol", "typealias"):
                    self.types[path] = symbol
                owner = ".".join(symbol["pathComponents"][:-1])
                name = symbol["pathComponents"][-1].replace("`", "")
                if kind == "subscript":
                    name = "subscript"
                self.members[(owner, name)].append(symbol)
            relations += graph["relationships"]
        for relation in relations:
            source = names.get(relation["source"])
            if source is None or relation["kind"] not in ("conformsTo", "inheritsFrom"):
                continue
            target = names.get(relation["target"]) or relation.get("targetFallback", "")
            self.supers[source].add(target.split(".")[-1] if target not in self.types else target)

    @staticmethod
    def graphs(build):
        modules = next(
            (path for path in (build / "debug/Modules", build / "release/Modules")
             if (path / f"{MODULE}.swiftmodule").exists()), None)
        if modules is None:
            sys.exit(f"api_coverage: {MODULE} is not built in {build}; run 'swift build' first")
        info = json.loads(subprocess.run(
            ["swiftc", "-print-target-info"], capture_output=True, check=True).stdout)
        maps = [f"{ROOT}/Sources/Client/{ENUMERATIONS}/module.modulemap",
                # The module imports it, for itself alone.
                f"{ROOT}/Sources/System/CCurl/module.modulemap"]
        clang = [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
        with tempfile.TemporaryDirectory() as folder:
            for module in (MODULE, ENUMERATIONS):
                subprocess.run(
                    ["swift", "symbolgraph-extract", "-module-name", module, "-I", str(modules),
                     "-target", info["target"]["unversionedTriple"], "-output-dir", folder,
                     "-minimum-access-level", "public", *clang],
                    capture_output=True, check=True)
            return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]

    def lineage(self, owner):
        """The type, then all that it inherits from and conforms to."""
        found, waiting = [], [owner]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found.append(name)
                waiting += sorted(self.supers.get(name, ()))
        return found


def declaration_of(symbol):
    return "".join(part["spelling"] for part in symbol["declarationFragments"])


def is_deprecated(symbol):
    return any(
        entry.get("isUnconditionallyDeprecated") for entry in symbol.get("availability", []))


# --- Comparing ---------------------------------------------------------------------------------


def aliases(module):
    """What the other names of a type mean."""
    alias = {
        "TimeInterval": "Double", "Notification.Name": "NSNotification.Name",
        "CKRecordValue": "CKRecordValueProtocol",
        "__CKRecordObjCValue": "CKRecordValueProtocol",
    }
    for path, symbol in module.types.items():
        text = declaration_of(symbol)
        if symbol["kind"]["identifier"] == "swift.typealias" and " = " in text:
            alias[path] = text.split(" = ")[1].replace("any ", "")
    return alias


def compare(wanted, module):
    """What is missing and what differs, as (wanted, text) pairs."""
    canon = Canon(aliases(module))
    missing, different = [], []

    def check_deprecation(item, symbol):
        if item.deprecated and not is_deprecated(symbol):
            different.append((item, "is not deprecated here"))
        elif is_deprecated(symbol) and not (item.deprecated or item.of_deprecated):
            different.append((item, "is deprecated here alone"))

    for item in wanted:
        if item.type_match:
            name = canon.type(item.type_match["name"])
            symbol = module.types.get(name)
            if symbol is None:
                missing.append(item)
                continue
            if symbol["kind"]["identifier"] != "swift." + item.type_match["kind"]:
                different.append((item, f"is a {symbol['kind']['identifier'].removeprefix('swift.')}"))
            lineage = set(module.lineage(name))
            supers = (item.type_match["supers"] or "").replace("Codable", "Decodable, Encodable")
            for parent in supers.split(", "):
                # A constraint to classes is no relationship of the graph.
                if parent == "AnyObject" and parent in declaration_of(symbol):
                    continue
                # A raw type shows in init(rawValue:), which the list has too.
                if parent and parent not in ("Int", "UInt") and canon.type(parent) not in lineage:
                    different.append((item, f"is no {parent} here"))
            # Aliased classes bear the old name themselves, which cannot be deprecated.
            check_deprecation(item, module.types.get(item.type_match["name"], symbol))
            continue
        owner = canon.type(item.owner) if item.owner else ""
        name = base_name(item.text)
        candidates = [
            symbol for parent in (module.lineage(owner) if owner else [""])
            for symbol in module.members.get((parent, name), [])]
        if not candidates and owner == "NSNotification.Name":
            candidates = module.members.get(("Name", name), [])
        if not candidates:
            missing.append(item)
            continue
        expected = canon.declaration(item.text)
        same = [s for s in candidates if canon.declaration(declaration_of(s)) == expected]
        if same:
            check_deprecation(item, next((s for s in same if is_deprecated(s)), same[0])
                              if item.deprecated else same[0])
        else:
            different.append((item, f"here: `{declaration_of(candidates[0])}`"))
    return missing, different


def sentence(text):
    return text[0].upper() + text[1:]


def page(sections, wrong, wanted, missing, different):
    lines = [
        "# What of Apple's CloudKit is here", "",
        "`make api` writes this page. It compares the module's symbols with two lists, for Apple's module cannot be read on Linux. "
        "`make test` fails when the page is stale, or when a name has neither a symbol nor a reason.", "",
        "## Names", "",
        "The list `docs/reference/cloudkit-names.txt` has the names of Apple's CloudKit as Swift code sees them: those of "
        "the pages of Apple's documentation, further ones of the Swift interfaces of Apple's SDKs, and those that earlier SDKs had. "
        "A name with several declarations counts once. What types of Foundation conform to is left out.", "",
        "| names of | names | present | absent, with a reason | not visible in Swift |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    counts = {kind: sum(len(s.names) for s in sections if s.kind == kind) for kind in Section.kinds}
    for kind in ("documented", "interface", "former"):
        lines.append(f"| {Section.kinds[kind]} | {counts[kind]} | {counts[kind]} | | |")
    for kind, columns in (("absent", "| {} | |"), ("hidden", "| | {} |")):
        reasons = sum(s.kind == kind for s in sections)
        lines.append(
            f"| {Section.kinds[kind]}: {reasons} reasons | {counts[kind]} | " + columns.format(counts[kind]))
    here = sum(counts[kind] for kind in ("documented", "interface", "former"))
    lines.append(f"| all | {here + counts['absent'] + counts['hidden']} | {here} | {counts['absent']} | {counts['hidden']} |")
    for kind in ("absent", "hidden"):
        lines += ["", f"### {sentence(Section.kinds[kind])}", "", "| name | reason |", "| --- | --- |"]
        lines += [
            f"| `{name}` | {section.reason} |" for section in sections if section.kind == kind
            for name, _ in section.names]
    if wrong:
        lines += ["", "### Wrong", ""] + [f"- {text}" for text in wrong]
    lines += [
        "", "## Declarations", "",
        "The list `docs/reference/cloudkit-symbols.txt` has declarations, written by hand from Apple's documentation. "
        "Compared are names, labels, types, optionality, default arguments, `async` and `throws`, accessors, inheritance and "
        "deprecation. What a symbol does is not compared.", "",
        "| section | symbols | missing | different |", "| --- | ---: | ---: | ---: |",
    ]
    titles = list(dict.fromkeys(item.section for item in wanted))
    for section in titles:
        count = lambda items: sum(item.section == section for item in items)
        lines.append(
            f"| {section} {TITLES.get(section, '')} | {count(wanted)} | {count(missing)} "
            f"| {count([item for item, _ in different])} |")
    lines.append(f"| all | {len(wanted)} | {len(missing)} | {len(different)} |")
    if missing:
        lines += ["", "### Missing", ""]
        lines += [f"- {item.section}: `{item.title}`" for item in missing]
    if different:
        lines += ["", "### Different", ""]
        lines += [f"- {item.section}: `{item.title}` {text}" for item, text in different]
    return "\n".join(lines) + "\n"


TITLES = {
    "1": "subscriptions", "2": "notifications", "5": "subscription operations",
    "6": "notification log", "7": "CKDatabase", "8": "CKContainer", "9": "records",
    "10": "queries", "11": "record and zone operations", "12": "CKOperation", "13": "errors",
    "15": "sharing", "16": "CKSyncEngine", "17": "constants and old names", "18": "predicates and sort descriptors",
    "19": "web auth tokens",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", default=os.environ.get("BUILD", ".build"))
    arguments = parser.parse_args()
    sections, wanted, module = read_names(), read_list(), Module(ROOT / arguments.build)
    wrong = compare_names(sections, module)
    missing, different = compare(wanted, module)
    text = page(sections, wrong, wanted, missing, different)
    if not arguments.check:
        PAGE.write_text(text)
        print(
            f"{sum(len(section.names) for section in sections)} names, {len(wrong)} wrong; "
            f"{len(wanted)} declarations, {len(missing)} missing, {len(different)} different")
        return 0
    failed = bool(wrong)
    for problem in wrong:
        print(f"name: {problem}")
    if not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is stale: run 'make api'")
        failed = True
    for item in missing:
        if item.section not in OPTIONAL_SECTIONS:
            print(f"missing: {item.title}")
            failed = True
    for item, reason in different:
        if item.section not in OPTIONAL_SECTIONS:
            print(f"different: {item.title}: {reason}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
