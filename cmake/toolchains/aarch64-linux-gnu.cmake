# Cross-compiles for AArch64 Linux with Debian's g++-aarch64-linux-gnu:
#   cmake -S . -B build-aarch64 --toolchain cmake/toolchains/aarch64-linux-gnu.cmake
#         -DOPENATC_BUILD_COMPILER=OFF -DOPENATC_BUILD_TESTS=OFF

set(ARCH aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
