//===-- OmDialect.td - the om dialect ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_OM_DIALECT_TD
#define OPENATC_OM_DIALECT_TD

include "mlir/IR/OpBase.td"

def Om_Dialect : Dialect {
  let name = "om";
  let cppNamespace = "::atc::om";
  let summary = "The schedule of a compiled model, one op per table of om.fbs";
  let description = [{
    `func.func @main` holds the schedule: its arguments are the model's input
    and output buffers, its body names weights, allocates arena memory, takes
    views and launches kernels in order.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // OPENATC_OM_DIALECT_TD
