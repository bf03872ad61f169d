#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests.
#
#   scripts/test.sh          release build in build/, all tests
#   scripts/test.sh --nightly  the same with the tests that take minutes: large networks
#                            quantized, every command of all pages
#   scripts/test.sh --asan   AddressSanitizer + UBSan build of everything but the Python package in
#                            build-asan/: its tests, lit and what drives the tools among them
#   scripts/test.sh --tsan   ThreadSanitizer build of the runtime, the simulator and AscendCL in
#                            build-tsan/: their tests, and a minute of each load test
#                            (OPENATC_LOAD_SECONDS: another time)
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --asan ]; then
  scripts/install-deps.sh
  /usr/bin/cmake --preset asan -DCMAKE_MAKE_PROGRAM=/usr/bin/ninja
  /usr/bin/ninja -C build-asan
  # libMLIR is not instrumented; its containers and arenas cross the boundary.
  export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1
  export OPENATC_CACHE_DIR="$PWD/build-asan/object-cache"
  exec /usr/bin/ctest --test-dir build-asan --output-on-failure -j2
fi

if [ "${1:-}" = --tsan ]; then
  scripts/install-deps.sh
  /usr/bin/cmake --preset tsan -DCMAKE_MAKE_PROGRAM=/usr/bin/ninja
  /usr/bin/ninja -C build-tsan
  export TSAN_OPTIONS=halt_on_error=1
  /usr/bin/ctest --test-dir build-tsan --output-on-failure -j2
  build-tsan/bin/ascend-threads-test "${OPENATC_LOAD_SECONDS:-60}"
  exec build-tsan/bin/runtime-load-test "${OPENATC_LOAD_SECONDS:-60}"
fi

if [ "${1:-}" = --nightly ]; then
  export OPENATC_NIGHTLY=1 OPENATC_ALL_COMMANDS=1
fi
scripts/build.sh
export OPENATC_CACHE_DIR="$PWD/build/object-cache"
/usr/bin/ctest --test-dir build --output-on-failure -j2
