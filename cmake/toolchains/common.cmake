# What the toolchain files of Linux on other machines share: ARCH is the first word of the names of
# Debian's cross compilers, CMake's name of the processor, and that of qemu's user emulation. ABI is
# the last word of those names where it is not "gnu".
#
# The compiler looks for headers in /usr/include too, where header-only libraries
# (FlatBuffers, CLI11) are the same for every machine.

if(NOT ABI)
  set(ABI gnu)
endif()
set(machine ${ARCH}-linux-${ABI})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${ARCH})
set(CMAKE_C_COMPILER ${machine}-gcc)
set(CMAKE_CXX_COMPILER ${machine}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${machine})

# Programs such as flatc are the build machine's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# What runs the tests and any program built here.
find_program(OPENATC_QEMU_${ARCH} qemu-${ARCH})
if(OPENATC_QEMU_${ARCH})
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OPENATC_QEMU_${ARCH}};-L;/usr/${machine}")
endif()
