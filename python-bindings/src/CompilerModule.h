//===-- CompilerModule.h - an MLIR module for Python ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No MLIR and no Python header: either would come into the other's files.

#ifndef OPENATC_PYTHON_COMPILERMODULE_H
#define OPENATC_PYTHON_COMPILERMODULE_H

#include "openatc/om.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atc::python {

/// Thrown: one coded line for each fault.
struct Faults {
  std::vector<std::string> lines;
};

/// Bytes of a tensor, borrowed.
struct Bytes {
  const void *data;
  std::vector<int64_t> dims;
};

struct CompileRequest {
  std::string output; ///< the .om file
  /// What to compile for, as flags of atc: --soc_version, --target_cpu ...
  std::vector<std::string> targetFlags;
  std::vector<std::string> disabledPasses;
  std::string tempDir;
};

/// A module, the context it lives in and what keeps threads apart. Everything
/// throws Faults.
class CompilerModule {
public:
  using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

  static std::shared_ptr<CompilerModule> load(const std::string &path, const Shapes &inputShapes,
                                              const std::vector<std::string> &outputs);
  static std::shared_ptr<CompilerModule> parse(const std::string &text);
  ~CompilerModule();

  /// With a context of its own.
  std::shared_ptr<CompilerModule> copy();

  std::string print(bool weights, bool locations);
  /// The arguments and results of @main. Unknown dims are -1.
  std::vector<::om::Tensor> inputs();
  std::vector<::om::Tensor> outputs();

  /// `pipeline` is a list of passes and pipelines as atc-opt's --pass-pipeline
  /// takes it, without the outer builtin.module().
  void runPasses(const std::string &pipeline);

  /// The coded warnings there were.
  std::vector<std::string> compile(const CompileRequest &request);

  using NamedTensor =
      std::function<void(const std::string &name, const ::om::Tensor &, const void *)>;
  /// Runs @main in the reference interpreter. `each` gets every named tensor,
  /// `result` the results in their order.
  void interpret(const std::vector<Bytes> &arguments, const NamedTensor &each,
                 const NamedTensor &result);

  struct Parts;
  /// For what works on the module itself, with its lock.
  Parts &access() { return *parts; }

private:
  explicit CompilerModule(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts;
};

/// Compiles a file without keeping its module, which needs less memory.
std::vector<std::string> compileFile(const std::string &path,
                                     const CompilerModule::Shapes &inputShapes,
                                     const std::vector<std::string> &outputs,
                                     const CompileRequest &request);

} // namespace atc::python

#endif // OPENATC_PYTHON_COMPILERMODULE_H
