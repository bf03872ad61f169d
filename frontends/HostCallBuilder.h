//===-- HostCallBuilder.h - makes calls of host kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_HOSTCALLBUILDER_H
#define OPENATC_FRONTENDS_HOSTCALLBUILDER_H

#include <functional>
#include <string>

#include "dialects/graph/HostCalls.h"
#include "mlir/IR/Builders.h"

namespace atc {

/// The effort that importers spend on the types of results of calls with dynamic shapes.
enum class HostTypes {
  Rules, ///< the element type; results have no rank
  Probed ///< rank and the dims that hold for all sizes, where the kernel says so
};

/// Makes calls of host kernels. Those whose inputs are constants are folded.
class HostCallBuilder {
public:
  HostCallBuilder(mlir::OpBuilder &builder, mlir::Location location,
                  HostTypes types = HostTypes::Rules)
      : builder(builder), location(location), types(types) {}

  /// Called with the reason for which the inputs of a call do not fit it. True: the call is created
  /// all the same and fails when it runs.
  using Deferral = std::function<bool(const std::string &reason)>;
  void setDeferral(Deferral deferral) { mayDefer = std::move(deferral); }

  /// Returns the results; empty after an error, whose text is then in `error`.
  llvm::SmallVector<mlir::Value> call(const graph::HostCall &call, std::string &error);
  /// Returns the one result; null after an error (message() has its text) or where an
  /// input is null.
  mlir::Value call(llvm::StringRef kernel, llvm::ArrayRef<mlir::Value> inputs,
                   llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
  mlir::Value constantOf(mlir::ElementsAttr value);
  /// Makes a constant of 64-bit integers, of rank 1 or (`scalar`) of rank 0.
  mlir::Value constant(llvm::ArrayRef<int64_t> values, bool scalar = false);
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute floats(llvm::StringRef name, llvm::ArrayRef<double> values);
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef value);

  /// Converts elements by a host call; returns `value` where nothing changes.
  mlir::Value cast(mlir::Value value, mlir::Type element);

  /// The text of the first error; empty where there was none.
  llvm::StringRef message() const { return firstError; }

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  HostTypes types;
  Deferral mayDefer; ///< empty: a call whose inputs do not fit is an error
  std::string firstError;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_HOSTCALLBUILDER_H
