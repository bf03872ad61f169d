//===-- CompilerModule.h - an MLIR module for Python ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No MLIR and no Python header: either would come into the other's files.

#ifndef OPENATC_PYTHON_COMPILERMODULE_H
#define OPENATC_PYTHON_COMPILERMODULE_H

#include "driver/targets/TargetRequest.h"
#include "openatc/om.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atc::python {

/// Thrown: a coded line per error.
struct ErrorLines {
  std::vector<std::string> lines;
};

/// Bytes of a tensor, borrowed.
struct Bytes {
  const void *data;
  std::vector<int64_t> dims;
};

using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// A model and what of it is read.
struct ModelRequest {
  std::string path;
  /// An ONNX model in memory, for which `path` only is a name.
  std::optional<std::string> bytes;
  Shapes inputShapes;
  std::vector<std::string> outputs; ///< empty: those of the model
  /// A list of sizes per gear, one for each -1 of `inputShapes` in their order; empty: no gears.
  std::vector<std::vector<int64_t>> gears = {};
  std::string signature = {}; ///< of a SavedModel; empty: "serving_default" or the only one
};

class CompilerModule;

/// Passes before, after or in place of a pass of the compiler.
struct PassChange {
  std::string where; ///< "before", "after" or "replace"
  std::string pass, pipeline;
};

/// Holds the passes and functions that a user runs between the passes and phases of a compilation.
struct CompileHooks {
  std::vector<PassChange> passes;
  std::vector<std::string> phases; ///< behind which `run` is called
  /// Gets a copy of the module behind a phase and may change it. Returns the module to go on with;
  /// it may throw ErrorLines.
  std::function<std::shared_ptr<CompilerModule>(const std::string &phase,
                                                std::shared_ptr<CompilerModule>)>
      run;
  std::function<void(const std::string &)> onStage; ///< gets the name of each stage as it begins
};

struct CompileRequest {
  driver::TargetRequest target;
  std::vector<std::string> disabledPasses;
  std::string tempDir; ///< empty: none
  CompileHooks hooks = {};
};

/// An operation of a module, as text.
struct OperationText {
  std::string name, location; ///< the location is the node of the model, empty where it is unknown
  unsigned depth;             ///< how many operations are around it, the module not counted
  std::vector<std::string> operands, results; ///< types
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// A compiled model and the coded warnings there were.
struct CompiledModel {
  std::vector<std::string> warnings;
  ::om::Buffer file; ///< empty where it was written to a path
};

/// A module, the context it lives in and what keeps threads apart. Everything
/// throws ErrorLines.
class CompilerModule {
public:
  /// Imports a model; throws its errors.
  static std::shared_ptr<CompilerModule> load(const ModelRequest &model);
  /// Parses a module of MLIR; throws its errors.
  static std::shared_ptr<CompilerModule> parse(const std::string &text);
  ~CompilerModule();

  /// Returns a copy of the module in a context of its own.
  std::shared_ptr<CompilerModule> copy();

  /// Returns the module as text, with the elements of constants and with locations if wanted.
  std::string print(bool weights, bool locations);
  /// The arguments and results of @main. Unknown dims are -1.
  std::vector<::om::Tensor> inputs();
  std::vector<::om::Tensor> outputs();

  /// Returns the operations in the order of the text, each before those inside of it.
  std::vector<OperationText> operations();

  /// `pipeline` is a list of passes and pipelines as atc-opt's --pass-pipeline
  /// takes it, without the outer builtin.module().
  void runPasses(const std::string &pipeline);

  /// Writes the `.om` to `output`, or returns it where that is empty.
  CompiledModel compile(const CompileRequest &request, const std::string &output);
  /// Returns a copy that has gone through the phases up to `stopAfter`.
  std::shared_ptr<CompilerModule> lower(const CompileRequest &request,
                                        const std::string &stopAfter);

  using NamedTensor =
      std::function<void(const std::string &name, const ::om::Tensor &, const void *)>;
  /// Runs @main in the reference interpreter. `each` gets every named tensor,
  /// `result` the results in their order.
  void interpret(const std::vector<Bytes> &arguments, const NamedTensor &each,
                 const NamedTensor &result);

  struct Parts;
  explicit CompilerModule(std::unique_ptr<Parts> parts);
  /// Returns the parts, for code that works on the module itself and holds its lock.
  Parts &access() { return *parts; }

private:
  std::unique_ptr<Parts> parts;
};

/// Compiles a model without keeping its module, which needs less memory than
/// CompilerModule::compile, and otherwise does the same.
CompiledModel compileModel(const ModelRequest &model, const CompileRequest &request,
                           const std::string &output);
/// Reads a model and runs the phases up to `stopAfter`.
std::shared_ptr<CompilerModule> lowerModel(const ModelRequest &model, const CompileRequest &request,
                                           const std::string &stopAfter);

/// Returns the ONNX model of an operator, which is described as in a file for `atc --singleop`; an
/// output of the type "UNDEFINED" has the type and dims that follow from the inputs.
std::string singleOpModel(const std::string &description);

} // namespace atc::python

#endif // OPENATC_PYTHON_COMPILERMODULE_H
