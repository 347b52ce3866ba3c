#!/bin/sh
# What `make test` tries in short, for one to two hours: crashes on both stores, five minutes of long use, two of
# overload, a minute of hostile input for each reader. All of it is tried, also after one has failed;
# the last line says how it went, and the exit status.
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

printf '\n== inputs that grow\n'
PETREL_GROWTH_SIZE=65536 swift test --disable-xctest --no-parallel --scratch-path "$BUILD" \
  --filter 'FuzzingTests\.GrowthTests' || failed="$failed growth"

if [ -n "$failed" ]; then
  echo "make nightly: FAILED ($failed )"
  exit 1
fi
echo "make nightly: passed"
