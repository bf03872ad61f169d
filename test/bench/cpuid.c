/* Preloaded into a process, hides what a lower level of x86-64 does not have from CPUID.
 *
 * Libraries select their code by CPUID, so that a rival in such a process runs what it would run on
 * a processor of that level. Linux lets CPUID fault (arch_prctl), and the handler answers in its
 * position. OPENATC_BENCH_LEVEL names the level: x86-64-v3, x86-64-v4 or x86-64-v4-vnni. Caches and
 * names stay those of the machine. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { structured_features = 7, tiles = 0x1D, tile_products = 0x1E, vectors_avx10 = 0x24 };

/* What leaf 7 may report, by register. */
struct Features {
  const char *level;
  uint32_t ebx, ecx, edx;
};

/* Bits of leaf 7: AVX-512 F, DQ, CD, BW and VL; IFMA; those in ECX that need registers of 512 bits
 * or came with them (VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ). */
#define AVX512 (1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31)
#define IFMA (1u << 21)
#define VNNI (1u << 11)
#define LATER (1u << 1 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 10 | VNNI | 1u << 12 | 1u << 14)
/* In EDX: products of four vectors, VP2INTERSECT, bf16 and int8 in tile registers, f16. */
#define NEWEST (1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25)

static const struct Features levels[] = {
    {"x86-64-v3", ~(AVX512 | IFMA), ~LATER, ~NEWEST},
    {"x86-64-v4", ~IFMA, ~LATER, ~NEWEST},
    {"x86-64-v4-vnni", ~IFMA, ~(LATER & ~VNNI), ~NEWEST},
};
static const struct Features *selected;

static void answer(greg_t *regs) {
  const uint32_t leaf = regs[REG_RAX], subleaf = regs[REG_RCX];
  uint32_t eax, ebx, ecx, edx;
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
  __cpuid_count(leaf, subleaf, eax, ebx, ecx, edx);
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
  if (leaf == structured_features && subleaf == 0) {
    ebx &= selected->ebx;
    ecx &= selected->ecx;
    edx &= selected->edx;
  } else if (leaf == structured_features || leaf == tiles || leaf == tile_products ||
             leaf == vectors_avx10) {
    eax = ebx = ecx = edx = 0;
  }
  regs[REG_RAX] = eax;
  regs[REG_RBX] = ebx;
  regs[REG_RCX] = ecx;
  regs[REG_RDX] = edx;
}

static void onFault(int number, siginfo_t *info, void *context) {
  (void)info;
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (memcmp((const void *)regs[REG_RIP], "\x0F\xA2", 2) == 0) {
    answer(regs);
    regs[REG_RIP] += 2;
  } else {
    signal(number, SIG_DFL); /* Another fault: it repeats, and ends the process. */
  }
}

static void stop(const char *text) {
  fprintf(stderr, "cpuid.so: %s\n", text);
  _exit(1);
}

__attribute__((constructor)) static void hideFeatures(void) {
  const char *level = getenv("OPENATC_BENCH_LEVEL");
  for (size_t i = 0; level && i < sizeof levels / sizeof *levels; ++i)
    if (strcmp(levels[i].level, level) == 0)
      selected = &levels[i];
  if (!selected)
    stop("OPENATC_BENCH_LEVEL is none of x86-64-v3, x86-64-v4, x86-64-v4-vnni");
  struct sigaction action = {.sa_sigaction = onFault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0)
    stop("this processor or system does not let CPUID fault");
}
