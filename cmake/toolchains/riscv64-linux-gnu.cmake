# Cross-compiles for 64-bit RISC-V Linux with Debian's g++-riscv64-linux-gnu:
#   cmake -S . -B build-riscv64 --toolchain cmake/toolchains/riscv64-linux-gnu.cmake
#         -DOPENATC_BUILD_COMPILER=OFF -DOPENATC_BUILD_TESTS=OFF

set(ARCH riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
