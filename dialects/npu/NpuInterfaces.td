//===-- NpuInterfaces.td - ops that are instructions -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_INTERFACES_TD
#define OPENATC_NPU_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Npu_InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let description = [{
    An op that stands for one instruction. All such ops, with these methods, are
    printed by npu-print-ods from npu/isa/Isa.def.
  }];
  let cppNamespace = "::atc::npu::ir";
  let methods = [
    InterfaceMethod<"Returns the instruction that the op stands for.",
                    "::atc::npu::Opcode", "getOpcode">,
    InterfaceMethod<"Returns the op's buffers and attributes in the order of the instruction's parts.",
                    "::atc::npu::ir::InstructionParts", "getParts">
  ];
  let verify = [{ return ::atc::npu::ir::verifyInstruction($_op); }];
}

#endif // OPENATC_NPU_INTERFACES_TD
