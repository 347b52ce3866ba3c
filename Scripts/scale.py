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
    costs = table(
        ["servers", "load", "subscriptions", "statements", "rows", "commits", "log",
         "processor of the servers", "of PostgreSQL", "connections that wait for a lock",
         "rollbacks, deadlocks, leases lost"],
        [case(row) + [
            number(row["statementsPerSave"], 1), number(row["rowsPerSave"], 1),
            number(row["commitsPerSave"], 2), number(row["logBytesPerSave"] / 1000, 1, " KB"),
            number(row["serverProcessorMicrosecondsPerSave"], 0, " us"),
            number(row["postgreSQLProcessorMicrosecondsPerSave"], 0, " us"),
            number(row["waitingForLocks"], 2)
            + "".join(f" ({name} {share:.2f})" for name, share in sorted(row["lockWaits"].items())),
            ", ".join(number(row.get(name)) for name in ("rollbacks", "deadlocks", "leasesLost"))]
         for row in rows])
    return rates + "\n\nFor each save:\n\n" + costs


def costs(answer):
    names = {
        "statementsOfTransaction": "statements of a transaction, whatever it does",
        "statementsOfSave": "further statements of a save",
        "statementsOfDispatch": "further statements of a dispatched change",
        "statementsOfWord": "and of one that another server has saved",
        "commitLogBytes": "bytes of the log for a commit", "saveLogBytes": "for a save",
        "dispatchLogBytes": "for a dispatched change that fires once",
        "requestMicroseconds": "a server's processor for a request (us)",
        "serverStatementMicroseconds": "for a statement (us)",
        "databaseStatementMicroseconds": "PostgreSQL's processor for a statement (us)",
        "serverWakingMicroseconds":
            "a server's further for a statement where a core is idle (us; not used for others)",
        "databaseWakingMicroseconds": "PostgreSQL's (us; not used for others)",
        "wakeUpMicroseconds": "until the holder of a lease has a change of another server (us)",
        "roundTripMicroseconds": "a round trip on the measured machine (us; not used for others)",
        "flushMicroseconds": "a flush of the log there (us; not used for others)"}
    found = answer["costs"]
    return table(
        ["cost", "calibrated"], [[text, number(found[name], 1)] for name, text in names.items()])


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


def answer(both):
    def asked(one):
        return next(row for row in one["sweep"] if row["savesPerSecond"] == one["savesPerSecond"])

    def overload(one):
        rates = [row["savesPerSecond"] for row in one["sweep"] if row["isOverloaded"]]
        return number(min(rates), 0, " saves/s") if rates else "none of the rates"

    lines = [
        ("servers of 8 cores", lambda one: number(one["servers"])),
        ("shards of 16 cores", lambda one: number(one["shards"])),
        ("indexes, on each server and together",
         lambda one: number(one["indexBytesPerServer"] / 1e9, 2) + " and "
         + number(one["indexBytes"] / 1e9, 1, " GB")),
        ("log in a day", lambda one: number(one["logBytesPerDay"] / 1e12, 1, " TB")),
        ("store", lambda one: number(one["storedBytes"] / 1e12, 1, " TB")),
        ("answered and dispatched a second",
         lambda one: number(asked(one)["answeredPerSecond"]) + " and "
         + number(asked(one)["dispatchedPerSecond"])),
        ("save, p50 and p99", lambda one: number(asked(one)["saveP50Milliseconds"], 1) + " and "
         + number(asked(one)["saveP99Milliseconds"], 1, " ms")),
        ("save to log, p50 and p99",
         lambda one: number(asked(one)["loggedP50Milliseconds"], 1) + " and "
         + number(asked(one)["loggedP99Milliseconds"], 1, " ms")),
        ("servers' processors, simulated and by formula",
         lambda one: number(asked(one)["serverUtilization"], 2) + " and "
         + number(asked(one)["serverUtilizationByFormula"], 2)),
        ("shards' processors, simulated and by formula",
         lambda one: number(asked(one)["shardUtilization"], 2) + " and "
         + number(asked(one)["shardUtilizationByFormula"], 2)),
        ("row of the busiest public database locked",
         lambda one: number(asked(one)["busiestDatabaseLocked"], 2)),
        ("saturates first", lambda one: one["firstSaturated"]),
        ("at, by the formulas", lambda one: number(one["greatestSavesPerSecond"], 0, " saves/s")),
        ("overloaded in the simulation from", overload),
        ("one database takes at most",
         lambda one: number(one["greatestSavesPerSecondOfOneDatabase"], 0, " saves/s")),
        ("a server dies: its private databases dispatched again after",
         lambda one: number(one.get("deathPrivateSeconds"), 1, " s")),
        ("its public ones",
         lambda one: ("more than " if not one.get("deathIsOver") else "")
         + number(one.get("deathPublicSeconds"), 1, " s")),
        ("changes that wait for it at most, in its databases",
         lambda one: number(one.get("deathWaitingChanges"))),
        ("saves that are sent again", lambda one: number(one.get("deathRepeatedSaves"))),
    ]
    return table(
        ["50,000 saves a second", "as it is", "four round trips a transaction"],
        [[name] + [cell(one) for one in both] for name, cell in lines])


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
    both = [
        run(program, *words, "--seconds", "3"),
        run(program, *words, "--seconds", "3", "--pipelined", "--plot", str(PLOT))]
    document = DOCUMENT.read_text()
    for name, text in [
        ("measured", measured(counts)), ("costs", costs(both[0])), ("check", check(checked)),
        ("answer", answer(both)),
    ]:
        document = write(name, text, document)
    DOCUMENT.write_text(document)


if __name__ == "__main__":
    main()
