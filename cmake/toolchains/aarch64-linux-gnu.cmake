# Cross-compiles for AArch64 Linux with Debian's g++-aarch64-linux-gnu:
#   cmake -S . -B build-aarch64 --toolchain cmake/toolchains/aarch64-linux-gnu.cmake
#         -DOPENATC_BUILD_COMPILER=OFF -DOPENATC_BUILD_TESTS=OFF
# The compiler looks for headers in /usr/include too, where header-only libraries
# (FlatBuffers, CLI11) are the same for every machine.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# Programs such as flatc are the build machine's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# What runs the tests and any program built here.
find_program(OPENATC_QEMU_AARCH64 qemu-aarch64)
if(OPENATC_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OPENATC_QEMU_AARCH64};-L;/usr/aarch64-linux-gnu")
endif()
