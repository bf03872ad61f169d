# Cross-compiles for ARMv7-A Linux, hard float, with Debian's g++-arm-linux-gnueabihf:
#   cmake -S . -B build-armv7 --toolchain cmake/toolchains/arm-linux-gnueabihf.cmake
#         -DOPENATC_BUILD_COMPILER=OFF -DOPENATC_BUILD_TESTS=OFF

set(ARCH arm)
set(ABI gnueabihf)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
