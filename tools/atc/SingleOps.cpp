//===-- SingleOps.cpp - compiles the operators of a .json file ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/SingleOps.h"

#include "dialects/graph/HostCalls.h"
#include "frontends/air/InferredOutputs.h"
#include "passes/om/Schedule.h"
#include "tools/atc/SettingsFile.h"
#include "tools/common/OutputFolder.h"

#include <set>

namespace atc::tools {

/// Returns "f16 [2, 3]"; a dim of -1 is dynamic.
static std::string describeType(int type, llvm::ArrayRef<int64_t> dims) {
  std::string text = std::string(om_dtype_name(om_dtype(type))) + " [";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + "]";
}

/// Checks that the results of an imported operator are what its file describes: whoever runs it
/// provides memory for that. Returns false after an error.
static bool checkOutputs(const SingleOp &op, mlir::ModuleOp module, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  mlir::func::FuncOp main = om::findMain(module);
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || i >= op.outputs.size())
      continue;
    const SingleOpTensor &stated = op.outputs[i];
    const int element = graph::dtypeOf(tensor.getElementType());
    if (tensor.getShape() == llvm::ArrayRef(stated.dims) && element == singleOpType(stated))
      continue;
    diagnostics.error("E10027", "the operator " + op.type + " of --singleop, output_desc[" +
                                    llvm::Twine(i) + "]: the result is " +
                                    describeType(element, tensor.getShape()) +
                                    ", but the file describes " +
                                    describeType(singleOpType(stated), stated.dims));
  }
  return diagnostics.numErrors() == before;
}

static bool isDynamic(const SingleOp &op) {
  return llvm::any_of(
      op.inputs, [](const SingleOpTensor &tensor) { return llvm::is_contained(tensor.dims, -1); });
}

/// Infers the dims of outputs that are [-2]. Returns false after an error.
static bool inferDims(SingleOp &op, Diagnostics &diagnostics) {
  if (llvm::none_of(op.outputs, [](const auto &output) { return output.isInferred; }))
    return true;
  auto context = driver::makeCompilerContext();
  SingleOp known = op;
  Diagnostics ofOp;
  if (!air::inferOutputs(known, *context, ofOp)) {
    for (const CodedMessage &error : ofOp.all())
      diagnostics.error(error.code == "E10055" ? ErrorCode("E10055") : ErrorCode("E14001"),
                        "the operator " + op.type +
                            " of --singleop, whose output_desc is to be inferred: " + error.text);
    return false;
  }
  for (auto [output, inferred] : llvm::zip(op.outputs, known.outputs))
    if (output.isInferred)
      output.dims = inferred.dims;
  return true;
}

static void compileOp(const SingleOp &op, const std::string &file, const AtcOptions &options,
                      FlagValues flags, Diagnostics &diagnostics) {
  driver::CompilerOptions compilerOptions = options.compiler;
  if (isDynamic(op) && compilerOptions.target != options.host) {
    diagnostics.warning("W11010", "the operator " + op.type +
                                      " of --singleop has dims of -1: it is compiled for the CPU; "
                                      "state every dim to have it run on the NPU");
    compilerOptions.target = options.host;
  }
  driver::ModelSource &source = compilerOptions.source;
  source.bytes = makeSingleOpModel(op, diagnostics);
  if (!source.bytes)
    return;
  // The model is called as the operator is.
  source.path = op.type;
  source.format = driver::ModelFormat::Onnx;
  flags.given["singleop"] = describeSingleOp(op);
  compilerOptions.commandLine = recordedCommand(flags);
  auto context = driver::makeCompilerContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    driver::ContextMessages messages(*context, diagnostics);
    module = driver::importModel(source, *compilerOptions.target, *context, messages, diagnostics);
  }
  if (!module || !checkOutputs(op, *module, diagnostics))
    return;
  driver::Compiler compiler(*context, std::move(compilerOptions), diagnostics);
  compiler.setModule(std::move(module));
  compiler.emitFile(file);
}

void compileSingleOps(const AtcOptions &options, const FlagValues &flags,
                      Diagnostics &diagnostics) {
  auto file = SettingsFile::read("singleop", options.singleOps, diagnostics);
  if (!file)
    return;
  auto json = file->json(diagnostics, "E10025");
  if (!json)
    return;
  std::vector<SingleOp> ops = readSingleOps(*json, file->origin(), diagnostics);
  for (SingleOp &op : ops)
    if (diagnostics.hasErrors() || !inferDims(op, diagnostics))
      return;
  std::set<std::string> names;
  for (size_t i = 0; i < ops.size(); ++i)
    if (const std::string name = singleOpFileName(ops[i], i); !names.insert(name).second)
      diagnostics.error("E13009",
                        file->origin() + ": two operators have the name \"" + name + "\"");
  const std::string folder = options.outputFile + "/";
  if (diagnostics.hasErrors() || !makeFolderOf(folder + "x", "--output", diagnostics))
    return;
  for (size_t i = 0; i < ops.size() && !diagnostics.hasErrors(); ++i)
    compileOp(ops[i], folder + singleOpFileName(ops[i], i) + ".om", options, flags, diagnostics);
}

} // namespace atc::tools
