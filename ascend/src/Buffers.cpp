//===-- Buffers.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Buffers.h"

#include "ascend/src/Errors.h"
#include "runtime-lite/abi/SmallFloats.h"

namespace atc::ascend {
namespace {

struct TypeFacts {
  aclDataType type;
  size_t bits;
  const char *name;
};

constexpr TypeFacts typeFacts[] = {
    {ACL_FLOAT, 32, "float32"},
    {ACL_FLOAT16, 16, "float16"},
    {ACL_INT8, 8, "int8"},
    {ACL_INT32, 32, "int32"},
    {ACL_UINT8, 8, "uint8"},
    {ACL_INT16, 16, "int16"},
    {ACL_UINT16, 16, "uint16"},
    {ACL_UINT32, 32, "uint32"},
    {ACL_INT64, 64, "int64"},
    {ACL_UINT64, 64, "uint64"},
    {ACL_DOUBLE, 64, "double"},
    {ACL_BOOL, 8, "bool"},
    {ACL_COMPLEX64, 64, "complex64"},
    {ACL_COMPLEX128, 128, "complex128"},
    {ACL_BF16, 16, "bfloat16"},
    {ACL_INT4, 4, "int4"},
    {ACL_UINT1, 1, "uint1"},
    {ACL_COMPLEX32, 32, "complex32"},
};

} // namespace

HandleTable<DataBuffer> &dataBuffers() {
  static auto &table = *new HandleTable<DataBuffer>(HandleKind::DataBuffer);
  return table;
}

HandleTable<TensorDesc> &tensorDescs() {
  static auto &table = *new HandleTable<TensorDesc>(HandleKind::TensorDesc);
  return table;
}

size_t bitsOf(aclDataType type) {
  for (const TypeFacts &facts : typeFacts)
    if (facts.type == type)
      return facts.bits;
  return 0;
}

const char *nameOf(aclDataType type) {
  for (const TypeFacts &facts : typeFacts)
    if (facts.type == type)
      return facts.name;
  return type == ACL_STRING ? "string" : "undefined";
}

std::string textOf(const std::vector<int64_t> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

size_t TensorDesc::elements() const {
  size_t product = 1;
  if (unknownRank)
    return 0;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(product, size_t(dim), &product))
      return 0;
  return product;
}

} // namespace atc::ascend

using namespace atc::ascend;

float aclFloat16ToFloat(aclFloat16 value) { return atc::halfToFloat(value); }

aclFloat16 aclFloatToFloat16(float value) { return atc::floatToHalf(value); }

size_t aclDataTypeSize(aclDataType dataType) {
  size_t bits = bitsOf(dataType);
  if (bits % 8 != 0 || bits == 0) {
    fail(ACL_ERROR_UNSUPPORTED_DATA_TYPE, __func__,
         "elements of type %d have no whole number of bytes", int(dataType));
    return 0;
  }
  return bits / 8;
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
  auto buffer = std::make_shared<DataBuffer>();
  buffer->set(data, size);
  return static_cast<aclDataBuffer *>(dataBuffers().add(std::move(buffer)));
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
  ACL_FIND(found, dataBuffers(), dataBuffer);
  dataBuffers().remove(dataBuffer);
  return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
  ACL_FIND(found, dataBuffers(), dataBuffer);
  found->set(data, size);
  return ACL_SUCCESS;
}

/// Returns a buffer, or null and a message for functions that return no code.
static std::shared_ptr<DataBuffer> bufferOf(const char *function, const aclDataBuffer *handle) {
  auto found = dataBuffers().find(handle);
  if (!found)
    fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
         "dataBuffer (%p) was destroyed, or is no data buffer", static_cast<const void *>(handle));
  return found;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) {
  auto found = bufferOf(__func__, dataBuffer);
  return found ? found->get().first : nullptr;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) {
  auto found = bufferOf(__func__, dataBuffer);
  return found ? found->get().second : 0;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) {
  auto found = bufferOf(__func__, dataBuffer);
  return found ? static_cast<uint32_t>(found->get().second) : 0;
}
