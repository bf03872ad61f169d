# KernelBitcode.S - the host kernels' bitcode as data
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Bitcode is read as words, so it is aligned.

        .section .rodata
        .globl  openatc_kernels_x86_64, openatc_kernels_x86_64_end
        .globl  openatc_kernels_aarch64, openatc_kernels_aarch64_end
        .globl  openatc_kernels_riscv64, openatc_kernels_riscv64_end
        .globl  openatc_kernels_armv7, openatc_kernels_armv7_end
        .hidden openatc_kernels_x86_64, openatc_kernels_x86_64_end
        .hidden openatc_kernels_aarch64, openatc_kernels_aarch64_end
        .hidden openatc_kernels_riscv64, openatc_kernels_riscv64_end
        .hidden openatc_kernels_armv7, openatc_kernels_armv7_end
        .balign 16
openatc_kernels_x86_64:
        .incbin "kernels/x86_64.bc"
openatc_kernels_x86_64_end:
        .balign 16
openatc_kernels_aarch64:
        .incbin "kernels/aarch64.bc"
openatc_kernels_aarch64_end:
        .balign 16
openatc_kernels_riscv64:
        .incbin "kernels/riscv64.bc"
openatc_kernels_riscv64_end:
        .balign 16
openatc_kernels_armv7:
        .incbin "kernels/armv7.bc"
openatc_kernels_armv7_end:
        .section .note.GNU-stack, "", %progbits
