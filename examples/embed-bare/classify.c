/* Classifies a handwritten digit without an operating system, a heap and files. The model is linked
 * into the program (atc --emit=object), the picture too. The result goes to the debugger, or to the
 * terminal of qemu, by semihosting.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "digits.h"
#include "openatc/bare.h"
#include "picture.h" /* picture_3[]: a 28 x 28 picture, float, 64-byte aligned */

static unsigned char memory[DIGITS_OM_MEMORY_BYTES] __attribute__((aligned(64)));
static float scores[DIGITS_OM_OUTPUT_SCORES_BYTES / sizeof(float)] __attribute__((aligned(64)));

/* Calls the debugger: 4 writes a text, 0x20 ends the program. */
static long semihost(long operation, const void *argument) {
#ifdef __aarch64__
  register long x0 __asm__("x0") = operation;
  register const void *x1 __asm__("x1") = argument;
  __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
  return x0;
#elif defined(__riscv)
  register long a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  /* Three instructions of four bytes: the debugger looks at those around the ebreak. */
  __asm__ volatile(".balign 16\n.option push\n.option norvc\n"
                   "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
  return a0;
#else
#error "add the call of this processor's debugger"
#endif
}

static void print(const char *text) { semihost(4, text); }

static void finish(long code) {
  const long reason[2] = {0x20026, code}; /* the application has ended */
  semihost(0x20, reason);
  for (;;)
    ;
}

void start_c(void) {
  om_bare *model;
  om_error error;
  if (om_bare_open(digits_om, DIGITS_OM_BYTES, NULL, memory, sizeof(memory), &model, &error) !=
      OM_OK) {
    print(error.message);
    print("\n");
    finish(1);
  }
  const void *inputs[] = {picture_3};
  void *outputs[] = {scores};
  if (om_bare_run(model, inputs, outputs, &error) != OM_OK) {
    print(error.message);
    print("\n");
    finish(1);
  }
  int best = 0;
  for (int i = 1; i < 10; ++i)
    if (scores[i] > scores[best])
      best = i;
  char line[] = "the picture is a ?\n";
  line[17] = (char)('0' + best);
  print(line);
  finish(0);
}
