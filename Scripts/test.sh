#!/bin/sh
# Checks the format, the module graph, the bill of materials and the build, then runs the tests. The last line says how it
# went; the exit status says it too.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-.build}

step=start
trap 'status=$?
  rm -rf "${kept:-}"
  if [ $status -eq 0 ]; then echo "make test: passed"; else echo "make test: FAILED ($step)"; fi
  exit $status' EXIT

begin() {
  step=$1
  printf '\n== %s\n' "$step"
}

begin "format"
swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples || {
  echo "Run 'make format' and look at what it changed."
  exit 1
}

begin "module graph"
Scripts/graph.py --check

begin "bill of materials"
Scripts/sbom.py --check || {
  echo "Mend docs/dependencies.md and run 'make sbom'."
  exit 1
}

# A warning is an error, not a line to look for: a file that compiled with one is not compiled again
# by the next build, which would then say nothing.
begin "build, no warnings allowed"
swift build --build-tests --scratch-path "$build" -Xswiftc -warnings-as-errors

begin "Apple's symbols"
Scripts/api_coverage.py --check --build "$build" || {
  echo "Run 'make api' and look at docs/api-coverage.md."
  exit 1
}

# Two processes, and in each one test after the other: tests that wait for sockets have deadlines, and
# many property tests beside them would keep every core busy for seconds.
begin "tests"
kept=$(mktemp -d)
run_tests() {
  # What reads this looks at no status, hence the file.
  "$build/debug/petrelPackageTests.xctest" --testing-library swift-testing --no-parallel "$@" 2>&1 ||
    touch "$kept/failed"
}
# About half of the time, and hardly anything that waits.
computing='^(StorageTests|MatchingTests|ScaleModelTests|FuzzingTests)\.'
run_tests --filter "$computing" >"$kept/computing" &
computing_tests=$!
run_tests --skip "$computing" | tee "$kept/others"
wait "$computing_tests"
cat "$kept/computing"
if [ -e "$kept/failed" ]; then
  # It stands somewhere among thousands of lines; here is where one looks.
  printf '\n== what failed\n'
  cat "$kept/others" "$kept/computing" |
    grep -a -E '^[^ ]*✘|^[^ ]* *↳|Fatal error|signal code' | tail -n 60
  exit 1
fi

# Beside what follows, for they mostly wait: for processes to end, and to start.
{
  "$build/debug/trials" crash --lying-disk --kills 2 &&
    "$build/debug/trials" crash --damaged-file --kills 1 &&
    "$build/debug/trials" disk --steps 3 &&
    "$build/debug/trials" crash --kills 100 &&
    "$build/debug/trials" crash --engine postgresql --kills 4 --epoch 4
} >"$kept/crashes" 2>&1 &
crashes=$!

# What the server does with its store, on the other engine. The store's own suites run on both above.
begin "tests on PostgreSQL"
on_postgresql='PetrelServerTests\.(ChangesTests|EventStreamTests|ExplainedHistoryTests'
on_postgresql="$on_postgresql|ExplanationTests|NotificationsTests|RecordsModifyTests"
on_postgresql="$on_postgresql|RecordsQueryTests|SilenceExplanationTests|SubscriptionsTests"
on_postgresql="$on_postgresql|UnloggedNotificationTests|WebCourierTests|ZonesTests)"
PETREL_TEST_STORE=postgres swift test --skip-build --disable-xctest --no-parallel \
  --scratch-path "$build" --filter "$on_postgresql"

# A suite that is written as with XCTest has a runner of its own.
swift test --skip-build --disable-swift-testing --scratch-path "$build"

begin "crashes"
wait "$crashes" || { cat "$kept/crashes"; exit 1; }
grep -h -E '^crash trial on .* s$|^disk trial: |^lives|was found out' "$kept/crashes"

# Short, and without a look at the clock: how long users wait is for a machine that does nothing else.
begin "long use and overload, in short"
"$build/debug/trials" soak --seconds 20 --untimed
"$build/debug/trials" overload --seconds 6 --connections 3000 --untimed
"$build/debug/trials" overload --attacker --seconds 6 --untimed

begin "protocol"
"$build/python/bin/python" Scripts/protocol_check.py --petrel "$build/debug/petrel"
