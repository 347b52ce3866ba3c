#!/usr/bin/env python3
"""Attacks the readers of Petrel with libFuzzer and AddressSanitizer (docs/internals/fuzzing.md).

    Scripts/fuzz.py --build BUILD [--minutes M] [--keep] [--report FILE] [--skip-done] [TARGET…]

Builds the program in BUILD/fuzz, runs each target (all, when none is named) for M minutes with its
corpus, and prints a table. New inputs stay in BUILD/fuzz/corpora; with --keep, those that reach more
than the kept ones are added to Tests/FuzzingTests/Corpora, short and long ones, to 30 inputs and 6 KB
for each target. An input that breaks something is written to BUILD/fuzz/findings, and the exit status is 1.
With --report, FILE gets a line of JSON for each target as soon as it has ended; with --skip-done, what FILE
says that a target was attacked already, in one run or several, counts as part of the M minutes.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT / "Tests/FuzzingTests/Corpora"
# Bytes of a target's kept corpus, to which --keep adds, and inputs that were found.
KEPT = 6_144
KEPT_INPUTS = 30


def library():
    """libFuzzer without a main of its own, as it comes with the compiler."""
    info = subprocess.run(
        ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True)
    paths = json.loads(info.stdout)["paths"]["runtimeResourcePath"]
    machine = os.uname().machine
    file = Path(paths) / f"clang/lib/linux/libclang_rt.fuzzer_no_main-{machine}.a"
    if not file.exists():
        sys.exit(f"fuzz: the Swift toolchain has no libFuzzer: {file} is missing")
    return file.resolve()


def build(folder):
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "fuzz", "--scratch-path", folder,
         "--sanitize=address", "-Xswiftc",
         "-sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table",
         # The sources see what is internal, and assertions are looked at.
         "-Xswiftc", "-enable-testing", "-Xswiftc", "-assert-config", "-Xswiftc", "Debug"],
        check=True, cwd=ROOT, env={**os.environ, "PETREL_LIBFUZZER": str(library())})
    return Path(folder) / "release/fuzz"


def environment(target):
    return {
        **os.environ, "PETREL_FUZZ_TARGET": target,
        # What lives as long as the program is no leak; and libFuzzer tells of crashes by itself.
        "ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": "enable=no",
    }


def attack(program, target, longest, seconds, folder):
    """Runs a target; returns its row, what a report says of it, and what it said itself."""
    grown = folder / "corpora" / target
    findings = folder / "findings" / target
    for place in (grown, findings):
        place.mkdir(parents=True, exist_ok=True)
    words = folder / "words" / target
    words.parent.mkdir(exist_ok=True)
    words.write_text(subprocess.run(
        [program, "words"], env=environment(target), check=True, capture_output=True,
        text=True).stdout)
    subprocess.run([program, "seeds", grown], env=environment(target), check=True)
    log = folder / "findings" / f"{target}.log"
    start = time.monotonic()
    with open(log, "wb") as output:
        status = subprocess.run(
            [program, f"-max_total_time={seconds}", f"-max_len={longest}", "-timeout=5",
             "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={findings}/",
             *([f"-dict={words}"] if words.stat().st_size else []), grown, CORPORA / target],
            env=environment(target), stdout=output, stderr=subprocess.STDOUT).returncode
    spent = time.monotonic() - start
    text = log.read_text(errors="replace")
    reached = [int(number) for number in re.findall(r"^#\d+\s.*? cov: (\d+)", text, re.M)]
    begun = re.search(r"^#\d+\s+INITED cov: (\d+)", text, re.M)
    statistics = dict(re.findall(r"^stat::(\w+):\s+(\d+)", text, re.M))
    row = [
        target, statistics.get("number_of_executed_units", "?"),
        str(reached[-1] if reached else 0),
        f"+{reached[-1] - int(begun[1])}" if reached and begun else "?",
        statistics.get("average_exec_per_sec", "?"), statistics.get("peak_rss_mb", "?"),
    ]
    figures = {
        "target": target, "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(spent), "inputs": int(statistics.get("number_of_executed_units", 0)),
        "edges": reached[-1] if reached else 0,
        "newEdges": reached[-1] - int(begun[1]) if reached and begun else 0,
        "newInputs": int(statistics.get("new_units_added", 0)),
        "slowestSeconds": int(statistics.get("slowest_unit_time_sec", 0)),
        "firstMB": resident(text, "INITED"), "peakMB": int(statistics.get("peak_rss_mb", 0)),
        "status": status,
        "findings": sorted(file.name for file in findings.iterdir()),
    }
    return row, figures, text


def resident(text, event):
    """The memory that libFuzzer told of at its first line with an event; 0 when it told of none."""
    line = re.search(rf"^#\d+\s+{event} .*? rss: (\d+)Mb", text, re.M)
    return int(line[1]) if line else 0


def attacked(report):
    """Seconds for which each target was attacked without a finding, by a report."""
    seconds = {}
    if report and report.exists():
        for line in report.read_text().splitlines():
            figures = json.loads(line)
            if figures["status"] == 0:
                target = figures["target"]
                seconds[target] = seconds.get(target, 0) + figures["seconds"]
    return seconds


def keep(program, target, folder):
    """Adds inputs that reach more than the kept ones, as far as there is room."""
    with tempfile.TemporaryDirectory() as merged:
        subprocess.run(
            [program, "-merge=1", "-timeout=5", merged, CORPORA / target,
             folder / "corpora" / target],
            env=environment(target), check=True, capture_output=True)
        kept = list((CORPORA / target).iterdir())
        room = KEPT - sum(file.stat().st_size for file in kept)
        known = {file.read_bytes() for file in kept}
        free = KEPT_INPUTS - sum(file.name.startswith("found-") for file in kept)
        found = sorted(
            (file for file in Path(merged).iterdir() if file.read_bytes() not in known),
            key=lambda file: file.stat().st_size)
        for file in found[::max(1, len(found) // max(1, free))][:max(0, free)]:
            if file.stat().st_size > room:
                break
            shutil.copy(file, CORPORA / target / f"found-{file.name[:12]}")
            room -= file.stat().st_size


def main():
    arguments = argparse.ArgumentParser(description="attacks the readers of Petrel")
    arguments.add_argument("--build", default=".build")
    arguments.add_argument("--minutes", type=float, default=0.25)
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--report", type=Path)
    arguments.add_argument("--skip-done", action="store_true")
    arguments.add_argument("targets", nargs="*")
    arguments = arguments.parse_args()

    folder = Path(arguments.build).resolve() / "fuzz"
    program = build(folder)
    listed = subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout
    longest = dict(line.split() for line in listed.splitlines())
    targets = arguments.targets or list(longest)
    for target in targets:
        if target not in longest:
            sys.exit(f"fuzz: there is no target '{target}'; there are {', '.join(longest)}")

    wanted = max(1, round(arguments.minutes * 60))
    done = attacked(arguments.report) if arguments.skip_done else {}
    targets = [target for target in targets if done.get(target, 0) < wanted]
    heads = ["target", "inputs", "edges", "new", "inputs/s", "MB"]
    print("{:<26}{:>12}{:>9}{:>8}{:>10}{:>7}".format(*heads))
    found = []
    for target in targets:
        row, figures, text = attack(program, target, longest[target], wanted - done.get(target, 0), folder)
        if arguments.report:
            with open(arguments.report, "a") as report:
                report.write(json.dumps(figures) + "\n")
        print("{:<26}{:>12}{:>9}{:>8}{:>10}{:>7}".format(*row), flush=True)
        if figures["status"] != 0:
            found.append(target)
            for line in re.findall(
                    r"^.*(?:VIOLATION|Fatal error|SUMMARY|Test unit written).*$", text, re.M):
                print(f"    {line}")
        elif arguments.keep:
            keep(program, target, folder)
    if found:
        sys.exit(
            f"fuzz: found something in {', '.join(found)}; the inputs are in {folder}/findings")
    print("fuzz: nothing was found")


if __name__ == "__main__":
    main()
