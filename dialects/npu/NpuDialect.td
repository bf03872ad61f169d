//===-- NpuDialect.td - the npu dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_DIALECT_TD
#define OPENATC_NPU_DIALECT_TD

include "mlir/IR/OpBase.td"

def Npu_Dialect : Dialect {
  let name = "npu";
  let cppNamespace = "::atc::npu::ir";
  let summary = "Programs for a core with cube, vector and move queues";
  let description = [{
    Has one op per instruction of the NPU, printed from npu/isa/Isa.def, with
    buffers and loops instead of addresses and indices of induction variables.
    Attributes have the names of the instruction's ranges and fields. In addition
    it has the kernels that only the NPU has (conv2d, matmul, layer_norm): ops on
    memrefs that become programs.
  }];
  let dependentDialects = ["::atc::kernel::KernelDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // OPENATC_NPU_DIALECT_TD
