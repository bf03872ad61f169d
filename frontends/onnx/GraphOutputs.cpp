//===-- GraphOutputs.cpp --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontends/onnx/GraphOutputs.h"

#include "dialects/graph/GraphDialect.h"
#include "frontends/onnx/GraphImporter.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::onnx_import {

std::vector<std::string> nameOutputs(ArrayRef<std::string> tensors) {
  llvm::StringSet<> used;
  for (const std::string &tensor : tensors)
    used.insert(tensor);
  llvm::StringMap<unsigned> uses;
  std::vector<std::string> names;
  for (const std::string &tensor : tensors) {
    unsigned &number = uses[tensor];
    std::string name = tensor;
    if (++number > 1) {
      while (!used.insert(name = tensor + "_" + std::to_string(number)).second)
        ++number;
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// Returns the element type of a tensor, and another type itself: shapes are not compared.
static Type withoutShape(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

static std::string textOf(Type type) {
  if (isa<graph::StringType>(type))
    return "string";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void checkOutputType(const onnx::GraphProto &graph, const std::string &tensor, Value value,
                     GraphImporter &importer, Diagnostics &diagnostics) {
  const auto output = llvm::find_if(graph.output(), [&](const onnx::ValueInfoProto &candidate) {
    return candidate.name() == tensor;
  });
  const Type stated =
      output == graph.output().end() ? Type() : importer.convertType(output->type());
  const Type made = value.getType();
  // What a sequence or an optional holds has shapes, of which a file may state less.
  if (!stated || (isa<TensorType>(stated) == isa<TensorType>(made) && !isa<TensorType>(stated)))
    return;
  const Type expected = withoutShape(stated), actual = withoutShape(made);
  if (expected != actual)
    diagnostics.warning("W11013", "output '" + tensor + "' is stated as " + textOf(expected) +
                                      ", and its node makes " + textOf(actual) +
                                      ": the output has the type that is made");
}

} // namespace atc::onnx_import
