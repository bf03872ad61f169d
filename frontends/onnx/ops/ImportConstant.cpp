//===-- ImportConstant.cpp - tensors that are known at compile time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <cmath>

#include "dialects/graph/ConstantData.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

void setTensor(NodeContext &n, StringRef attribute, llvm::Expected<ElementsAttr> value) {
  if (!value)
    return n.failAttribute(attribute, toString(value.takeError()));
  Value constant = n.constant(*value);
  n.importer().addStated(constant);
  n.setOutput(constant);
}

void importConstant(NodeContext &n) {
  OpBuilder &builder = n.builder();
  MLIRContext *context = builder.getContext();
  ExternalFiles &files = n.importer().files();
  auto length = [](auto &list) { return static_cast<int64_t>(list.size()); };

  if (onnx::AttributeProto *value = n.findAttr("value")) {
    if (value->type() != onnx::AttributeProto::TENSOR)
      return n.failAttribute("value", "is not a tensor");
    return setTensor(n, "value", takeTensor(*value->mutable_t(), files, context));
  }
  if (onnx::AttributeProto *value = n.findAttr("sparse_value")) {
    if (value->type() != onnx::AttributeProto::SPARSE_TENSOR)
      return n.failAttribute("sparse_value", "is not a sparse tensor");
    return setTensor(n, "sparse_value",
                     takeSparseTensor(*value->mutable_sparse_tensor(), files, context));
  }
  if (n.hasAttr("value_float"))
    return n.setOutput(n.scalar(n.floatAttr("value_float", 0), builder.getF32Type()));
  if (n.hasAttr("value_int")) {
    Value list = n.intList({n.intAttr("value_int", 0)});
    return n.setOutput(n.reshape(list, {}));
  }
  if (std::optional<SmallVector<int64_t>> list = n.intsAttr("value_ints")) {
    auto type = n.tensor({length(*list)}, builder.getI64Type());
    return setTensor(n, "value_ints", graph::makeConstant<int64_t>(type, *list));
  }
  if (std::optional<SmallVector<double>> list = n.floatsAttr("value_floats")) {
    SmallVector<float> floats(list->begin(), list->end());
    auto type = n.tensor({length(*list)}, builder.getF32Type());
    return n.setOutput(n.constant(graph::makeConstant<float>(type, floats)));
  }
  for (const char *name : {"value_string", "value_strings"})
    if (const onnx::AttributeProto *value = n.findAttr(name)) {
      const bool isList = value->type() == onnx::AttributeProto::STRINGS;
      if (!isList && value->type() != onnx::AttributeProto::STRING)
        return n.failAttribute(name, "holds no text");
      onnx::TensorProto texts;
      texts.set_data_type(onnx::TensorProto::STRING);
      if (isList)
        texts.add_dims(value->strings_size());
      else
        texts.add_string_data(value->s());
      texts.mutable_string_data()->MergeFrom(value->strings());
      return setTensor(n, name, takeTensor(texts, files, context));
    }
  n.failNode("has no value of a known kind (value, sparse_value, value_float, value_floats, "
             "value_int, value_ints, value_string, value_strings)");
}

void importConstantOfShape(NodeContext &n) {
  n.input(0);
  std::optional<SmallVector<int64_t>> shape =
      n.isRuntimeInput(0) ? n.declaredShape(0) : n.constantInts(0);
  if (n.failed() || !shape)
    return;
  if (llvm::Expected<int64_t> count = countElements(*shape); !count)
    return n.failInput(0, toString(count.takeError()));
  onnx::TensorProto zero;
  zero.set_data_type(onnx::TensorProto::FLOAT);
  zero.add_dims(1);
  zero.add_float_data(0);
  onnx::AttributeProto *value = n.findAttr("value");
  if (value && value->type() != onnx::AttributeProto::TENSOR)
    return n.failAttribute("value", "is not a tensor");
  llvm::Expected<ElementsAttr> element = takeTensor(value ? *value->mutable_t() : zero,
                                                    n.importer().files(), n.builder().getContext());
  if (!element)
    return n.failAttribute("value", toString(element.takeError()));
  if (element->getNumElements() != 1)
    return n.failAttribute("value",
                           "has " + Twine(element->getNumElements()) + " elements, expected 1");
  auto dense = cast<DenseElementsAttr>(*element);
  auto type = n.tensor(*shape, element->getElementType());
  if (type.getNumElements() == 0)
    return n.setOutput(n.constant(graph::makeConstant(type, std::vector<char>())));
  // A larger one is filled when it runs, for a weight of the .om file takes all of its bytes.
  const bool isFilled = type.getNumElements() > maxMadeElements;
  Value one = n.constant(DenseElementsAttr::get(
      isFilled ? n.tensor({}, type.getElementType()) : type, dense.getSplatValue<Attribute>()));
  n.setOutput(n.fill(*shape, one));
}

template <typename T> Value makeRange(NodeContext &n, Type element, T start, T limit, T delta) {
  double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                           static_cast<double>(delta));
  if (!(count <= static_cast<double>(maxMadeElements))) {
    n.failNode("makes more than 2^26 elements");
    return {};
  }
  // Integers wrap: what rounding adds to the count must not overflow.
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  std::vector<T> values;
  for (int64_t i = 0; i < static_cast<int64_t>(std::max(count, 0.0)); ++i)
    values.push_back(
        static_cast<T>(static_cast<Wide>(start) + static_cast<Wide>(i) * static_cast<Wide>(delta)));
  auto type = n.tensor({static_cast<int64_t>(values.size())}, element);
  return n.constant(graph::makeConstant<T>(type, values));
}

/// start + i * delta for as many elements as the model declares.
void rangeAsDeclared(NodeContext &n, unsigned index) {
  Value start = n.input(0), delta = n.input(2);
  std::optional<SmallVector<int64_t>> shape = n.declaredShape(index);
  if (n.failed() || !shape)
    return;
  if (shape->size() != 1)
    return n.failNode("its declared result has rank " + Twine(shape->size()) + ", expected 1");
  Value steps = n.intList(llvm::to_vector(llvm::seq<int64_t>(0, shape->front())));
  n.setOutput(n.add(start, n.mul(n.cast(steps, n.elementType(start)), delta)));
}

void importRange(NodeContext &n) {
  Value start = n.input(0);
  n.input(1);
  n.input(2);
  if (n.failed())
    return;
  Type element = n.elementType(start);
  for (unsigned index = 0; index < 3; ++index)
    if (n.isRuntimeInput(index))
      return rangeAsDeclared(n, index);
  auto scalars = [&](auto read) {
    std::array<decltype(read(0)), 3> values{};
    for (unsigned i = 0; i < 3; ++i)
      values[i] = read(i);
    return values;
  };
  bool isFloat = isa<FloatType>(element);
  auto [first, limit, delta] = scalars([&](unsigned index) {
    auto list = n.constantFloats(index);
    if (list && list->size() != 1)
      n.failInput(index, "has " + Twine(list->size()) + " elements, expected 1");
    return n.failed() ? 0.0 : list->front();
  });
  auto [firstInt, limitInt, deltaInt] = scalars([&](unsigned index) {
    auto list = n.failed() || isFloat ? std::nullopt : n.constantInts(index);
    return list && !list->empty() ? list->front() : int64_t(0);
  });
  if (!n.failed() && delta == 0)
    n.failInput(2, "is 0");
  if (n.failed())
    return;
  Type f32 = Float32Type::get(n.builder().getContext());
  if (element.isF64())
    n.setOutput(makeRange<double>(n, element, first, limit, delta));
  else if (isFloat)
    n.setOutput(n.cast(makeRange<float>(n, f32, first, limit, delta), element));
  else if (element.isInteger(64))
    n.setOutput(makeRange<int64_t>(n, element, firstInt, limitInt, deltaInt));
  else if (element.isInteger(32))
    n.setOutput(makeRange<int32_t>(n, element, firstInt, limitInt, deltaInt));
  else if (element.isInteger(16))
    n.setOutput(makeRange<int16_t>(n, element, firstInt, limitInt, deltaInt));
  else
    n.failInput(0, "has an element type that is not supported");
}

/// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N) for `size` elements; N is the size,
/// for a symmetric window one less.
void importWindow(NodeContext &n, double a0, double a1, double a2) {
  bool periodic = n.boolAttr("periodic", true);
  int64_t type = n.intAttr("output_datatype", onnx::TensorProto::FLOAT);
  n.input(0);
  if (n.failed())
    return;
  std::optional<SmallVector<int64_t>> size =
      n.isRuntimeInput(0) ? n.declaredShape(0) : n.constantInts(0);
  if (n.failed() || !size)
    return;
  if (size->size() != 1 || size->front() < 0 || size->front() > maxMadeElements)
    return n.failInput(0, "expected one size of at most 2^26");
  Type element = convertElementType(type, n.builder().getContext());
  if (!element)
    return n.failAttribute("output_datatype", "is not supported");
  int64_t count = size->front();
  double period = static_cast<double>(std::max<int64_t>(periodic ? count : count - 1, 1));
  constexpr double pi = 3.14159265358979323846;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    double angle = 2 * pi * static_cast<double>(i) / period;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  auto made = n.tensor({count}, n.builder().getF64Type());
  n.setOutput(n.cast(n.constant(graph::makeConstant<double>(made, values)), element));
}

void importHannWindow(NodeContext &n) { importWindow(n, 0.5, 0.5, 0); }
void importHammingWindow(NodeContext &n) { importWindow(n, 25.0 / 46, 21.0 / 46, 0); }
void importBlackmanWindow(NodeContext &n) { importWindow(n, 0.42, 0.5, 0.08); }

void importEyeLike(NodeContext &n) {
  n.requireRank(0, 2, 2);
  Value like = n.input(0);
  if (n.failed())
    return;
  Type element = n.elementType(like);
  if (n.hasAttr("dtype"))
    element = convertElementType(n.intAttr("dtype", 0), n.builder().getContext());
  if (!element)
    return n.failAttribute("dtype", "is not supported");
  ArrayRef<int64_t> shape = n.shape(like);
  int64_t diagonal = std::clamp(n.intAttr("k", 0), -maxDim, maxDim);
  int64_t rows = shape[0], columns = shape[1];
  if (rows * columns > maxMadeElements)
    return n.failNode("makes more than 2^26 elements");
  std::vector<char> bits(rows * columns, 0);
  for (int64_t row = 0; row < rows; ++row)
    if (row + diagonal >= 0 && row + diagonal < columns)
      bits[row * columns + row + diagonal] = 1;
  auto type = n.tensor(shape, n.builder().getI1Type());
  n.setOutput(n.cast(n.constant(graph::makeConstant(type, std::move(bits))), element));
}

} // namespace

ArrayRef<OpRow> constantRows() {
  static constexpr llvm::StringLiteral knownInputs = "inputs are constant";
  static const OpRow rows[] = {
      {"BlackmanWindow", 17, latestOpset, importBlackmanWindow, knownInputs},
      {"HammingWindow", 17, latestOpset, importHammingWindow, knownInputs},
      {"HannWindow", 17, latestOpset, importHannWindow, knownInputs},
      {"Constant", 7, latestOpset, importConstant, "no strings"},
      {"ConstantOfShape", 9, latestOpset, importConstantOfShape,
       "the shape must follow from static shapes"},
      {"EyeLike", 9, latestOpset, importEyeLike},
      {"Range", 11, latestOpset, importRange, knownInputs},
  };
  return rows;
}

} // namespace atc::onnx_import
