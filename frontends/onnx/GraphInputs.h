//===-- GraphInputs.h - the types of a graph's inputs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHINPUTS_H
#define OPENATC_FRONTENDS_ONNX_GRAPHINPUTS_H

#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

#include "frontends/onnx/OnnxImport.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::onnx_import {

class GraphImporter;

/// An input of the graph.
struct GraphInput {
  std::string name;
  mlir::Type type;
};

/// Computes the inputs of the graph that are not initializers, with the model's shapes or those of
/// the options. A symbolic dim that is given for one input holds for the others as well; other
/// unknown dims are dynamic. Returns false after an error.
bool resolveInputs(const onnx::GraphProto &graph, const OnnxImportOptions &options,
                   GraphImporter &importer, Diagnostics &diagnostics,
                   std::vector<GraphInput> &inputs);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHINPUTS_H
