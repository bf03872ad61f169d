#!/usr/bin/env bash
# What machines check besides the tests. `scripts/check.sh` checks what has changed, `--nightly` all:
#
#   scripts/check.sh [--base COMMIT]
#              sources that changed since COMMIT (origin/main): they compile without the precompiled
#              header, and clang-tidy finds nothing; needs the build of scripts/build.sh
#   scripts/check.sh --nightly
#              every source so; the build with asserts, AddressSanitizer and UBSan with its tests
#              (scripts/test.sh --asan); each fuzz program for a minute in that build
#              (OPENATC_FUZZ_SECONDS: another time)
#   scripts/check.sh compile|tidy|asan|fuzz
#              one of these, over the whole tree
set -euo pipefail
cd "$(dirname "$0")/.."

need_tidy() {
  command -v clang-tidy-22 >/dev/null && return
  if [ "$(id -u)" -ne 0 ]; then
    echo "clang-tidy is missing: sudo apt-get install --no-install-recommends clang-tidy-22" >&2
    exit 1
  fi
  apt-get install -y --no-install-recommends clang-tidy-22
}

check_compile() { scripts/check_sources.py --compile "$@"; }
check_tidy() {
  need_tidy
  scripts/check_sources.py --tidy "$@"
}
check_asan() { scripts/test.sh --asan; }
check_fuzz() {
  test/fuzz/report.sh --quick --seconds "${OPENATC_FUZZ_SECONDS:-60}" --build build-asan
}

case ${1:-} in
'' | --base)
  check_compile "$@"
  check_tidy "$@"
  ;;
--nightly)
  check_compile --all
  check_tidy --all
  check_asan
  check_fuzz
  ;;
compile | tidy) "check_$1" --all ;;
asan | fuzz) "check_$1" ;;
*)
  sed -n '2,12p' "$0" >&2
  exit 2
  ;;
esac
