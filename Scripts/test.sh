#!/bin/sh
# Checks the format, the module graph, the pages and their prose, the lists of tables and materials, and the build; then runs
# the tests and trials. With ONLY it runs the tests of that name alone, and builds only what the target at the front of the
# name needs. The last line says how it went; the exit status says it too.
set -eu
cd "$(dirname "$0")/.."
export BUILD="${BUILD:-.build}"

if [ -n "${ONLY:-}" ]; then
  target=${ONLY%%.*}
  case $ONLY in
  *\|*) ;; # may name several targets
  *) if [ -n "$(find Tests -maxdepth 2 -type d -name "$target")" ]; then export PETREL_TEST_TARGET="$target"; fi ;;
  esac
  Scripts/build.sh
  exec Scripts/run_tests.py --build "$BUILD" --only "$ONLY"
fi

# What tests use from PyPI comes while the format is looked at and the build begins.
Scripts/setup.sh python &
tools=$!

step=start
trap 'status=$?
  wait $tools || true # or it would go on beside the next run
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

begin "paths and links of the pages"
Scripts/documents.py

begin "words and sentences"
Scripts/prose.py

begin "reasons of what hides failures"
Scripts/reasons.py

begin "deliberate mistakes apply to the sources"
Scripts/mutations.py --check

begin "list of tables"
Scripts/tables.py --check

begin "bill of materials"
Scripts/sbom.py --check || {
  echo "Mend docs/internals/dependencies.md and run 'make sbom'."
  exit 1
}

begin "build, no warnings allowed"
Scripts/build.sh

begin "Apple's symbols"
Scripts/api_coverage.py --check --build "$BUILD" || {
  echo "Run 'make api' and look at docs/reference/api-coverage.md."
  exit 1
}

begin "documentation site"
Scripts/site.py --build "$BUILD"

begin "tests"
wait $tools
Scripts/run_tests.py --build "$BUILD"
