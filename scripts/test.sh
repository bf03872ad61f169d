#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests.
#
#   scripts/test.sh          release build in build/, all tests
#   scripts/test.sh --asan   AddressSanitizer + UBSan build in build-asan/:
#                            runtime, importer, writer and their tests
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --asan ]; then
  scripts/install-deps.sh
  /usr/bin/cmake --preset asan -DCMAKE_MAKE_PROGRAM=/usr/bin/ninja
  /usr/bin/ninja -C build-asan
  # libMLIR is not instrumented; its containers cross the boundary.
  export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0
  exec /usr/bin/ctest --test-dir build-asan --output-on-failure -j2
fi

scripts/build.sh
/usr/bin/ctest --test-dir build --output-on-failure -j2
