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

static std::string textOf(Type type) {
  if (isa<graph::StringType>(type))
    return "string";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns how the kind or the element type that `tensor` is stated with differs from that of
/// `made`; empty where both may be the same.
static std::string otherTypeOf(const onnx::ValueInfoProto &tensor, Value made,
                               GraphImporter &importer) {
  const Type stated = made ? importer.convertType(tensor.type()) : Type();
  if (!stated)
    return "";
  auto own = dyn_cast<TensorType>(stated), other = dyn_cast<TensorType>(made.getType());
  // Types in a sequence or an optional include shapes, which a file may leave out; only their
  // elements are compared.
  if (!own && !other)
    return "";
  const Type expected = own ? own.getElementType() : stated,
             actual = other ? other.getElementType() : made.getType();
  if (expected == actual)
    return "";
  return "'" + tensor.name() + "' is stated as " + textOf(expected) + ", and its node makes " +
         textOf(actual);
}

void checkOutputType(const onnx::GraphProto &graph, const std::string &tensor, Value value,
                     GraphImporter &importer, Diagnostics &diagnostics) {
  const auto output = llvm::find_if(graph.output(), [&](const onnx::ValueInfoProto &candidate) {
    return candidate.name() == tensor;
  });
  if (output == graph.output().end())
    return;
  if (std::string difference = otherTypeOf(*output, value, importer); !difference.empty())
    diagnostics.warning("W11013",
                        "output " + difference + ": the output has the type that is made");
}

static std::string textOf(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (int64_t dim : dims)
    text += (text.size() > 1 ? ", " : "") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return text + "]";
}

/// Returns how a stated shape and one that is made differ; empty where both may be the same.
static std::string differenceOf(const onnx::ValueInfoProto &stated, Value made,
                                int64_t placeholder) {
  auto tensor = made ? dyn_cast<RankedTensorType>(made.getType()) : RankedTensorType();
  if (!tensor || !stated.type().has_tensor_type() || !stated.type().tensor_type().has_shape())
    return "";
  SmallVector<int64_t> dims;
  for (const auto &dim : stated.type().tensor_type().shape().dim())
    // Exporters write dims that they do not know as 0 or -1, too.
    dims.push_back(dim.dim_value() > 0 ? dim.dim_value() : ShapedType::kDynamic);
  const auto differ = [=](auto pair) {
    auto [own, other] = pair;
    return own >= 0 && other >= 0 && own != other && (!placeholder || other < placeholder / 2);
  };
  if (static_cast<int64_t>(dims.size()) == tensor.getRank() &&
      llvm::none_of(llvm::zip_equal(dims, tensor.getShape()), differ))
    return "";
  return "'" + stated.name() + "' is stated as " + textOf(dims) + ", and its node makes " +
         textOf(llvm::map_to_vector(tensor.getShape(), [&](int64_t dim) {
           return placeholder && dim >= placeholder / 2 ? ShapedType::kDynamic : dim;
         }));
}

/// Warns of the first tensor inside the graph for which `differenceOf` returns a text: one that is
/// wrong is seldom alone, and what follows from it is stated alike.
static void warnOnce(const onnx::GraphProto &graph, ErrorCode code, StringRef whatCounts,
                     llvm::function_ref<std::string(const onnx::ValueInfoProto &)> differenceOf,
                     Diagnostics &diagnostics) {
  std::string first;
  unsigned more = 0;
  for (const onnx::ValueInfoProto &inner : graph.value_info())
    if (std::string difference = differenceOf(inner); !difference.empty()) {
      if (first.empty())
        first = difference;
      else
        ++more;
    }
  if (!first.empty())
    diagnostics.warning(code, "tensor " + first + ": " + whatCounts +
                                  (more ? "; so it is with " + std::to_string(more) +
                                              (more > 1 ? " other tensors" : " other tensor")
                                        : ""));
}

void checkStatedShapes(const onnx::GraphProto &graph, llvm::function_ref<Value(StringRef)> made,
                       int64_t placeholder, Diagnostics &diagnostics) {
  for (const onnx::ValueInfoProto &output : graph.output())
    if (std::string difference = differenceOf(output, made(output.name()), placeholder);
        !difference.empty())
      diagnostics.warning("W11014",
                          "output " + difference + ": the output has the dims that are made");
  warnOnce(
      graph, "W11014", "the dims that are made count",
      [&](const onnx::ValueInfoProto &inner) {
        return differenceOf(inner, made(inner.name()), placeholder);
      },
      diagnostics);
}

void checkStatedTypes(const onnx::GraphProto &graph, llvm::function_ref<Value(StringRef)> made,
                      GraphImporter &importer, Diagnostics &diagnostics) {
  warnOnce(
      graph, "W11013", "the type that is made counts",
      [&](const onnx::ValueInfoProto &inner) {
        return otherTypeOf(inner, made(inner.name()), importer);
      },
      diagnostics);
}

} // namespace atc::onnx_import
