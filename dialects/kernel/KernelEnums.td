//===-- KernelEnums.td - enums of the kernel dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNEL_ENUMS_TD
#define OPENATC_KERNEL_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Kernel_PoolKind : I32EnumAttr<"PoolKind", "", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">
]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::atc::kernel";
}

#endif // OPENATC_KERNEL_ENUMS_TD
