#!/bin/sh
# Installs with apt what Petrel needs on Debian 12 beyond the Swift toolchain, and what its tests use; with the
# argument `server` only what it takes to build and run the server; with `python` also what tests and benchmarks
# use from PyPI, in $BUILD/python, and promtool and pgbouncer, in $BUILD/tools. Says nothing and does nothing when all
# of it is there.
set -eu
cd "$(dirname "$0")/.."

oldest_swift=6.3

# Lines: tools; the C libraries; what the Swift compiler links with; what the Swift toolchain and Foundation load.
server_packages="
  make pkg-config git ca-certificates
  libsqlite3-dev libnghttp2-dev libssl-dev libmicrohttpd-dev libsodium-dev libcurl4-openssl-dev libpq-dev
  binutils libc6-dev libgcc-12-dev libstdc++-12-dev
  libcurl4 libncurses6 libsqlite3-0 libxml2 libuuid1 zlib1g tzdata
"
test_packages="
  python3 python3-venv graphviz openssl bash zsh fish faketime
  nghttp2-client nghttp2-server chromium chromium-driver postgresql-15
  libevent-2.1-7 libc-ares2
"
packages=$server_packages
[ "${1:-}" = server ] || packages="$server_packages $test_packages"

fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

install_missing() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "only apt is known here. Install the equivalents of:" $packages

  missing=
  for package in $packages; do
    case $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) in
    installed*) ;;
    *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0

  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "sudo is not installed. As root, run: apt-get install -y$missing"
    as_root="sudo env"
  fi

  # Debian's package would start a PostgreSQL here; tests start their own.
  case $missing in
  *" postgresql-15"*)
    cluster=/etc/postgresql-common/createcluster.conf
    [ -e $cluster ] || {
      $as_root sh -c "mkdir -p ${cluster%/*} && echo 'create_main_cluster = false' >$cluster"
    }
    ;;
  esac

  echo "setup: installing$missing"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  apt="${as_root:-env} DEBIAN_FRONTEND=noninteractive apt-get -qq"
  { $apt update && $apt install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null || {
    tail -n 15 "$log" >&2
    fail "apt-get could not install the packages above; its last lines say why." \
      "Mend that and run 'make setup' again."
  }
}

install_python_packages() {
  environment=${BUILD:-.build}/python
  cmp -s Scripts/requirements.txt "$environment/requirements.txt" && return 0
  echo "setup: installing the packages of Scripts/requirements.txt into $environment"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  {
    rm -rf "$environment" && python3 -m venv "$environment" &&
      "$environment/bin/pip" install --disable-pip-version-check --no-compile -r Scripts/requirements.txt
  } >"$log" 2>&1 </dev/null || {
    tail -n 15 "$log" >&2
    fail "the packages could not be installed; the last lines of pip say why." \
      "Mend that and run 'make test' again."
  }
  cp Scripts/requirements.txt "$environment/requirements.txt"
}

# Takes one program out of a package of Debian's: to install the package would start a service here.
take_program() { # PACKAGE PATH
  package=$1
  name=${2##*/}
  [ ! -x "${BUILD:-.build}/tools/$name" ] || return 0
  mkdir -p "${BUILD:-.build}/tools"
  folder=$(mktemp -d)
  log=$folder/log
  trap 'rm -rf "$folder"' EXIT
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  echo "setup: taking $name out of the package $package into ${BUILD:-.build}/tools"
  {
    (cd "$folder" && { apt-get -qq download "$package" ||
      { $as_root apt-get -qq update && apt-get -qq download "$package"; }; }) &&
      dpkg-deb -x "$folder/$package"_*.deb "$folder/package" &&
      cp "$folder/package/$2" "${BUILD:-.build}/tools/$name"
  } >"$log" 2>&1 </dev/null || {
    tail -n 15 "$log" >&2
    fail "the package $package could not be had; the last lines say why." \
      "Mend that and run 'make test' again."
  }
  rm -rf "$folder"
}

check_swift() {
  version=$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  [ -n "$version" ] ||
    fail "'swift --version' does not work. It says: $(swift --version 2>&1 | head -n 3)"
  [ "$(printf '%s\n' "$oldest_swift" "$version" | sort -V | head -n 1)" = "$oldest_swift" ] ||
    fail "Swift $version is too old: $oldest_swift or newer is needed (https://swift.org/install)"
}

command -v swift >/dev/null ||
  fail "there is no 'swift' in PATH. Install Swift 6.3 for Debian 12 (https://swift.org/install)."
install_missing
check_swift
if [ "${1:-}" = python ]; then
  install_python_packages
  take_program prometheus usr/bin/promtool
  take_program pgbouncer usr/sbin/pgbouncer
fi
