# Cross-compiles for 64-bit RISC-V Linux with Debian's g++-riscv64-linux-gnu:
#   cmake -S . -B build-riscv64 --toolchain cmake/toolchains/riscv64-linux-gnu.cmake
#         -DOPENATC_BUILD_COMPILER=OFF -DOPENATC_BUILD_TESTS=OFF
# The compiler looks for headers in /usr/include too, where header-only libraries
# (FlatBuffers, CLI11) are the same for every machine.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE riscv64-linux-gnu)

# Programs such as flatc are the build machine's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# What runs the tests and any program built here.
find_program(OPENATC_QEMU_RISCV64 qemu-riscv64)
if(OPENATC_QEMU_RISCV64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OPENATC_QEMU_RISCV64};-L;/usr/riscv64-linux-gnu")
endif()
