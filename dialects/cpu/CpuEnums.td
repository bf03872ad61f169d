//===-- CpuEnums.td - enums of the cpu dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_ENUMS_TD
#define OPENATC_CPU_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Cpu_PoolKind : I32EnumAttr<"PoolKind", "", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">
]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::atc::cpu";
}

#endif // OPENATC_CPU_ENUMS_TD
