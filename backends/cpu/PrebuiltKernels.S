# PrebuiltKernels.S - objects of host kernels as data
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

        .section .rodata
        .globl  openatc_prebuilt_kernels
        .hidden openatc_prebuilt_kernels
        .balign 16
openatc_prebuilt_kernels:
        .incbin "backends/cpu/PrebuiltKernels.bin"
        .section .note.GNU-stack, "", %progbits
