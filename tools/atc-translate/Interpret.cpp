//===-- Interpret.cpp - runs a module in the reference interpreter --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc-translate/Interpret.h"

#include <nlohmann/json.hpp>
#include <set>

#include "driver/ContextMessages.h"
#include "driver/Interpretation.h"
#include "support/JsonText.h"
#include "support/Npy.h"
#include "support/OneLine.h"
#include "support/OutputFile.h"
#include "tools/common/Inputs.h"
#include "tools/common/Print.h"
#include "tools/common/TypedValues.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

using namespace atc::driver;

namespace atc::tools {
namespace {

bool fail(const std::string &line) {
  print(stderr, "%s\n", oneLine(line).c_str());
  return false;
}

/// Writes tensors into a folder, each under a file name that is legal anywhere.
class Dump {
public:
  explicit Dump(const std::string &folder) : folder(folder) {}

  bool write(const std::string &name, const graph::Tensor &tensor) {
    const std::string key = asUtf8(name); // the key that om-run --compare looks up
    if (folder.empty() || name.empty() || manifest.contains(key))
      return true;
    om::Tensor description = describeTensor(name, tensor.getType());
    if (description.dtype == OM_UNDEFINED)
      return true;
    std::string error;
    std::string file = fileName(name);
    if (!writeNpy(folder + "/" + file, description, tensor.bytes().data(), error))
      return fail(error);
    manifest[key] = file;
    return true;
  }

  bool finish() {
    if (folder.empty())
      return true;
    std::string error;
    return writeWholeFile(folder + "/manifest.json", jsonText(manifest), error) || fail(error);
  }

private:
  std::string fileName(const std::string &tensor) {
    std::string name = fileNameOf(tensor);
    for (char &c : name)
      if (!llvm::isAlnum(c) && !StringRef("._-").contains(c))
        c = '_';
    std::string unique = name;
    for (int n = 2; !files.insert(unique).second; ++n)
      unique = name + "_" + std::to_string(n);
    return unique + ".npy";
  }

  std::string folder;
  std::set<std::string> files;
  nlohmann::json manifest = nlohmann::json::object();
};

bool readArguments(func::FuncOp function, const std::string &input,
                   std::vector<graph::Tensor> &arguments) {
  std::vector<om::Tensor> descriptions;
  std::vector<om::Buffer> buffers;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return fail("E10001: argument " + std::to_string(index) + " of @main has no static shape");
    descriptions.push_back(describeTensor(argumentName(function, index), tensor));
    buffers.emplace_back(descriptions.back().bytes);
  }
  std::vector<std::string> errorLines = readInputs(
      input, descriptions, [&](size_t i, const std::string &file, std::string &errorText) {
        return isTyped(file) ? readTyped(file, descriptions[i], buffers[i].data(), errorText)
                             : readTensor(file, descriptions[i], buffers[i].data(), errorText);
      });
  for (const std::string &errorText : errorLines)
    fail(errorText);
  for (auto [type, buffer] : llvm::zip(function.getArgumentTypes(), buffers))
    arguments.push_back(graph::Tensor::copyOf(cast<RankedTensorType>(type),
                                              ArrayRef(buffer.data<char>(), buffer.size())));
  return errorLines.empty();
}

} // namespace

bool interpretModule(ModuleOp module, const std::string &input, const std::string &dumpFolder) {
  func::FuncOp function = findInterpretable(module);
  if (!function)
    return fail("E16004: the module has no function @main of one block");
  if (!dumpFolder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(dumpFolder))
      return fail("E13004: folder '" + dumpFolder + "' cannot be made: " + error.message());
  std::vector<graph::Tensor> arguments;
  if (!readArguments(function, input, arguments))
    return false;

  Dump dump(dumpFolder);
  bool isWritten = true;
  Diagnostics diagnostics;
  // Messages are for users, who have not written the op.
  module.getContext()->printOpOnDiagnostic(false);
  {
    ContextMessages messages(*module.getContext(), diagnostics);
    messages.setCode("E14001");
    auto results = interpretNamed(function, arguments,
                                  [&](const std::string &name, const graph::Tensor &tensor) {
                                    isWritten &= dump.write(name, tensor);
                                  });
    if (failed(results))
      messages.fail("the model cannot be interpreted");
  }
  diagnostics.print(llvm::errs());
  return !diagnostics.hasErrors() && isWritten && dump.finish();
}

} // namespace atc::tools
