//===-- ModelBoundary.h - element types of inputs and outputs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_MODELBOUNDARY_H
#define OPENATC_DRIVER_MODELBOUNDARY_H

#include "driver/targets/Target.h"
#include "frontends/ModelNodes.h"
#include "mlir/IR/BuiltinOps.h"
#include "support/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace atc::driver {

/// The element type that one output is asked to have.
struct OutputType {
  std::string node;   ///< a node's name, or the name of an output
  unsigned index = 0; ///< of the node's output
  om_dtype type = OM_F32;
};

/// The types and layouts that a user requests for a model's inputs and outputs. The layout
/// NC1HWC0 has blocks of 16 channels innermost: [N, ceil(C/16), H, W, 16], in f16.
struct ModelBoundary {
  std::optional<om_dtype> outputType;  ///< of all outputs; --output_type=FP16
  std::vector<OutputType> outputTypes; ///< of some; --output_type="node:0:FP16"
  std::vector<std::string> halfInputs; ///< inputs that are f16; --input_fp16_nodes
  std::vector<bool> blockedInputs;     ///< which of `halfInputs` are NC1HWC0; missing: none
  std::vector<bool> blockedOutputs;    ///< which outputs are f16 in NC1HWC0; missing: none
  NodeAliases aliases = {};            ///< other names of nodes; set by the import

  /// Returns whether nothing changes.
  bool empty() const {
    return !outputType && outputTypes.empty() && halfInputs.empty() && blockedOutputs.empty();
  }
};

/// Reads a type as the Ascend toolchain writes it ("FP16", "UINT8", "INT32" ...), in any case;
/// nothing where there is no such type.
std::optional<om_dtype> parseTypeName(llvm::StringRef name);

/// Returns the names that parseTypeName reads, comma-separated.
llvm::StringRef typeNames();

/// Changes the types of @main and converts where its inputs begin and its outputs end. What
/// `target` cannot generate code for becomes calls of host kernels. `outNodes` is --out_nodes in
/// the order of the outputs, or empty. Every name that is not there and every type that cannot
/// be converted is an error; returns false then.
bool applyBoundary(mlir::ModuleOp module, const ModelBoundary &boundary,
                   const std::vector<std::string> &outNodes, const Target &target,
                   Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_MODELBOUNDARY_H
