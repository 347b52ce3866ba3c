#!/usr/bin/env python3
"""Measures servers on one PostgreSQL, simulates many, and writes what came of it into docs/operate/scale.md.

    Scripts/scale.py BENCH             measure (on a quiet machine, about two minutes), then simulate
    Scripts/scale.py BENCH --keep      simulate with docs/operate/scale-counts.json as it is

BENCH is the program petrel-bench, built with optimisation. Written are docs/operate/scale-counts.json, docs/images/scale.svg,
and the tables in docs/operate/scale.md between the lines <!-- name --> and <!-- end -->.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/operate/scale.md"
COUNTS = ROOT / "docs/operate/scale-counts.json"
PLOT = ROOT / "docs/images/scale.svg"


def run(program, *words, statuses=(0,)):
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True)
    if done.returncode not in statuses:
        sys.exit(f"scale: 'petrel-bench {' '.join(words)}' failed:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def number(value, digits=0, unit=""):
    return "" if value is None else f"{value:,.{digits}f}{unit}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def case(row):
    return [
        str(row["servers"]), "even" if row["isPaced"] else "full",
        "yes" if row["hasSubscriptions"] else "no"]


def measured(counts):
    rows = counts["measurements"]
    rates = table(
        ["servers", "load", "subscriptions", "saves/s", "dispatched/s", "save p50, p99",
         "save to log p50, p99", "save to a reader elsewhere p50, p99", "of `pgbench`"],
        [case(row) + [
            number(row["savesPerSecond"]),
            number(row["dispatchedPerSecond"] if row["hasSubscriptions"] else None),
            number(row["saveP50Milliseconds"], 1) + ", " + number(row["saveP99Milliseconds"], 1, " ms"),
            "" if row.get("loggedP50Milliseconds") is None else
            number(row["loggedP50Milliseconds"], 1) + ", "
            + number(row["loggedP99Milliseconds"], 1, " ms"),
            "" if row.get("notifiedP50Milliseconds") is None else
            number(row["notifiedP50Milliseconds"], 1) + ", "
            + number(row["notifiedP99Milliseconds"], 1, " ms"),
            number(row.get("ratioToBaseline"), 2)] for row in rows])
    works = table(
        ["servers", "load", "subscriptions", "statements", "rows", "transactions of writers", "catch-ups",
         "log", "processor of the servers", "of PostgreSQL", "connections that wait for a lock"],
        [case(row) + [
            number(row["statementsPerSave"], 1), number(row["rowsPerSave"], 1),
            number(row["storeCommitsPerSave"], 2), number(row["catchUpsPerSave"], 2),
            number(row["logBytesPerSave"] / 1000, 1, " KB"),
            number(row["serverProcessorMicrosecondsPerSave"], 0, " us"),
            number(row["postgreSQLProcessorMicrosecondsPerSave"], 0, " us"),
            number(row["waitingForLocks"], 2)]
         for row in rows])
    return rates + "\n\nFor each save:\n\n" + works


def costs(found):
    names = {
        "transaction": "a transaction", "save": "a save", "change": "a dispatched change that fires once",
        "catchUp": "a catch-up with changes of another server"}
    return table(
        ["cost", "server", "PostgreSQL", "log"],
        [[text, number(found[name]["serverMicroseconds"], 0, " us"),
          number(found[name]["databaseMicroseconds"], 0, " us"),
          number(found[name]["logBytes"], 0, " bytes")] for name, text in names.items()])


def check(checked):
    return table(
        ["servers", "load", "subscriptions", "used for", "saves/s measured, simulated",
         "save p50", "save to log, mean", ""],
        [case(row) + [
            "calibrating" if row["isCalibrating"] else "checking",
            number(row["measuredSavesPerSecond"]) + ", " + number(row["simulatedSavesPerSecond"]),
            number(row["measuredSaveP50Milliseconds"], 1) + ", "
            + number(row["simulatedSaveP50Milliseconds"], 1, " ms"),
            "" if row.get("measuredLoggedMeanMilliseconds") is None else
            number(row["measuredLoggedMeanMilliseconds"], 1) + ", "
            + number(row["simulatedLoggedMeanMilliseconds"], 1, " ms"),
            "" if row["isWithinTolerance"] else "out of tolerance"]
         for row in checked["check"]])


def answer(found):
    asked = next(row for row in found["sweep"] if row["savesPerSecond"] == found["savesPerSecond"])
    overloaded = [row["savesPerSecond"] for row in found["sweep"] if row["isOverloaded"]]

    def pair(first, second, digits=0, unit=""):
        return number(first, digits) + " and " + number(second, digits, unit)

    return table(["50,000 saves a second", ""], [
        ["servers of 8 cores", number(found["servers"])],
        ["shards of 16 cores", number(found["shards"])],
        ["indexes, on each server and together",
         pair(found["indexBytes"] / found["servers"] / 1e9, found["indexBytes"] / 1e9, 1, " GB")],
        ["log in a day", number(found["logBytesPerDay"] / 1e12, 1, " TB")],
        ["store", number(found["storedBytes"] / 1e12, 1, " TB")],
        ["answered and dispatched a second",
         pair(asked["answeredPerSecond"], asked["dispatchedPerSecond"])],
        ["save, p50 and p99",
         pair(asked["saveP50Milliseconds"], asked["saveP99Milliseconds"], 1, " ms")],
        ["save to log, p50 and p99",
         pair(asked["loggedP50Milliseconds"], asked["loggedP99Milliseconds"], 1, " ms")],
        ["servers' processors, simulated and by formula",
         pair(asked["serverUtilization"], asked["serverUtilizationByFormula"], 2)],
        ["shards' processors, simulated and by formula",
         pair(asked["shardUtilization"], asked["shardUtilizationByFormula"], 2)],
        ["row of the busiest public database locked", number(asked["busiestDatabaseLocked"], 2)],
        ["saturates first", found["firstSaturated"]],
        ["at, by the formulas", number(found["greatestSavesPerSecond"], 0, " saves/s")],
        ["overloaded in the simulation from",
         number(min(overloaded), 0, " saves/s") if overloaded else "none of the rates"],
        ["one public database takes at most",
         number(found["greatestSavesPerSecondOfOneDatabase"], 0, " saves/s")],
        ["its row is locked for one save, and for 512",
         pair(found["lockMillisecondsOfOneSave"], found["lockMillisecondsOfManySaves"], 1, " ms")],
        ["a server dies: its private databases dispatched again after",
         number(found["deathPrivateSeconds"], 1, " s")],
        ["its public ones",
         ("" if found["deathIsOver"] else "more than ")
         + number(found["deathPublicSeconds"], 1, " s")],
        ["changes that wait for it at most, in its databases", number(found["deathWaitingChanges"])],
        ["saves that are sent again", number(found["deathRepeatedSaves"])],
    ])


def write(name, text, document):
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    found, count = pattern.subn(lambda match: match[1] + text + match[2], document)
    if count != 1:
        sys.exit(f"scale: {DOCUMENT.name} has no place for '{name}'")
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    if "--keep" not in sys.argv:
        counts = run(program, "cluster", "--seconds", "8")
        COUNTS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    counts = json.loads(COUNTS.read_text())
    words = ["simulate", "--counts", str(COUNTS)]
    checked = run(program, *words, "--check", statuses=(0, 1))
    found = run(program, *words, "--seconds", "2", "--plot", str(PLOT))
    document = DOCUMENT.read_text()
    for name, text in [
        ("measured", measured(counts)), ("costs", costs(found["costs"])), ("check", check(checked)),
        ("answer", answer(found)),
    ]:
        document = write(name, text, document)
    DOCUMENT.write_text(document)


if __name__ == "__main__":
    main()
