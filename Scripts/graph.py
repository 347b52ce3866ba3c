#!/usr/bin/env python3
"""Draws the package's modules to docs/internals/graph/modules.dot and .svg, and checks them.

    Scripts/graph.py           check the modules, then write both files (needs Graphviz)
    Scripts/graph.py --check   check the modules, and that modules.dot is what would be written

The modules must have no cycle, and none may depend on one of a layer above its own. No source file
may import a module of the package that its own module does not list as a dependency: SwiftPM lets
such imports pass when the module happens to be built earlier.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOT = ROOT / "docs/internals/graph/modules.dot"
SVG = ROOT / "docs/internals/graph/modules.svg"

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*"
    r"(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)"
)

# The fill and the line of a layer in the picture, by turns.
COLORS = [("#e6f0fa", "#3a76b0"), ("#e8f5e9", "#3f8047"), ("#fdf3e1", "#b87a10"), ("#f0f0f0", "#707070")]


def layers():
    """The folders of Sources that are layers, top to bottom: their order in Package.swift."""
    manifest = (ROOT / "Package.swift").read_text()
    return re.findall(r'layer\(\s*"(\w+)",\s*\[', manifest)


class Module:
    def __init__(self, target):
        self.name = target["name"]
        self.type = target["type"]
        self.path = ROOT / target["path"]
        self.sources = sorted(target["sources"])
        self.dependencies = sorted(target.get("target_dependencies", []))


def read_package():
    """The package's modules by name."""
    described = subprocess.run(
        ["swift", "package", "describe", "--type", "json"],
        cwd=ROOT, capture_output=True, text=True)
    if described.returncode != 0:
        sys.exit(f"graph: 'swift package describe' failed:\n{described.stderr.strip()}")
    # Where the folder of a package is new, SwiftPM may write a line before the JSON.
    text = described.stdout[described.stdout.index("{"):]
    modules = [Module(target) for target in json.loads(text)["targets"]]
    return {module.name: module for module in sorted(modules, key=lambda module: module.name)}


def reachable(modules, name):
    """The names of all modules that `name` depends on, itself included."""
    found, waiting = set(), [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += modules[name].dependencies
    return found


def cycles(modules):
    return [
        f"{name} depends on itself by way of {dependency}"
        for name, module in modules.items()
        for dependency in module.dependencies
        if name in reachable(modules, dependency)
    ]


def unlisted_imports(modules):
    mistakes = []
    for module in modules.values():
        allowed = {module.name, *module.dependencies}
        for source in module.sources:
            if not source.endswith(".swift"):
                continue
            path = module.path / source
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                match = IMPORT.match(line)
                if match and match[1] in modules and match[1] not in allowed:
                    mistakes.append(
                        f"{path.relative_to(ROOT)}:{number}: imports {match[1]}, which is not "
                        f"among the dependencies of {module.name} in Package.swift")
    return mistakes


def layer_of(module):
    """The layer of a module of Sources; None for tests and examples."""
    path = module.path.relative_to(ROOT).parts
    return path[1] if path[0] == "Sources" else None


def upward_dependencies(modules):
    order = layers()
    mistakes = []
    for module in modules.values():
        layer = layer_of(module)
        if layer is None:
            continue
        for name in module.dependencies:
            other = layer_of(modules[name])
            if other is None:
                mistakes.append(f"{module.name} depends on {name}, which is for tests")
            elif order.index(other) < order.index(layer):
                mistakes.append(
                    f"{module.name} ({layer}) depends on {name}, which is in the layer {other} above it")
    return mistakes


def drawn_dependencies(modules, module):
    """The dependencies that do not follow from another one."""
    return [
        one for one in module.dependencies
        if not any(
            one != other and one in reachable(modules, other) for other in module.dependencies)
    ]


def drawing(modules):
    drawn = {name: module for name, module in modules.items() if layer_of(module)}
    lines = [
        "// Written by 'make graph' from Package.swift.",
        "// A dependency that follows from others has no arrow of its own.",
        "digraph modules {",
        "  rankdir=TB; newrank=true; nodesep=0.3; ranksep=0.55; pad=0.3; bgcolor=white;",
        '  fontname="Helvetica,Arial,sans-serif";',
        '  node [fontname="Helvetica,Arial,sans-serif", fontsize=13, shape=box, '
        'style="rounded,filled", fillcolor=white, penwidth=1.2, height=0.42, margin="0.18,0.08"];',
        '  edge [color="#5f6b76", arrowsize=0.65, penwidth=1.1];',
    ]
    for number, layer in enumerate(layers()):
        fill, line = COLORS[number % len(COLORS)]
        lines += [
            f"  subgraph cluster_{layer} {{",
            f'    label="{layer}"; labeljust=l; margin=12; rank=same;',
            f'    fontsize=13; fontcolor="{line}";',
            f'    style="rounded,filled"; fillcolor="{fill}"; color="{line}"; penwidth=0.8;',
            f'    node [color="{line}"];',
        ]
        lines += [f'    "{name}";' for name, module in drawn.items() if layer_of(module) == layer]
        lines.append("  }")
    for name, module in drawn.items():
        lines += [
            f'  "{name}" -> "{other}";' for other in drawn_dependencies(modules, module)]
    lines.append("}")
    return "\n".join(lines) + "\n"


def render(dot):
    try:
        drawn = subprocess.run(
            ["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"graph: Graphviz's 'dot' failed ({error}); 'make setup' installs it")
    # The comments name the Graphviz that drew.
    return re.sub(r"<!-- Generated by.*?-->\n", "", drawn, flags=re.DOTALL)


def main():
    modules = read_package()
    mistakes = cycles(modules) + upward_dependencies(modules) + unlisted_imports(modules)
    if mistakes:
        sys.exit("\n".join(f"graph: {mistake}" for mistake in mistakes))
    dot = drawing(modules)
    if "--check" in sys.argv[1:]:
        if not DOT.exists() or DOT.read_text() != dot:
            sys.exit(
                f"graph: {DOT.relative_to(ROOT)} is not what Package.swift says; "
                "run 'make graph' and commit docs/internals/graph")
        return
    DOT.parent.mkdir(parents=True, exist_ok=True)
    DOT.write_text(dot)
    SVG.write_text(render(dot))
    print(f"graph: wrote {DOT.relative_to(ROOT)} and {SVG.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
