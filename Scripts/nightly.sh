#!/bin/sh
# What `make test` tries in short, for some hours: crashes on both stores, five minutes of long use, two of overload, a
# minute of hostile input for each reader, inputs that grow to the size of the largest request, thirty times the made-up
# requests, 10,000 removals from a share beside saves, and ten times the seeds of each property test. Then deliberate
# mistakes, which the tests should find. All of it is tried, also after one has failed; the last line says how it went,
# and the exit status.
set -u
cd "$(dirname "$0")/.."
export BUILD="${BUILD:-.build}"

failed=
attempt() {
  printf '\n== %s\n' "$*"
  make --no-print-directory "$@" || failed="$failed $1"
}

attempt crash KILLS=500
attempt soak MINUTES=5
attempt overload
attempt fuzz MINUTES=1

Scripts/build.sh || exit 1

# All cases of a size, or a share of them.
grow() {
  printf '\n== inputs that grow to %s bytes, %s of the cases\n' "$1" "$2"
  PETREL_GROWTH_SIZE=$1 PETREL_GROWTH_SHARE=$2 Scripts/run_tests.py --build "$BUILD" \
    --only '^FuzzingTests\.GrowthTests/' || failed="$failed growth"
}

grow 65536 1
grow 8388608 0.005

printf '\n== the protocol, with a hundred requests made up for each operation\n'
"$BUILD"/python/bin/python Scripts/protocol_check.py --petrel "$BUILD/debug/petrel" --examples 100 --seed "$(date +%s)" ||
  failed="$failed protocol"

printf '\n== saves beside 10,000 removals from a share\n'
TEST_SEED_FACTOR=20 Scripts/run_tests.py --build "$BUILD" --patience 7200 \
  --only '^ChangeDispatchTests\.ForwardingTests/removals\(\)' || failed="$failed removals"

printf '\n== all tests, with ten times the seeds\n'
TEST_SEED_FACTOR=10 Scripts/run_tests.py --build "$BUILD" --patience 7200 || failed="$failed seeds"

printf '\n== deliberate mistakes\n'
Scripts/mutations.py --build "$BUILD" || failed="$failed mutations"

if [ -n "$failed" ]; then
  echo "make nightly: FAILED ($failed )"
  exit 1
fi
echo "make nightly: passed"
