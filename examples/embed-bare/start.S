// Enters C on a processor that has just been reset: a stack, floating point, zeroed data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
    .section .text.start, "ax"
    .globl _start
_start:
#ifdef __aarch64__
    ldr x0, =stack_end
    mov sp, x0
    mov x0, #(3 << 20)          // CPACR_EL1.FPEN: NEON at EL0 and EL1
    msr cpacr_el1, x0
    isb
    ldr x0, =bss_begin
    ldr x1, =bss_end
1:  cmp x0, x1
    b.hs 2f
    str xzr, [x0], #8
    b 1b
2:  bl start_c
    b .
#elif defined(__riscv)
    la sp, stack_end
    li t0, 0x2200               // mstatus.FS and .VS: floating point and vectors, initial state
    csrs mstatus, t0
    la t0, bss_begin
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, (t0)
    addi t0, t0, 8
    j 1b
2:  call start_c
    j .
#else
#error "add the first instructions of this processor"
#endif
