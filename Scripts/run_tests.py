#!/usr/bin/env python3
"""Runs all tests and trials, several side by side, and says how each went.

usage: run_tests.py [--build FOLDER] [--only REGEX] [--workers N] [--patience SECONDS] [--first REGEX] [--until-failure]

  --build FOLDER  where Scripts/build.sh put them (default: $BUILD or .build)
  --only REGEX    only these tests, for instance StorageTests.PageCacheTests, with all their output
  --workers N     how many parts run at the same time (default: two for each core, and one)
  --patience N    seconds after which a part counts as hung (default: 600)
  --first REGEX   begins with the parts of these names, for instance ^StorageTests, the short before the long
  --until-failure ends all with the first test that fails

A part is a process: some suites of a target, or a trial. In each one test runs after the other. About half of the time
is spent waiting, for sockets and for other processes, so there are more parts at work than cores. The longest
begin first. FOLDER/test-logs has what each part printed.

Property tests take other seeds in each run. The first line says how to repeat them.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

# Tests of a part that has several suites.
PART_SIZE = 40

# Suites that take longer than ten seconds: parts of their own, begun first, the longest at the top.
LONG_SUITES = """
EndToEndTests.ServersUnderFaultsTests
StorageTests.RecordStoreConformance/QueryModel
BrowserTests.ConsoleTests
EndToEndTests.BenchmarkFiguresTests
StorageTests.RecordStoreConformance/HiddenRecords
StorageTests.RecordStoreConformance/ChangeHistory
FuzzingTests.GrowthTests
BrowserTests.ConsoleExplainTests
PetrelServerTests.SeveralServersTests
StorageTests.PostgreSQLStoreTests
ChangeDispatchTests.SharedStoreDispatchTests
ChangeDispatchTests.LeaseProtocolTests
ChangeDispatchTests.DivisionProtocolTests
BrowserTests.WebAppTests
EndToEndTests.DeliveryFaultTests
ChangeDispatchTests.DividedDatabaseTests
StorageTests.StoreMoveTests
StorageTests.PostgreSQLFilesTests
StorageTests.RecordStoreConformance/FeedModel
StorageTests.SharedCommitTests
EndToEndTests.AssetTests
""".split()

# What the server does with its store, once more on the other engine. The store's own suites run on both.
ON_POSTGRESQL = """
ChangesTests EventStreamTests ExplainedHistoryTests ExplanationTests NotificationsTests RecordsModifyTests
RecordsQueryTests SilenceExplanationTests SubscriptionsTests UnloggedNotificationTests WebCourierTests ZonesTests
""".split()


@dataclass
class Part:
    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    # How many tests it must run; None for what is no test.
    tests: int | None = None
    seconds: float = 0
    computing: float = 0
    complaint: str | None = None


class Run:
    def __init__(self, build: str, workers: int, patience: float, until_failure: bool):
        self.build = build
        self.workers = workers
        self.patience = patience
        self.until_failure = until_failure
        self.logs = f"{build}/test-logs"
        self.bundle = f"{build}/debug/petrelPackageTests.xctest"
        self.lock = threading.RLock()
        self.begun = time.monotonic()
        self.waiting: list[Part] = []
        self.under_way: set[int] = set()
        self.is_interrupted = False
        self.ended: list[Part] = []

    def testing(self, *arguments: str) -> list[str]:
        return [self.bundle, "--testing-library", "swift-testing", "--no-parallel", *arguments]

    def tests(self) -> list[str]:
        listed = subprocess.run(
            self.testing("--list-tests"), check=True, capture_output=True, text=True)
        return [test for test in listed.stdout.split("\n") if test]

    def suites(self) -> dict[str, int]:
        """The suites, each with the number of its tests."""
        counts: dict[str, int] = {}
        for test in self.tests():
            path = test.split("/")
            # A large suite of suites is as many parts.
            nested = path[0].endswith(".RecordStoreConformance") and len(path) > 2
            suite = "/".join(path[:2]) if nested else path[0]
            counts[suite] = counts.get(suite, 0) + 1
        return counts

    def part(self, name: str, suites: dict[str, int], **environment: str) -> Part:
        # A test outside of suites is named like one, and has no more path.
        filters = [f"^{re.escape(suite)}{'' if suite.endswith(')') else '/'}" for suite in suites]
        command = self.testing()
        for each in filters:
            command += ["--filter", each]
        return Part(name, command, environment, sum(suites.values()))

    def suite_parts(self) -> list[Part]:
        suites = self.suites()
        gone = [suite for suite in LONG_SUITES if suite not in suites]
        if gone:
            sys.exit(f"run_tests: there are no such suites any more: {', '.join(gone)}")
        parts = [self.part(suite, {suite: suites.pop(suite)}) for suite in LONG_SUITES]
        targets: dict[str, list[dict[str, int]]] = {}
        for suite in sorted(suites):
            pieces = targets.setdefault(suite.split(".")[0], [{}])
            if pieces[-1] and sum(pieces[-1].values()) + suites[suite] > PART_SIZE:
                pieces.append({})
            pieces[-1][suite] = suites[suite]
        for target, pieces in targets.items():
            for number, piece in enumerate(pieces, 1):
                name = target if len(pieces) == 1 else f"{target} ({number} of {len(pieces)})"
                parts.append(self.part(name, piece))
        return parts

    def trial_parts(self) -> list[Part]:
        """What kills, fills and overloads a server, in short, and without a look at the clock: how long users wait is
        for a machine that does nothing else."""
        trials = f"{self.build}/debug/trials"
        trial = lambda words: Part("trial: " + words, [trials, *words.split()])
        return [
            trial("crash --kills 25"),
            trial("crash --engine postgresql --kills 3 --epoch 3"),
            trial("soak --seconds 20 --untimed"),
            trial("overload --seconds 6 --connections 3000 --untimed"),
            trial("overload --attacker --seconds 10 --untimed"),
            trial("crash --lying-disk --kills 2"),
            trial("crash --damaged-file --kills 1"),
            trial("crash --removal-taken-back --kills 1"),
            trial("disk"),
        ]

    def other_parts(self) -> list[Part]:
        suites = self.suites()
        chosen = {f"PetrelServerTests.{name}": 0 for name in ON_POSTGRESQL}
        for suite in chosen:
            chosen[suite] = suites[suite]
        return [
            self.part("PetrelServerTests on PostgreSQL", chosen, PETREL_TEST_STORE="postgres"),
            # A suite that is written as with XCTest has a runner of its own.
            Part("XCTest", [self.bundle]),
            Part(
                "protocol",
                [f"{self.build}/python/bin/python", "Scripts/protocol_check.py", "--petrel",
                 f"{self.build}/debug/petrel"]),
        ]

    def all(self, first: str) -> bool:
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)
        suites, trials, others = self.suite_parts(), self.trial_parts(), self.other_parts()
        long = len(LONG_SUITES)
        # Trials wait more than they compute, so they stand between the long suites.
        parts = [part for pair in zip(trials, suites[:len(trials)]) for part in pair]
        # The longest of the others are of the store, and those about pushes wait most.
        early = ("StorageTests", "PushChannelsTests")
        rest = sorted(suites[long:], key=lambda part: not part.name.startswith(early))
        parts += suites[len(trials):long] + others + rest
        if first:
            wanted = [part for part in suites[long:] + parts if re.search(first, part.name)]
            parts = list({part.name: part for part in wanted + parts}.values())
        self.waiting = list(parts)
        threads = [
            threading.Thread(target=self.work, args=(len(parts),)) for _ in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.report(self.ended)
        return all(part.complaint is None for part in self.ended)

    def work(self, count: int) -> None:
        while True:
            with self.lock:
                if not self.waiting:
                    return
                part = self.waiting.pop(0)
            self.run(part)
            with self.lock:
                if self.is_interrupted:
                    return
                self.ended.append(part)
                mark = "✔" if part.complaint is None else "✘"
                tests = "" if part.tests is None else f"{part.tests} tests, "
                print(
                    f"{mark} {len(self.ended)}/{count} {part.name}: {tests}{part.seconds:.1f} s"
                    + (f": {part.complaint}" if part.complaint else ""), flush=True)
                if part.complaint and self.until_failure:
                    self.interrupt()

    def log(self, part: Part) -> str:
        return f"{self.logs}/{re.sub(r'[^A-Za-z0-9.]+', '-', part.name)}.log"

    def run(self, part: Part) -> None:
        begun = time.monotonic()
        with open(self.log(part), "w") as output:
            # A session of its own, so that what it started ends with it.
            process = subprocess.Popen(
                part.command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=os.environ | part.environment, start_new_session=True)
            with self.lock:
                self.under_way.add(process.pid)
                if self.is_interrupted:
                    self.kill(process.pid)
            while True:
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                failed = self.until_failure and self.failed_test(part)
                hung = not ended and time.monotonic() - begun > self.patience
                if ended:
                    break
                if failed or hung:
                    self.kill(process.pid)
                    _, status, usage = os.wait4(process.pid, 0)
                    break
                time.sleep(0.1)
            process.returncode = os.waitstatus_to_exitcode(status)
            with self.lock:
                self.under_way.discard(process.pid)
        part.seconds = time.monotonic() - begun
        part.computing = usage.ru_utime + usage.ru_stime
        if failed:
            part.complaint = f"{failed} failed"
        elif hung:
            part.complaint = f"did not end in {self.patience:.0f} s"
        elif process.returncode != 0:
            part.complaint = f"ended with {process.returncode}"
        elif part.tests is not None:
            with open(self.log(part), errors="replace") as output:
                ran = re.findall(r"Test run with (\d+) test", output.read())
            if ran != [str(part.tests)]:
                part.complaint = f"ran {' and '.join(ran) or 'no'} tests instead of {part.tests}"

    def failed_test(self, part: Part) -> str | None:
        """The first test of which a line says that it failed."""
        with open(self.log(part), errors="replace") as output:
            found = re.search(r"^✘ Test (.+?) (?:recorded|failed)", output.read(), re.MULTILINE)
        return found[1] if found else None

    @staticmethod
    def kill(part: int) -> None:
        """Ends a part, and what it has started: what has the part's session, for Foundation starts each process in a
        group of its own. A shell stops its PostgreSQL by itself, once the part has gone."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                if os.getsid(int(name)) == part and pathlib.Path(f"/proc/{name}/comm").read_text() != "sh\n":
                    os.kill(int(name), signal.SIGKILL)

    def interrupt(self) -> None:
        """Ends what is under way, and begins nothing more."""
        with self.lock:
            self.is_interrupted = True
            self.waiting.clear()
            for pid in self.under_way:
                self.kill(pid)

    def report(self, parts: list[Part]) -> None:
        print("\nThe longest parts: seconds, and seconds of a processor in them")
        for part in sorted(parts, key=lambda part: -part.seconds)[:12]:
            print(f"  {part.seconds:6.1f} {part.computing:6.1f}  {part.name}")
        seconds = time.monotonic() - self.begun
        computing = sum(part.computing for part in parts)
        tests = sum(part.tests or 0 for part in parts)
        print(
            f"{tests} tests and {sum(part.tests is None for part in parts)} trials in {seconds:.0f} s;"
            f" a processor worked on them for {computing:.0f} s, without the databases")
        for part in parts:
            if part.complaint is None:
                continue
            print(f"\n✘ {part.name} {part.complaint}; {self.log(part)} has all it printed:")
            with open(self.log(part), errors="replace") as output:
                lines = output.read().split("\n")
            telling = [
                line for line in lines
                if re.search(r"^\W*✘|^ *↳|Fatal error|signal code|Crash|violat|FAILED|rror:", line)
            ]
            print("\n".join(line[:500] for line in (telling or lines)[-40:]))


def main() -> None:
    usage = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("--build", default=os.environ.get("BUILD", ".build"))
    usage.add_argument("--only", default="")
    usage.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1) + 1)
    usage.add_argument("--patience", type=float, default=600)
    usage.add_argument("--first", default="")
    usage.add_argument("--until-failure", action="store_true")
    options = usage.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    seed = os.environ.setdefault("TEST_SEED", str(random.randint(1, 1_000_000_000)))
    print(f"Seeds begin with {seed}: TEST_SEED={seed} repeats them.", flush=True)
    run = Run(options.build, options.workers, options.patience, options.until_failure)
    if options.only:
        if not any(re.search(options.only, test) for test in run.tests()):
            sys.exit(f"run_tests: no test is called like {options.only}")
        os.execv(run.bundle, run.testing("--filter", options.only))
    try:
        passed = run.all(options.first)
    except KeyboardInterrupt:
        run.interrupt()
        sys.exit("run_tests: interrupted")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
