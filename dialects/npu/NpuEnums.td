//===-- NpuEnums.td - memories and queues -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ENUMS_TD
#define OPENATC_NPU_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Npu_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::atc::npu::ir";
}

// The values are those of npu/isa/Isa.h.
def Npu_Memory : Npu_Enum<"MemoryKind", [
  I32EnumAttrCase<"GM", 0, "gm">, I32EnumAttrCase<"L1", 1, "l1">,
  I32EnumAttrCase<"L0A", 2, "l0a">, I32EnumAttrCase<"L0B", 3, "l0b">,
  I32EnumAttrCase<"L0C", 4, "l0c">, I32EnumAttrCase<"UB", 5, "ub">,
  I32EnumAttrCase<"BT", 6, "bt">
]>;

def Npu_Queue : Npu_Enum<"QueueKind", [
  I32EnumAttrCase<"S", 0, "s">, I32EnumAttrCase<"M", 1, "m">, I32EnumAttrCase<"V", 2, "v">,
  I32EnumAttrCase<"MTE1", 3, "mte1">, I32EnumAttrCase<"MTE2", 4, "mte2">,
  I32EnumAttrCase<"MTE3", 5, "mte3">, I32EnumAttrCase<"FIX", 6, "fix">
]>;

def Npu_GuardKind : Npu_Enum<"GuardKind", [
  I32EnumAttrCase<"Always", 0, "always">, I32EnumAttrCase<"First", 1, "first">,
  I32EnumAttrCase<"NotFirst", 2, "not_first">, I32EnumAttrCase<"Last", 3, "last">,
  I32EnumAttrCase<"NotLast", 4, "not_last">
]>;

#endif // OPENATC_NPU_ENUMS_TD
