//===-- Cpu.cpp - what this processor can run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Cpu.h"

#include "runtime-lite/abi/TileRegisters.h"

#include <cstring>
#include <sched.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) || defined(__arm__) || defined(__riscv)
#include <sys/auxv.h>
#endif

namespace atc::rt {

uint32_t usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

#if defined(__x86_64__)

namespace {
enum Register : uint8_t { EAX, EBX, ECX, EDX };

/// The state that the system must save on a thread switch for a feature to be usable: bits of XCR0,
/// where 3 and 4 stand for 17 and 18.
enum State : uint8_t { None = 0, Avx = 0x06, Avx512 = 0xE6, Tiles = 0x18 };

struct Row {
  char name[19];
  uint8_t leaf; ///< of CPUID; bit 7 stands for bit 31
  uint8_t subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

constexpr Row rows[] = {
    {"x87", 1, 0, EDX, 0, None},
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"crc32", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"xsave", 1, 0, ECX, 27, None}, // the bit that says whether the system uses it
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8, None},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Tiles},
    {"amx-int8", 7, 0, EDX, 25, Tiles},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"xsaveopt", 0xD, 1, EAX, 0, None},
    {"xsavec", 0xD, 1, EAX, 1, None},
    {"sahf", 0x81, 0, ECX, 0, None},
    {"lzcnt", 0x81, 0, ECX, 5, None},
    {"sse4a", 0x81, 0, ECX, 6, None},
    {"prfchw", 0x81, 0, ECX, 8, None},
};

bool readLeaf(uint32_t leaf, uint32_t subleaf, uint32_t (&regs)[4]) {
  return __get_cpuid_count(leaf, subleaf, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]) != 0;
}

/// Returns what the system saves, as in State; 0 where it does not use XSAVE.
uint8_t savedState() {
  constexpr uint32_t osxsave = 1u << 27;
  uint32_t regs[4];
  if (!readLeaf(1, 0, regs) || !(regs[ECX] & osxsave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & Avx512) | (low >> 14 & Tiles);
}
} // namespace

bool cpuHas(const char *feature) {
  for (const Row &row : rows) {
    if (std::strcmp(row.name, feature) != 0)
      continue;
    uint32_t regs[4];
    const uint32_t leaf = uint32_t(row.leaf & 0x80) << 24 | (row.leaf & 0x7F);
    if (!readLeaf(leaf, row.subleaf, regs) || !(regs[row.reg] >> row.bit & 1))
      return false;
    return (savedState() & row.state) == row.state &&
           (row.state != Tiles || abi::requestTileRegisters());
  }
  return std::strcmp(feature, "64bit") == 0;
}

#elif defined(__aarch64__)

namespace {
/// A bit of the kernel's description of the processor. The values are part of the kernel's
/// interface; older system headers do not have names for all of them.
struct Row {
  char name[12];
  unsigned long vector;
  uint8_t bit;
};

constexpr Row rows[] = {
    {"fp-armv8", AT_HWCAP, 0},  {"neon", AT_HWCAP, 1},     {"aes", AT_HWCAP, 3},
    {"sha2", AT_HWCAP, 6},      {"crc", AT_HWCAP, 7},      {"lse", AT_HWCAP, 8},
    {"fullfp16", AT_HWCAP, 10}, // of vectors; scalars come with it
    {"rdm", AT_HWCAP, 12},      {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},
    {"fp16fml", AT_HWCAP, 23},  {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
};
} // namespace

bool cpuHas(const char *feature) {
  for (const Row &row : rows)
    if (std::strcmp(row.name, feature) == 0)
      return getauxval(row.vector) >> row.bit & 1;
  return false;
}

#elif defined(__arm__)

/// The bits are part of the kernel's interface. Kernels of 64 bits state them for programs of 32.
bool cpuHas(const char *feature) {
  constexpr unsigned neon = 12, vfp4 = 16;
  const unsigned long features = getauxval(AT_HWCAP);
  return (std::strcmp(feature, "neon") == 0 && features >> neon & 1) ||
         (std::strcmp(feature, "vfp4") == 0 && features >> vfp4 & 1);
}

#elif defined(__riscv)

/// An extension is a letter; the kernel describes the processor by a bit per letter.
bool cpuHas(const char *feature) {
  return feature[0] >= 'a' && feature[0] <= 'z' && !feature[1] &&
         (getauxval(AT_HWCAP) >> (feature[0] - 'a') & 1);
}

#else

bool cpuHas(const char *) { return false; }

#endif

} // namespace atc::rt
