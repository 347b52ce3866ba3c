#!/usr/bin/env python3
"""Writes docs/internals/sbom.cdx.json, the bill of materials in CycloneDX 1.5, from docs/internals/dependencies.md.

    Scripts/sbom.py           write it, with the versions that are installed here
    Scripts/sbom.py --check   check that the tables, the file, Package.swift, Scripts/setup.sh and
                              Scripts/requirements.txt name the same; versions of Debian may differ
"""

import hashlib
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "docs/internals/dependencies.md"
SBOM = ROOT / "docs/internals/sbom.cdx.json"
# Packages of the server and of Swift that Scripts/setup.sh lists under another heading.
RUNTIME = {"ca-certificates", "tzdata", "libsqlite3-0", "libcurl4"}


def read_table(heading):
    """The rows of the table below a heading, each by the names of its columns."""
    section = TABLES.read_text().split(f"\n## {heading}\n", 1)
    if len(section) != 2:
        sys.exit(f"sbom: {TABLES.name} has no '{heading}'")
    lines = [line for line in section[1].split("\n## ", 1)[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def installed(package):
    """The version of a Debian package that is installed here; None without one."""
    try:
        asked = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version}", package],
            capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return asked.stdout.strip() or None if asked.returncode == 0 else None


def component(name, licence, purpose, scope, version=None, debian=None, pypi=None, exposure=None):
    entry = {"type": "library", "bom-ref": f"{'pypi' if pypi else 'deb' if debian else 'other'}:{name}",
             "name": name, "scope": scope, "description": purpose}
    if debian:
        version = installed(debian) or version
        entry["purl"] = f"pkg:deb/debian/{debian.replace('+', '%2B')}" + (
            f"@{version.replace('+', '%2B')}" if version else "") + "?distro=bookworm"
    elif pypi:
        entry["purl"] = f"pkg:pypi/{name.lower()}@{version}"
    if version:
        entry["version"] = version
    if " WITH " in licence:
        entry["licenses"] = [{"expression": licence}]
    elif licence.startswith("LicenseRef"):
        entry["licenses"] = [{"license": {"name": licence.removeprefix("LicenseRef-")}}]
    else:
        entry["licenses"] = [{"license": {"id": licence}}]
    if exposure and exposure != "–":
        entry["properties"] = [{"name": "petrel:exposed-to", "value": exposure}]
    return entry


def components():
    result = []
    for row in read_table("In the server"):
        package = row["package"] if row["package"] != "–" else None
        result.append(component(
            package or row["library"], row["licence"], row["for"], "required", row["version"],
            debian=package, exposure=row["what reaches it"]))
    for row in read_table("For building"):
        result.append(component(
            row["package"], row["licence"], row["for"], "excluded", debian=row["package"]))
    for row in read_table("For tests and benchmarks"):
        is_debian = row["version"] == "Debian's"
        result.append(component(
            row["package"], row["licence"], row["for"], "excluded",
            None if is_debian else row["version"], debian=row["package"] if is_debian else None,
            pypi=not is_debian))
    return result


def program():
    source = (ROOT / "Sources/Server/Configuration/ServerVersion.swift").read_text()
    version = re.search(r'static let current = "([^"]+)"', source).group(1)
    return {"type": "application", "bom-ref": "petrel", "name": "petrel", "version": version,
            "description": "A server for CloudKit apps, and its client",
            "licenses": [{"license": {"id": "Apache-2.0"}}]}


def document():
    parts = components()
    needed = [part["bom-ref"] for part in parts if part["scope"] == "required"]
    text = json.dumps(parts, sort_keys=True)
    # The same materials have the same number.
    serial = uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX",
        "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
        "metadata": {"component": program()}, "components": parts,
        "dependencies": [{"ref": "petrel", "dependsOn": needed}]
        + [{"ref": reference} for reference in needed],
    }


def check():
    """What does not agree, one line for each."""
    faults = []

    def compare(what, named, tables):
        faults.extend(f"{what} has '{name}', docs/internals/dependencies.md has not" for name in named - tables)
        faults.extend(f"docs/internals/dependencies.md has '{name}', {what} has not" for name in tables - named)

    server, building, testing = (
        read_table(name) for name in ("In the server", "For building", "For tests and benchmarks"))
    package = re.sub(r"\s+", " ", (ROOT / "Package.swift").read_text())
    libraries = set(re.findall(
        r'library\( ?"(\w+)", "([\w.-]+)", from: "([^"]+)"\)', package))
    # Twice in the function that makes them.
    if package.count("pkgConfig:") != 2:
        faults.append("Package.swift has a library with pkgConfig that is not written as the others")
    compare("Package.swift", {(module, library) for module, library, _ in libraries},
            {(row["module"], row["library"]) for row in server if row["module"] != "–"})
    if ".package(" in package:
        faults.append("Package.swift depends on a package, docs/internals/dependencies.md says that none is")
    for list_name, ours in [
            ("server_packages", {row["package"] for row in building}),
            ("test_packages", {row["package"] for row in testing if row["version"] == "Debian's"} - {"prometheus", "pgbouncer"})]:
        packages = re.search(rf'\n{list_name}="\n(.*?)"', (ROOT / "Scripts/setup.sh").read_text(), re.S)
        compare(f"Scripts/setup.sh, {list_name},", set(packages.group(1).split()) - RUNTIME, ours)
    headers = {header for _, _, header in libraries}
    faults.extend(
        f"Scripts/setup.sh does not install {name}" for name in headers - {row["package"] for row in building})
    pinned = {tuple(line.split("==")) for line in
              (ROOT / "Scripts/requirements.txt").read_text().splitlines()
              if line and not line.startswith("#")}
    compare("Scripts/requirements.txt", pinned,
            {(row["package"], row["version"]) for row in testing if row["version"] != "Debian's"})

    # Of Debian's packages the version is that of the machine it was written on.
    def core(parts):
        return {(part["name"], part["description"], part["scope"], json.dumps(part["licenses"]),
                 json.dumps(part.get("properties")),
                 None if part.get("purl", "").startswith("pkg:deb") else part.get("version"))
                for part in parts}

    try:
        written = json.loads(SBOM.read_text())
    except (OSError, ValueError) as error:
        return faults + [f"docs/internals/sbom.cdx.json cannot be read: {error}"]
    for part in core(written["components"]) ^ core(components()):
        faults.append(f"docs/internals/sbom.cdx.json is not what would be written: {part[0]}")
    if written["metadata"]["component"] != program():
        faults.append("docs/internals/sbom.cdx.json is of another version of petrel")
    return faults


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = sorted(set(check()))
        for fault in found:
            print(f"sbom: {fault}", file=sys.stderr)
        sys.exit(1 if found else 0)
    elif sys.argv[1:]:
        sys.exit(__doc__)
    SBOM.write_text(json.dumps(document(), indent=2, ensure_ascii=False) + "\n")
