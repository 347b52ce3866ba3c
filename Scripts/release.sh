#!/bin/sh
# Builds the server with Swift's own libraries linked into it, and checks that it needs none of them
# where it runs: only libraries of Debian's packages.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-.build}

swift build -c release --product petrel --static-swift-stdlib --scratch-path "$build"
program=$build/release/petrel
needed=$(ldd "$program")
case $needed in
*libswift* | *libFoundation* | *lib_Foundation* | *libdispatch* | *libBlocksRuntime* | *"not found"*)
  printf '%s\n' "$needed" >&2
  echo "release: the program needs libraries that are not Debian's, see above" >&2
  exit 1
  ;;
esac
"$program" version
if command -v dpkg-query >/dev/null; then
  echo "It needs these packages of Debian:"
  # The loader and libm are libc's; what a merged /usr hides is known to dpkg by its old path, too.
  printf '%s\n' "$needed" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
    file=$(readlink -f "$library")
    dpkg-query --search "$file" "${file#/usr}" 2>/dev/null || true
  done | cut -d : -f 1 | sort -u | tr '\n' ' '
  echo
fi
