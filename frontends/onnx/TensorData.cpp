//===-- TensorData.cpp - tensors of a model as constants ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/TensorData.h"

#include <bit>
#include <cstring>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/HostCalls.h"
#include "kernels/core/Support.h"

using namespace mlir;
using google::protobuf::RepeatedField;
using llvm::createStringError;
using llvm::Expected;
using onnx::TensorProto;

// The elements of a file are little endian and are taken as they are.
static_assert(std::endian::native == std::endian::little);

namespace atc::onnx_import {

Type convertElementType(int64_t type, MLIRContext *context) {
  return type >= 0 && type < 256 ? graph::elementTypeOf(static_cast<uint8_t>(type), context)
                                 : Type();
}

std::string nameElementType(int64_t type) {
  return llvm::isInt<32>(type) && onnx::TensorProto_DataType_IsValid(static_cast<int>(type))
             ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(type))
             : "data type " + std::to_string(type);
}

namespace {

/// Bytes of a mapped file. Their pages leave memory with this object, although the mapping may
/// live on for other tensors; who reads them again gets them from the file.
class ExternalBytes {
public:
  ExternalBytes(ExternalFiles::Mapping mapping, ArrayRef<char> bytes)
      : mapping(std::move(mapping)), bytes(bytes) {}
  ~ExternalBytes() { graph::dropFilePages(bytes); }
  ExternalBytes(const ExternalBytes &) = delete;
  ExternalBytes &operator=(const ExternalBytes &) = delete;

private:
  ExternalFiles::Mapping mapping;
  ArrayRef<char> bytes;
};

/// Takes the elements of one tensor from wherever it has them.
class TensorTaker {
public:
  TensorTaker(TensorProto &tensor, RankedTensorType type, int64_t count, ExternalFiles &files)
      : tensor(tensor), type(type), count(count),
        elementBytes(isa<graph::StringType, ComplexType>(type.getElementType())
                         ? 16
                         : graph::getElementBytes(type.getElementType())),
        packedBits(kernels::bitsOf(graph::dtypeOf(type.getElementType()))),
        isBool(type.getElementType().isInteger(1)), files(files) {}

  Expected<ElementsAttr> take();

private:
  Expected<ElementsAttr> takeRaw();
  Expected<ElementsAttr> takeExternal();
  Expected<ElementsAttr> takeStrings();
  /// Unpacks elements smaller than a byte.
  ElementsAttr unpack(ArrayRef<char> packed);
  template <typename T> Expected<ElementsAttr> takeField(RepeatedField<T> *field);
  /// Returns an error where a number needs more than the `bits` that are taken of it.
  template <typename T> llvm::Error checkNumbers(const RepeatedField<T> &numbers, int64_t bits);

  /// Returns a constant over `bytes`, which `owner` keeps alive.
  template <typename Owner> ElementsAttr keep(ArrayRef<char> bytes, Owner owner) {
    if (packedBits < 8)
      return unpack(bytes);
    bool isAligned = reinterpret_cast<uintptr_t>(bytes.data()) % elementBytes == 0;
    if (isBool || !isAligned)
      return copy(bytes);
    return graph::makeConstant(
        type, bytes, [owner = std::move(owner)](void *, size_t, size_t) mutable { owner.reset(); },
        tensor.name());
  }
  uint64_t storedBytes() const { return llvm::divideCeil(uint64_t(count) * packedBits, 8); }
  ElementsAttr copy(ArrayRef<char> bytes) {
    std::vector<char> elements(bytes.begin(), bytes.end());
    if (isBool)
      for (char &element : elements)
        element = element != 0;
    return graph::makeConstant(type, std::move(elements), tensor.name());
  }
  llvm::Error sizeError(uint64_t have, uint64_t want, StringRef unit) {
    return createStringError("has " + Twine(have) + " " + unit + " of data, expected " +
                             Twine(want) + " for shape " + printDims(type.getShape()) + " of " +
                             nameElementType(tensor.data_type()));
  }

  TensorProto &tensor;
  RankedTensorType type;
  int64_t count, elementBytes;
  int64_t packedBits; ///< of one element in the file
  bool isBool;
  ExternalFiles &files;
};

Expected<ElementsAttr> TensorTaker::take() {
  if (tensor.has_segment())
    return createStringError("is stored in segments, which is not supported");
  if (isa<graph::StringType>(type.getElementType()))
    return takeStrings();
  if (isa<ComplexType>(type.getElementType()))
    return createStringError("is complex, which constants cannot be");
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return takeExternal();
  if (tensor.has_raw_data())
    return takeRaw();
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return takeField(tensor.mutable_float_data());
  case TensorProto::DOUBLE:
    return takeField(tensor.mutable_double_data());
  case TensorProto::INT64:
    return takeField(tensor.mutable_int64_data());
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return takeField(tensor.mutable_uint64_data());
  default: // float16 and bfloat16 are stored as their bits
    return takeField(tensor.mutable_int32_data());
  }
}

Expected<ElementsAttr> TensorTaker::takeRaw() {
  uint64_t want = storedBytes();
  if (tensor.raw_data().size() != want)
    return sizeError(tensor.raw_data().size(), want, "bytes");
  std::unique_ptr<std::string> data(tensor.release_raw_data());
  ArrayRef<char> bytes(data->data(), data->size());
  return keep(bytes, std::move(data));
}

Expected<ElementsAttr> TensorTaker::takeExternal() {
  StringRef location;
  uint64_t offset = 0, want = storedBytes(), length = want;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef value = entry.value();
    bool isBad = false;
    if (entry.key() == "location")
      location = value;
    else if (entry.key() == "offset")
      isBad = value.getAsInteger(10, offset);
    else if (entry.key() == "length")
      isBad = value.getAsInteger(10, length);
    if (isBad)
      return createStringError("has external data with " + entry.key() + " '" + value +
                               "', which is not a number");
  }
  if (length != want)
    return sizeError(length, want, "bytes");
  if (count == 0)
    return copy({});
  Expected<ExternalFiles::Mapping> mapping = files.map(location);
  if (!mapping)
    return createStringError("cannot be read: " + toString(mapping.takeError()));
  uint64_t size = (*mapping)->size();
  if (offset > size || length > size - offset)
    return createStringError("needs bytes " + Twine(offset) + " to " + Twine(offset + length) +
                             " of external data file '" + location + "', which has " + Twine(size));
  const ArrayRef<char> bytes((*mapping)->const_data() + offset, length);
  ElementsAttr constant = keep(bytes, std::make_unique<ExternalBytes>(*mapping, bytes));
  if (auto data = graph::ConstantBytes::get(constant);
      succeeded(data) && data->bytes().data() == bytes.data())
    graph::markFileBacked(constant);
  return constant;
}

ElementsAttr TensorTaker::unpack(ArrayRef<char> packed) {
  const int64_t perByte = 8 / packedBits;
  const bool isSigned =
      !isa<FloatType>(type.getElementType()) && !type.getElementType().isUnsignedInteger();
  std::vector<char> elements(count);
  for (int64_t i = 0; i < count; ++i) {
    unsigned bits = static_cast<unsigned char>(packed[i / perByte]) >> (i % perByte * packedBits);
    bits &= (1u << packedBits) - 1;
    elements[i] = static_cast<char>(isSigned ? llvm::SignExtend32(bits, packedBits) : bits);
  }
  return graph::makeConstant(type, std::move(elements), tensor.name());
}

Expected<ElementsAttr> TensorTaker::takeStrings() {
  if (tensor.string_data_size() != count)
    return sizeError(tensor.string_data_size(), count, "strings");
  SmallVector<StringRef> strings(tensor.string_data().begin(), tensor.string_data().end());
  return ElementsAttr(DenseStringElementsAttr::get(type, strings));
}

template <typename T>
llvm::Error TensorTaker::checkNumbers(const RepeatedField<T> &numbers, int64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    // The bits of an integer below 0 may be written with their sign or without.
    const bool isSigned = std::is_signed_v<T> && !isa<FloatType>(type.getElementType());
    for (const T number : numbers)
      if (number > T((int64_t(1) << bits) - 1) || (number < 0 && !isSigned) ||
          (isSigned && static_cast<int64_t>(number) < -(int64_t(1) << (bits - 1))))
        return createStringError("has the number " + Twine(number) + " among its data, where " +
                                 nameElementType(tensor.data_type()) + " has numbers of " +
                                 Twine(bits) + " bits");
  }
  return llvm::Error::success();
}

template <typename T> Expected<ElementsAttr> TensorTaker::takeField(RepeatedField<T> *field) {
  if (packedBits < 8) {
    if (static_cast<uint64_t>(field->size()) != storedBytes())
      return sizeError(field->size(), storedBytes(), "numbers");
    if (llvm::Error error = checkNumbers(*field, 8))
      return error;
    return unpack(SmallVector<char>(llvm::map_range(*field, [](T n) { return char(n); })));
  }
  if (field->size() != count)
    return sizeError(field->size(), count, "elements");
  auto owned = std::make_unique<RepeatedField<T>>();
  owned->Swap(field);
  if (sizeof(T) == static_cast<size_t>(elementBytes)) {
    ArrayRef<char> bytes(reinterpret_cast<const char *>(owned->data()), count * sizeof(T));
    return keep(bytes, std::move(owned));
  }
  if (!isBool)
    if (llvm::Error error = checkNumbers(*owned, elementBytes * 8))
      return error;
  std::vector<char> narrow(count * elementBytes);
  for (int64_t i = 0; i < count; ++i) {
    // Every number but 0 is true, also one whose lowest byte is 0.
    const T value = isBool ? T(owned->data()[i] != 0) : owned->data()[i];
    std::memcpy(&narrow[i * elementBytes], &value, elementBytes);
  }
  return copy(narrow);
}

} // namespace

/// Returns the type of a tensor with these dims, or what is wrong with it.
static Expected<RankedTensorType> tensorType(int32_t dataType, ArrayRef<int64_t> dims,
                                             MLIRContext *context) {
  Type element = convertElementType(dataType, context);
  if (!element)
    return createStringError("has element type " + nameElementType(dataType) +
                             ", which is not supported");
  if (Expected<int64_t> count = countElements(dims); !count)
    return count.takeError();
  return RankedTensorType::get(dims, element);
}

Expected<ElementsAttr> takeTensor(TensorProto &tensor, ExternalFiles &files, MLIRContext *context) {
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  Expected<RankedTensorType> type = tensorType(tensor.data_type(), dims, context);
  if (!type)
    return type.takeError();
  return TensorTaker(tensor, *type, type->getNumElements(), files).take();
}

Expected<ElementsAttr> takeSparseTensor(onnx::SparseTensorProto &tensor, ExternalFiles &files,
                                        MLIRContext *context) {
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  Expected<RankedTensorType> type = tensorType(tensor.values().data_type(), dims, context);
  if (!type)
    return type.takeError();
  if (type->getNumElements() > maxMadeElements)
    return createStringError("is sparse and has more than 2^26 elements when it is dense");
  Expected<ElementsAttr> values = takeTensor(*tensor.mutable_values(), files, context);
  if (!values)
    return values.takeError();
  Expected<ElementsAttr> indices = takeTensor(*tensor.mutable_indices(), files, context);
  if (!indices)
    return indices.takeError();
  if (!indices->getElementType().isInteger(64))
    return createStringError("is sparse and has indices that are not INT64");
  auto valueBytes = graph::ConstantBytes::get(*values);
  if (failed(valueBytes))
    return createStringError("is sparse and has values that cannot be read");

  // Indices are positions in the flat tensor, or one coordinate per dim.
  SmallVector<int64_t> positions = readInts(*indices);
  int64_t numValues = values->getNumElements();
  int64_t rank = dims.size();
  bool isFlat = cast<ShapedType>(indices->getType()).getRank() == 1;
  if (static_cast<int64_t>(positions.size()) != numValues * (isFlat ? 1 : rank))
    return createStringError("is sparse and has " + Twine(positions.size()) + " indices for " +
                             Twine(numValues) + " values");
  int64_t bytes = graph::getElementBytes(type->getElementType());
  std::vector<char> dense(type->getNumElements() * bytes);
  ArrayRef<char> source = valueBytes->expanded();
  for (int64_t i = 0; i < numValues; ++i) {
    int64_t at = 0;
    for (int64_t dim = isFlat ? rank - 1 : 0; dim < rank; ++dim) {
      int64_t size = isFlat ? type->getNumElements() : dims[dim];
      int64_t index = isFlat ? positions[i] : positions[i * rank + dim];
      if (index < 0 || index >= size)
        return createStringError("is sparse and has an index out of range, " + Twine(index));
      at = at * size + index;
    }
    if (at < type->getNumElements())
      std::memcpy(&dense[at * bytes], &source[i * bytes], bytes);
  }
  return graph::makeConstant(*type, std::move(dense), tensor.values().name());
}

} // namespace atc::onnx_import
