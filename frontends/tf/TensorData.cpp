//===-- TensorData.cpp - tensors of a TensorFlow graph as constants -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/TensorData.h"

#include <bit>
#include <cstring>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using llvm::createStringError;
using llvm::Expected;

// The elements of a file are little endian and are taken as they are.
static_assert(std::endian::native == std::endian::little);

namespace atc::tf_import {

Type convertElementType(pb::DataType type, MLIRContext *context) {
  auto integer = [&](unsigned width) { return IntegerType::get(context, width); };
  auto unsignedInteger = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (type) {
  case pb::DT_FLOAT:
    return Float32Type::get(context);
  case pb::DT_HALF:
    return Float16Type::get(context);
  case pb::DT_BFLOAT16:
    return BFloat16Type::get(context);
  case pb::DT_DOUBLE:
    return Float64Type::get(context);
  case pb::DT_INT8:
  case pb::DT_QINT8:
    return integer(8);
  case pb::DT_INT16:
  case pb::DT_QINT16:
    return integer(16);
  case pb::DT_INT32:
  case pb::DT_QINT32:
    return integer(32);
  case pb::DT_INT64:
    return integer(64);
  case pb::DT_UINT8:
  case pb::DT_QUINT8:
    return unsignedInteger(8);
  case pb::DT_UINT16:
  case pb::DT_QUINT16:
    return unsignedInteger(16);
  case pb::DT_UINT32:
    return unsignedInteger(32);
  case pb::DT_UINT64:
    return unsignedInteger(64);
  case pb::DT_BOOL:
    return integer(1);
  case pb::DT_STRING:
    context->loadDialect<graph::GraphDialect>();
    return graph::StringType::get(context);
  default:
    return {};
  }
}

std::string nameElementType(pb::DataType type) {
  return pb::DataType_IsValid(type) ? pb::DataType_Name(type)
                                    : "data type " + std::to_string(static_cast<int>(type));
}

std::string nameElementType(Type element) {
  for (int type = pb::DataType_MIN; type <= pb::DataType_MAX; ++type)
    if (pb::DataType_IsValid(type) &&
        convertElementType(static_cast<pb::DataType>(type), element.getContext()) == element)
      return nameElementType(static_cast<pb::DataType>(type));
  return "no type of TensorFlow";
}

namespace {

/// The elements of a `_val` list as bytes of the tensor's element type.
template <typename T, typename Field> std::vector<char> toBytes(const Field &field) {
  std::vector<char> bytes;
  bytes.reserve(field.size() * sizeof(T));
  for (auto value : field) {
    T element = static_cast<T>(value);
    auto *begin = reinterpret_cast<const char *>(&element);
    bytes.insert(bytes.end(), begin, begin + sizeof(T));
  }
  return bytes;
}

std::vector<char> readValues(const pb::TensorProto &tensor) {
  switch (tensor.dtype()) {
  case pb::DT_FLOAT:
    return toBytes<float>(tensor.float_val());
  case pb::DT_DOUBLE:
    return toBytes<double>(tensor.double_val());
  case pb::DT_HALF:
  case pb::DT_BFLOAT16: // their bits
    return toBytes<uint16_t>(tensor.half_val());
  case pb::DT_INT64:
    return toBytes<int64_t>(tensor.int64_val());
  case pb::DT_UINT64:
    return toBytes<uint64_t>(tensor.uint64_val());
  case pb::DT_UINT32:
    return toBytes<uint32_t>(tensor.uint32_val());
  case pb::DT_BOOL:
    return toBytes<uint8_t>(tensor.bool_val());
  case pb::DT_INT32:
  case pb::DT_QINT32:
    return toBytes<int32_t>(tensor.int_val());
  case pb::DT_INT16:
  case pb::DT_UINT16:
  case pb::DT_QINT16:
  case pb::DT_QUINT16:
    return toBytes<int16_t>(tensor.int_val());
  default:
    return toBytes<int8_t>(tensor.int_val());
  }
}

/// Returns the strings of a tensor; a shorter list repeats its last one, an empty one is empty
/// strings.
Expected<ElementsAttr> takeStrings(pb::TensorProto &tensor, RankedTensorType type) {
  const int64_t count = type.getNumElements();
  if (tensor.string_val_size() > count)
    return createStringError("has " + Twine(tensor.string_val_size()) +
                             " strings, expected at most " + Twine(count));
  if (count > maxMadeElements && tensor.string_val_size() < count)
    return createStringError("repeats a value more than 2^26 times");
  SmallVector<StringRef> strings(tensor.string_val().begin(), tensor.string_val().end());
  strings.resize(count, strings.empty() ? StringRef() : strings.back());
  return ElementsAttr(DenseStringElementsAttr::get(type, strings));
}

} // namespace

Expected<ElementsAttr> takeTensor(pb::TensorProto &tensor, StringRef name, MLIRContext *context) {
  Type element = convertElementType(tensor.dtype(), context);
  if (!element)
    return createStringError("has element type " + nameElementType(tensor.dtype()) +
                             ", which is not supported");
  SmallVector<int64_t> dims;
  for (const auto &dim : tensor.tensor_shape().dim())
    dims.push_back(dim.size());
  if (tensor.tensor_shape().unknown_rank())
    return createStringError("has no shape");
  Expected<int64_t> count = countElements(dims);
  if (!count)
    return count.takeError();
  auto type = RankedTensorType::get(dims, element);
  if (tensor.dtype() == pb::DT_STRING)
    return takeStrings(tensor, type);
  int64_t elementBytes = graph::getElementBytes(element);

  std::string &content = *tensor.mutable_tensor_content();
  if (!content.empty()) {
    if (static_cast<int64_t>(content.size()) != *count * elementBytes)
      return createStringError("has " + Twine(content.size()) + " bytes of data, expected " +
                               Twine(*count * elementBytes) + " for shape " + printDims(dims) +
                               " of " + nameElementType(tensor.dtype()));
    std::vector<char> bytes(content.begin(), content.end());
    content.clear();
    content.shrink_to_fit();
    if (element.isInteger(1))
      for (char &value : bytes)
        value = value != 0;
    return graph::makeConstant(type, std::move(bytes), name);
  }
  std::vector<char> bytes = readValues(tensor);
  int64_t have = static_cast<int64_t>(bytes.size()) / elementBytes;
  if (have > *count)
    return createStringError("has " + Twine(have) + " elements, expected at most " + Twine(*count) +
                             " for shape " + printDims(dims));
  if (*count > maxMadeElements && have < *count)
    return createStringError("repeats a value more than 2^26 times");
  // A shorter list repeats its last value; an empty one is all zeros.
  std::vector<char> last(elementBytes, 0);
  if (have > 0)
    last.assign(bytes.end() - elementBytes, bytes.end());
  if (have <= 1 && *count > 0) {
    auto splat = graph::makeConstant(RankedTensorType::get({}, element), std::move(last), name);
    if (auto dense = dyn_cast<DenseElementsAttr>(splat))
      return DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
    return splat;
  }
  bytes.reserve(*count * elementBytes);
  for (; have < *count; ++have)
    bytes.insert(bytes.end(), last.begin(), last.end());
  return graph::makeConstant(type, std::move(bytes), name);
}

bool splitComplex(pb::TensorProto &tensor, pb::TensorProto &imaginary) {
  const bool isWide = tensor.dtype() == pb::DT_COMPLEX128;
  if (!isWide && tensor.dtype() != pb::DT_COMPLEX64)
    return false;
  const pb::TensorProto both = tensor;
  const pb::DataType element = isWide ? pb::DT_DOUBLE : pb::DT_FLOAT;
  const size_t size = isWide ? sizeof(double) : sizeof(float);
  for (auto [part, target] : {std::pair(size_t(0), &tensor), std::pair(size_t(1), &imaginary)}) {
    target->Clear();
    target->set_dtype(element);
    *target->mutable_tensor_shape() = both.tensor_shape();
    // Real and imaginary parts alternate.
    const std::string &bytes = both.tensor_content();
    std::string own;
    for (size_t at = part * size; at + size <= bytes.size(); at += 2 * size)
      own.append(bytes, at, size);
    target->set_tensor_content(own);
    for (int at = int(part); at < both.scomplex_val_size(); at += 2)
      target->add_float_val(both.scomplex_val(at));
    for (int at = int(part); at < both.dcomplex_val_size(); at += 2)
      target->add_double_val(both.dcomplex_val(at));
  }
  return true;
}
} // namespace atc::tf_import
