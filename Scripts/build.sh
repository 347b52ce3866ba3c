#!/bin/sh
# Builds programs and tests as all checks use them, so that no check builds again what another has built: with kill
# points, the modules that compute optimized, and tests without lines for debuggers, which take a twentieth of the
# time. A warning is an error, not a line to look for: a file that compiled with one is not compiled again by the next
# build, which would then say nothing.
set -eu
cd "$(dirname "$0")/.."
export PETREL_CHECKED=1
exec swift build --build-tests --scratch-path "${BUILD:-.build}" -debug-info-format none \
  -Xswiftc -warnings-as-errors "$@"
