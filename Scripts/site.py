#!/usr/bin/env python3
"""Builds the documentation site with the toolchain's docc: the pages of docs/, and the modules CloudKit and PetrelTesting.

    Scripts/site.py --build .build      writes .build/site/public; the modules must have been built

docc fails on a link that leads nowhere, on a symbol that is not there, and on a tutorial whose files are missing.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from documents import slug

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CATALOGS = {
    "CloudKit": ROOT / "Sources/Client/CloudKit/CloudKit.docc",
    "PetrelTesting": ROOT / "Sources/Testing/PetrelTesting/PetrelTesting.docc",
}
FOLDERS = {"guide": "Guide", "reference": "Reference", "operate": "Operating a server", "internals": "Internals"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


def fragment(heading):
    """The name by which docc links a heading."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[`'\"*]", "", re.sub(r"\s+", "-", plain.strip()))


def name(page):
    """The name of a page in the catalog: the path with dashes, so that names are unique."""
    relative = page.relative_to(DOCS).with_suffix("")
    if relative.name == "README":
        return "-".join(("index", *relative.parts[:-1]))
    return "-".join(relative.parts)


def outside_code(text, change):
    """Changes the lines of a page that are not in code blocks; code spans stay as they are."""
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        yield line if inside or line.startswith("    ") and not line.lstrip().startswith(("-", "*")) else change(line)


def headings(page):
    found = {}
    for line in outside_code(page.read_text(), lambda line: line):
        match = re.match(r"#+ (.*)", line)
        if match:
            found[slug(match[1])] = fragment(match[1])
    return found


class Pages:
    """The pages of docs/ as a catalog."""

    def __init__(self, catalog):
        self.catalog = catalog
        self.pages = sorted(DOCS.rglob("*.md"))
        self.headings = {page: headings(page) for page in self.pages}
        self.files = set()

    def write(self):
        for page in self.pages:
            text = "\n".join(outside_code(page.read_text(), lambda line: LINK.sub(lambda m: self.link(page, m), line)))
            if page == DOCS / "README.md":
                text = text.replace("\n", "\n\n@Metadata {\n  @TechnologyRoot\n}\n", 1) + "\n\n## Topics\n"
                for folder, title in FOLDERS.items():
                    text += f"\n### {title}\n\n- <doc:index-{folder}>\n"
            elif page.name == "README.md":
                text += "\n\n## Topics\n\n### Pages\n\n" + "".join(
                    f"- <doc:{name(other)}>\n" for other in self.pages
                    if other.parent == page.parent and other != page)
            (self.catalog / f"{name(page)}.md").write_text(text)

    def link(self, page, match):
        image, label, target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        file = (page.parent / target).resolve() if target else page
        if file.is_dir() and (file / "README.md") in self.headings:
            file /= "README.md"
        if image:
            shutil.copy(file, self.catalog / file.name)
            return f"![{label}]({file.name})"
        if file in self.headings:
            end = f"#{self.headings[file][anchor]}" if anchor else ""
            return f"[{label}](doc:{name(file)}{end})"
        if file.is_relative_to(DOCS):
            self.files.add(file)
            return f"[{label}](/files/{file.name})"
        # A file of the repository, which the site does not have.
        return label


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def symbols(module, build, folder):
    folder.mkdir(parents=True)
    found = [*(ROOT / "Sources").rglob("module.modulemap"), *(build / "debug").glob("*.build/module.modulemap")]
    maps = [f"-fmodule-map-file={path}" for path in sorted(found)]
    postgresql = subprocess.run(["pkg-config", "--cflags-only-I", "libpq"], capture_output=True, text=True, check=True)
    options = [word for flag in maps + postgresql.stdout.split() for word in ("-Xcc", flag)]
    triple = subprocess.run(
        ["swift", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    triple = re.search(r'"unversionedTriple"\s*:\s*"([^"]+)"', triple)[1]
    run("swift", "symbolgraph-extract", "-module-name", module, "-I", build / "debug/Modules", "-target", triple,
        "-output-dir", folder, "-minimum-access-level", "public", "-skip-inherited-docs", *options)


def convert(catalog, output, *options):
    # A comment may describe some of the parameters: the names of the others say enough.
    run("docc", "convert", catalog, "--output-path", output, "--warnings-as-errors",
        "--no-transform-for-static-hosting", "--disable-parameters-and-returns-validation", *options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=".build", type=Path)
    build = parser.parse_args().build.resolve()
    site = build / "site"
    shutil.rmtree(site, ignore_errors=True)
    catalog = site / "Petrel.docc"
    catalog.mkdir(parents=True)
    pages = Pages(catalog)
    pages.write()
    convert(catalog, site / "Petrel.doccarchive", "--fallback-display-name", "Petrel", "--fallback-bundle-identifier", "Petrel")
    archives = [site / "Petrel.doccarchive"]
    for module, source in CATALOGS.items():
        symbols(module, build, site / "symbols" / module)
        archives.append(site / f"{module}.doccarchive")
        convert(source, archives[-1], "--additional-symbol-graph-dir", site / "symbols" / module,
                "--fallback-display-name", module, "--fallback-bundle-identifier", module)
    public = site / "public"
    run("docc", "merge", *archives, "--output-path", public, "--synthesized-landing-page-name", "Petrel")
    run("docc", "process-archive", "transform-for-static-hosting", public, "--output-path", site / "static")
    # The pages of docc begin below documentation/.
    (site / "static/index.html").write_text('<meta http-equiv="refresh" content="0; url=documentation/">\n')
    (site / "static/files").mkdir()
    for file in pages.files:
        shutil.copy(file, site / "static/files")
    print(f"The site is in {os.path.relpath(site / 'static')}. To look at it:")
    print(f"  python3 -m http.server --directory {os.path.relpath(site / 'static')}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"site: {' '.join(error.cmd[:3])} failed")
