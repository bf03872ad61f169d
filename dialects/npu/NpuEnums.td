//===-- NpuEnums.td - memories and queues -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ENUMS_TD
#define OPENATC_NPU_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Npu_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::atc::npu::ir";
}

// Npu_Memory, Npu_Queue, Npu_GuardKind: printed by npu-print-ods from npu/soc/Hardware.def and
// npu/isa/Isa.def.
include "dialects/npu/NpuEnumCases.td"

#endif // OPENATC_NPU_ENUMS_TD
