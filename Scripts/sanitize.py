#!/usr/bin/env python3
"""Runs the tests under sanitizers (docs/operate/reliability.md, "Under sanitizers").

    Scripts/sanitize.py --build BUILD [--sanitizers "address thread"] [--tests REGEX]

Builds the tests once for each sanitizer, in BUILD/sanitize-NAME, runs each target's tests in a process
of their own, and prints a table. `address` is AddressSanitizer with LeakSanitizer, `thread` is
ThreadSanitizer; in both the C of the package is compiled with UndefinedBehaviorSanitizer as well. What
the tests and the programs that they start are told by a sanitizer lies in BUILD/sanitize-NAME/findings,
what the tests said in BUILD/sanitize-NAME/logs. Something that was found makes the exit status 1.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Tests/Sanitizing"
# What stands before other libraries, so that a sanitizer does not take for a fault what is none.
PRELOADED = {
    "address": ("LastingOpenSSL",),
    "thread": ("MutexSlowPaths", "EarlyResumptions"),
}
# What Tests/Sanitizing/Planted.swift does when it is told these words, and whether that is a fault.
PLANTED = {
    "address": {"memory": True, "ending": False},
    "thread": {"race": True, "lock": False, "continuation": False},
}
# Tests that cannot be run under sanitizers, and why.
LEFT_OUT = {
    r"EndToEndTests\.ServersWithOtherClocksTests":
        "libfaketime, which stands before the same functions as sanitizers",
}


def build(sanitizer, folder):
    # Swift checks its own arithmetic, so the undefined behaviour that is left is that of C. What
    # stands in headers is compiled with the Swift that calls it, hence the sanitizer's own name too.
    subprocess.run(
        ["swift", "build", "--build-tests", "--scratch-path", folder, f"--sanitize={sanitizer}",
         # gold writes a line for each name of the runtime that it cannot export: hundreds a program.
         "-Xswiftc", "-use-ld=lld", "-Xcc", f"-fsanitize={sanitizer},undefined",
         "-Xcc", "-fno-sanitize-recover=undefined"],
        check=True, cwd=ROOT)
    for name in PRELOADED[sanitizer]:
        subprocess.run(
            ["clang", "-O2", "-Wall", "-Werror", "-shared", "-fPIC",
             "-o", folder / f"lib{name}.so", SOURCES / f"{name}.c"], check=True)


def check_sight(sanitizer, folder):
    """Ends when the sanitizer does not tell of a planted fault, or tells of what is none."""
    program = folder / "planted"
    subprocess.run(
        ["swiftc", "-swift-version", "6", f"-sanitize={sanitizer}", "-use-ld=lld", "-g", "-o", program,
         "-Xlinker", "--no-as-needed", "-lcrypto", SOURCES / "Planted.swift"], check=True)
    findings = folder / "findings"
    for word, is_fault in PLANTED[sanitizer].items():
        subprocess.run(
            [program, word], env={**os.environ, **environment(sanitizer, folder, "planted")},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = summaries(findings, "planted")
        for file in findings.glob("planted.*"):
            file.unlink()
        if is_fault != bool(found):
            sys.exit(
                f"sanitize: {sanitizer} tells of no '{word}', which is planted" if is_fault else
                f"sanitize: {sanitizer} takes '{word}' for a fault: {found[0][0]}")


def environment(sanitizer, folder, target):
    """What the tests and the programs that they start are run with."""
    findings = folder / "findings"
    common = f"log_path={findings}/{target}:print_summary=1"
    preloaded = ":".join(f"{folder}/lib{name}.so" for name in PRELOADED[sanitizer])
    if sanitizer == "address":
        return {
            "PETREL_TEST_PATIENCE": "3",
            "LD_PRELOAD": preloaded,
            "ASAN_OPTIONS":
                f"{common}:detect_leaks=1:suppressions={SOURCES}/address.suppressions",
            "LSAN_OPTIONS": f"suppressions={SOURCES}/leak.suppressions:print_suppressions=0",
            "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        }
    return {
        "PETREL_TEST_PATIENCE": "10",
        "TSAN_OPTIONS": f"{common}:suppressions={SOURCES}/thread.suppressions"
                        ":print_suppressions=0:second_deadlock_stack=1",
        "LD_PRELOAD": preloaded,
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
    }


def targets(program, variables, pattern):
    """The test targets that have a test that is asked for."""
    listed = subprocess.run(
        [program, "--testing-library", "swift-testing", "--list-tests"], env=variables,
        check=True, capture_output=True, text=True).stdout
    tests = [line for line in listed.splitlines() if "." in line and re.search(pattern, line)]
    return sorted({test.split(".")[0] for test in tests})


def run(command, variables, log):
    start = time.monotonic()
    with open(log, "wb") as output:
        status = subprocess.run(
            command, env=variables, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT).returncode
    return status, round(time.monotonic() - start), log.read_text(errors="replace")


def ran(text):
    """How many tests were run to their end; a question mark where the run itself did not end."""
    ended = re.search(r"Test run with (\d+) tests? in \d+ suites? (passed|failed)", text)
    if not ended:
        ended = re.search(r"Executed (\d+) tests?, with", text)
    skipped = len(re.findall(r"^[^ ]* Test .* skipped", text, re.M))
    return str(int(ended[1]) - skipped) if ended else "?"


def summaries(findings, target):
    """One line for each finding."""
    lines = []
    for file in sorted(findings.glob(f"{target}.*")):
        text = file.read_text(errors="replace")
        found = re.findall(r"^SUMMARY: (.*)$", text, re.M) or [text.strip().split("\n")[0][:200]]
        lines += [(line.strip(), file.name) for line in found if line]
    return lines


def check(sanitizer, folder, pattern, only):
    build(sanitizer, folder)
    program = folder / "debug/petrelPackageTests.xctest"
    findings, logs = folder / "findings", folder / "logs"
    for place in (findings, logs):
        place.mkdir(parents=True, exist_ok=True)
    check_sight(sanitizer, folder)
    skipped = [word for test in LEFT_OUT for word in ("--skip", test)]
    quiet = {**os.environ, **environment(sanitizer, folder, "listing")}
    names = [name for name in targets(program, quiet, pattern) if not only or name in only]

    print(f"\n{'target':<32}{'tests':>7}{'seconds':>9}{'found':>7}  {sanitizer}", flush=True)
    failed = []
    for name in names + (["XCTest"] if not only and re.search(pattern, "XCTest") else []):
        for file in findings.glob(f"{name}.*"):
            file.unlink()
        words = (
            # A suite that is written as with XCTest has a runner of its own.
            [] if name == "XCTest" else
            ["--testing-library", "swift-testing", "--no-parallel", "--filter",
             f"^{name}\\." + (f".*({pattern})" if pattern else ""), *skipped])
        status, seconds, text = run(
            [program, *words],
            {**os.environ, **environment(sanitizer, folder, name)}, logs / f"{name}.log")
        found = summaries(findings, name)
        print(f"{name:<32}{ran(text):>7}{seconds:>9}{len(found):>7}"
              f"{'' if status == 0 else f'  ended with {status}'}", flush=True)
        if status != 0 or found:
            failed.append(name)
            for line in re.findall(r"^[^ ]*✘ .*recorded an issue.*$|^.*Fatal error.*$", text, re.M)[:20]:
                print(f"    {line}")
            counts = {}
            for line, file in found:
                counts.setdefault(line, []).append(file)
            for line, files in sorted(counts.items(), key=lambda item: -len(item[1])):
                print(f"    {len(files)} × {line} ({files[0]})", flush=True)
    for test, reason in LEFT_OUT.items():
        print(f"left out: {test}, for {reason}")
    return failed


def main():
    arguments = argparse.ArgumentParser(description="runs the tests under sanitizers")
    arguments.add_argument("--build", default=".build")
    arguments.add_argument("--sanitizers", default="address thread")
    arguments.add_argument("--tests", default="", help="a regular expression over Target.Suite/test")
    arguments.add_argument("targets", nargs="*", help="test targets; all when none is named")
    arguments = arguments.parse_args()

    failed = []
    for sanitizer in arguments.sanitizers.split():
        if sanitizer not in PLANTED:
            sys.exit(f"sanitize: there is no '{sanitizer}'; there are {', '.join(PLANTED)}")
        folder = Path(arguments.build).resolve() / f"sanitize-{sanitizer}"
        failed += [f"{sanitizer}: {name}" for name in check(
            sanitizer, folder, arguments.tests, arguments.targets)]
    if failed:
        sys.exit(f"sanitize: something is wrong in {', '.join(failed)}")
    print("sanitize: nothing was found")


if __name__ == "__main__":
    main()
