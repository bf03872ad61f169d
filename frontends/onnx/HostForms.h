//===-- HostForms.h - ONNX nodes as calls of host kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_HOSTFORMS_H
#define OPENATC_FRONTENDS_ONNX_HOSTFORMS_H

#include <functional>
#include <onnx/onnx_pb.h>
#include <string>

#include "dialects/graph/HostCalls.h"
#include "mlir/IR/Builders.h"

namespace atc::onnx_import {

class GraphImporter;

/// Returns the name of an operator's host kernel; empty where it has none.
std::string hostKernelOf(llvm::StringRef domain, llvm::StringRef op);

/// Creates calls of host kernels. Calls with constant inputs are folded.
class HostCallBuilder {
public:
  /// Called with the reason for which the inputs of a call do not fit it. True: the call is
  /// made all the same and fails when it runs.
  using Deferral = std::function<bool(const std::string &reason)>;

  HostCallBuilder(mlir::OpBuilder &builder, mlir::Location location, Deferral mayDefer = {})
      : builder(builder), location(location), mayDefer(std::move(mayDefer)) {}

  /// Returns the results; empty after an error, which `error` describes.
  llvm::SmallVector<mlir::Value> call(const graph::HostCall &call, std::string &error);
  /// Returns the only result; null after an error.
  mlir::Value call(llvm::StringRef kernel, llvm::ArrayRef<mlir::Value> inputs,
                   llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
  mlir::Value constant(llvm::ArrayRef<int64_t> values, bool scalar = false);
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  Deferral mayDefer; ///< empty: such a call is a fault
};

/// Imports a node as a call in the newest form of its operator: attributes of an older opset become
/// inputs. Fails with a sentence about the node.
llvm::Error importAsHostCall(GraphImporter &importer, onnx::NodeProto &node, int64_t opset);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_HOSTFORMS_H
