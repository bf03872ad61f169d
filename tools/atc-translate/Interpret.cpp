//===-- Interpret.cpp - runs a module in the reference interpreter --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc-translate/Interpret.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "dialects/graph/Graph.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "tools/om-run/Inputs.h"
#include "tools/om-run/Npy.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace atc::tools {
namespace {

/// The name that the importer gave a value: the outer name of its location. A
/// fused op has the name of its last part.
std::string tensorName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return tensorName(fused.getLocations().back());
  return "";
}

om_dtype convertType(Type type) {
  bool isUnsigned = type.isUnsignedInteger();
  if (type.isF32())
    return OM_F32;
  if (type.isF64())
    return OM_F64;
  if (type.isF16())
    return OM_F16;
  if (type.isBF16())
    return OM_BF16;
  if (type.isInteger(1))
    return OM_BOOL;
  if (type.isInteger(8))
    return isUnsigned ? OM_U8 : OM_I8;
  if (type.isInteger(16))
    return isUnsigned ? OM_U16 : OM_I16;
  if (type.isInteger(32))
    return isUnsigned ? OM_U32 : OM_I32;
  if (type.isInteger(64))
    return isUnsigned ? OM_U64 : OM_I64;
  return OM_UNDEFINED;
}

om::Tensor describe(const std::string &name, RankedTensorType type) {
  uint64_t elements = type.getNumElements();
  return {name,
          convertType(type.getElementType()),
          type.getShape().vec(),
          elements,
          elements * graph::getElementBytes(type.getElementType()),
          OM_INPUT,
          0};
}

/// Writes tensors into a folder, each under a file name that is legal anywhere.
class Dump {
public:
  explicit Dump(const std::string &folder) : folder(folder) {}

  bool write(const std::string &name, const graph::Tensor &tensor) {
    if (folder.empty() || name.empty() || manifest.contains(name))
      return true;
    om::Tensor description = describe(name, tensor.getType());
    if (description.dtype == OM_UNDEFINED)
      return true;
    std::string error;
    std::string file = fileName(name);
    if (!writeNpy(folder + "/" + file, description, tensor.bytes().data(), error)) {
      llvm::errs() << error << '\n';
      return false;
    }
    manifest[name] = file;
    return true;
  }

  bool finish() {
    if (folder.empty())
      return true;
    std::ofstream file(folder + "/manifest.json");
    file << manifest.dump(2) << '\n';
    return static_cast<bool>(file.flush());
  }

private:
  std::string fileName(std::string name) {
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

std::string attrName(DictionaryAttr attributes, const std::string &otherwise) {
  auto name = attributes ? attributes.getAs<StringAttr>("om.name") : StringAttr();
  return name ? name.str() : otherwise;
}

bool readArguments(func::FuncOp function, const std::string &input,
                   std::vector<graph::Tensor> &arguments) {
  std::vector<om::Tensor> descriptions;
  std::vector<om::Buffer> buffers;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape()) {
      llvm::errs() << "E10001: argument " << index << " of @main has no static shape\n";
      return false;
    }
    descriptions.push_back(
        describe(attrName(function.getArgAttrDict(index), "arg" + std::to_string(index)), tensor));
    buffers.emplace_back(descriptions.back().bytes);
  }
  std::vector<std::string> faults = readInputs(input, descriptions, buffers);
  for (const std::string &fault : faults)
    llvm::errs() << fault << '\n';
  for (auto [type, buffer] : llvm::zip(function.getArgumentTypes(), buffers))
    arguments.push_back(graph::Tensor::copyOf(cast<RankedTensorType>(type),
                                              ArrayRef(buffer.data<char>(), buffer.size())));
  return faults.empty();
}

} // namespace

bool interpretModule(ModuleOp module, const std::string &input, const std::string &dumpFolder) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || !function.getBody().hasOneBlock()) {
    llvm::errs() << "E16004: the module has no function @main of one block\n";
    return false;
  }
  if (!dumpFolder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(dumpFolder)) {
      llvm::errs() << "E13000: folder '" << dumpFolder << "' cannot be made: " << error.message()
                   << '\n';
      return false;
    }
  std::vector<graph::Tensor> arguments;
  if (!readArguments(function, input, arguments))
    return false;

  Dump dump(dumpFolder);
  bool isWritten = true;
  auto results =
      graph::evaluateFunction(function, arguments, [&](Value value, const graph::Tensor &tensor) {
        if (!isa_and_nonnull<graph::ConstantOp>(value.getDefiningOp()))
          isWritten &= dump.write(tensorName(value.getLoc()), tensor);
      });
  if (failed(results))
    return false;
  // Outputs that have the name of another tensor (an Identity) get their own.
  for (auto [index, result] : llvm::enumerate(*results))
    isWritten &= dump.write(
        attrName(function.getResultAttrDict(index), "result" + std::to_string(index)), result);
  return isWritten && dump.finish();
}

} // namespace atc::tools
