#!/usr/bin/env bash
# Runs every fuzz program for a number of inputs and prints a line of figures each.
#
#   test/fuzz/report.sh [--quick] [--build DIR]
#
# --quick divides the numbers of inputs by 100. Build first with AddressSanitizer
# (scripts/test.sh --asan) and name build-asan for findings that a plain build does not show.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build divide=1
while [ $# -gt 0 ]; do
  case $1 in
  --quick) divide=100 ;;
  --build) shift; build=$1 ;;
  *) sed -n '2,8p' "$0" >&2; exit 2 ;;
  esac
  shift
done
bin=$build/bin
# libMLIR is not instrumented; its containers cross the boundary.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:allocator_may_return_null=1

failed=0
report() { # name, command ...
  local name=$1
  shift
  echo "== $name: $*"
  "$@" 2>&1 | tail -n 4 || failed=1
}
report "host kernels" "$bin/fuzz-host-kernels" --calls $((10000000 / divide))
report "NPU programs" "$bin/fuzz-npu-program" --mutations=$((1000000 / divide)) test/fuzz/corpus-npu
exit $failed
