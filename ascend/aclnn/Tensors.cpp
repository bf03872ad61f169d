//===-- Tensors.cpp - the objects that aclnn functions take --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Tensors.h"

#include "ascend/operators/Cast.h"
#include "ascend/src/Buffers.h"
#include "ascend/src/Errors.h"

#include "aclnn/aclnn_base.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace atc::ascend {

#define ACLNN_TABLE(name, type, kind)                                                              \
  HandleTable<type> &name() {                                                                      \
    static auto &table = *new HandleTable<type>(HandleKind::kind);                                 \
    return table;                                                                                  \
  }
ACLNN_TABLE(tensors, Tensor, Tensor)
ACLNN_TABLE(scalars, Scalar, Scalar)
ACLNN_TABLE(intArrays, Array<int64_t>, IntArray)
ACLNN_TABLE(floatArrays, Array<float>, FloatArray)
ACLNN_TABLE(boolArrays, Array<bool>, BoolArray)
ACLNN_TABLE(tensorLists, List<Tensor>, TensorList)
ACLNN_TABLE(scalarLists, List<Scalar>, ScalarList)
#undef ACLNN_TABLE

double Scalar::value() const {
  double result = 0;
  CastPlan{type, ACL_DOUBLE, 1}.run(bytes, &result);
  return result;
}

Dims denseStrides(const Dims &dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

int64_t countOf(const Dims &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

namespace {

constexpr uint64_t maxRank = 25;

/// Returns whether the product of the dims, and of each with its stride, fits 62 bits.
bool areSmall(const Dims &dims, const Dims &strides) {
  constexpr int64_t max = std::numeric_limits<int64_t>::max() / 4;
  int64_t count = 1, reach = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || (dims[i] > 0 && count > max / dims[i]))
      return false;
    count *= std::max<int64_t>(dims[i], 1);
    if (i < strides.size()) {
      if (strides[i] < 0 || (strides[i] > 0 && dims[i] > (max - reach) / strides[i]))
        return false;
      reach += strides[i] * dims[i];
    }
  }
  return true;
}

/// Fills a tensor with the arguments of aclCreateTensor.
aclnnStatus describe(const char *function, const int64_t *viewDims, uint64_t viewDimsNum,
                     aclDataType type, const int64_t *stride, int64_t offset, aclFormat format,
                     const int64_t *storageDims, uint64_t storageDimsNum, void *data,
                     Tensor &tensor) {
  if ((!viewDims && viewDimsNum) || (!storageDims && storageDimsNum))
    return fail(aclnnIsNull, function, "%s is NULL",
                viewDims || !viewDimsNum ? "storageDims" : "viewDims");
  if (viewDimsNum > maxRank || storageDimsNum > maxRank)
    return fail(aclnnIsInvalid, function, "%llu dims are given; a tensor has %d at most",
                (unsigned long long)std::max(viewDimsNum, storageDimsNum), int(maxRank));
  // Complex numbers are moved, and taken apart.
  if (type != ACL_INT4 && type != ACL_COMPLEX64 && !CastPlan{type, type, 0}.isKnown())
    return fail(aclnnIsInvalid, function, "dataType %d has no functions here", int(type));
  if (type == ACL_INT4 && offset % 2)
    return fail(aclnnIsInvalid, function, "the offset of a tensor of int4 must be even");
  tensor.type = type;
  tensor.format = format;
  tensor.dims.assign(viewDims, viewDims + viewDimsNum);
  tensor.storageDims.assign(storageDims, storageDims + storageDimsNum);
  tensor.strides = stride ? Dims(stride, stride + viewDimsNum) : denseStrides(tensor.dims);
  tensor.offset = offset;
  tensor.data = data;
  if (offset < 0 || !areSmall(tensor.dims, tensor.strides) || !areSmall(tensor.storageDims, {}))
    return fail(aclnnIsInvalid, function, "a dim, a stride or the offset is negative or too large");
  return 0;
}

template <typename T, typename Handle>
aclnnStatus destroy(const char *function, HandleTable<T> &table, const Handle *handle) {
  if (!handle)
    return fail(aclnnIsNull, function, "the handle is NULL");
  if (!table.remove(handle))
    return fail(aclnnIsInvalid, function, "%p was destroyed, or is of another kind",
                static_cast<const void *>(handle));
  return 0;
}

template <typename T, typename Handle>
aclnnStatus find(const char *function, const HandleTable<T> &table, const Handle *handle,
                 const void *result, std::shared_ptr<T> &found) {
  if (!handle || !result)
    return fail(aclnnIsNull, function, "%s is NULL", handle ? "the result" : "the handle");
  found = table.find(handle);
  return found ? 0
               : fail(aclnnIsInvalid, function, "%p was destroyed, or is of another kind",
                      static_cast<const void *>(handle));
}

template <typename Handle, typename T>
Handle *createArray(const char *function, HandleTable<Array<T>> &table, const T *values,
                    uint64_t size) {
  if ((!values && size) || size > (1u << 24)) {
    fail(values ? aclnnIsInvalid : aclnnIsNull, function,
         values ? "size is more than 16777216" : "value is NULL");
    return nullptr;
  }
  auto array = std::make_shared<Array<T>>();
  array->values.assign(values, values + size);
  return static_cast<Handle *>(table.add(std::move(array)));
}

template <typename Handle, typename Item, typename T>
Handle *createList(const char *function, HandleTable<List<T>> &table, const HandleTable<T> &owned,
                   const Item *const *values, uint64_t size) {
  auto list = std::make_shared<List<T>>();
  for (uint64_t i = 0; i < size; ++i) {
    auto item = values ? owned.find(values[i]) : nullptr;
    if (!item) {
      fail(values ? aclnnIsInvalid : aclnnIsNull, function, "item %llu is NULL, or of another kind",
           (unsigned long long)i);
      return nullptr;
    }
    list->handles.push_back(const_cast<Item *>(values[i]));
    list->items.push_back(std::move(item));
  }
  return static_cast<Handle *>(table.add(std::move(list)));
}

template <typename T, typename Handle>
aclnnStatus destroyList(const char *function, HandleTable<List<T>> &table, HandleTable<T> &owned,
                        const Handle *handle) {
  auto list = handle ? table.remove(handle) : nullptr;
  if (!list)
    return fail(handle ? aclnnIsInvalid : aclnnIsNull, function, "%p was destroyed, or is no list",
                static_cast<const void *>(handle));
  for (void *item : list->handles)
    owned.remove(item); // null where the program has destroyed it already
  return 0;
}

/// Writes a new array and its size.
aclnnStatus writeDims(const char *function, const Dims &dims, int64_t **values, uint64_t *count) {
  if (!count)
    return fail(aclnnIsNull, function, "the address for the number of dims is NULL");
  *count = dims.size();
  *values = new int64_t[dims.size() + 1];
  std::copy(dims.begin(), dims.end(), *values);
  return 0;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData) {
  auto tensor = std::make_shared<Tensor>();
  if (describe(__func__, viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
               storageDimsNum, tensorData, *tensor))
    return nullptr;
  return static_cast<aclTensor *>(tensors().add(std::move(tensor)));
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorDataAddr) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, tensor, found));
  Tensor other;
  ACL_TRY(describe(__func__, viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
                   storageDimsNum, tensorDataAddr, other));
  *found = std::move(other);
  return 0;
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType) {
  const size_t bits = bitsOf(dataType);
  if (!value || bits % 8 || bits / 8 > 8 || !CastPlan{dataType, dataType, 0}.isKnown()) {
    fail(value ? aclnnIsInvalid : aclnnIsNull, __func__, "value is %p, dataType is %d", value,
         int(dataType));
    return nullptr;
  }
  auto scalar = std::make_shared<Scalar>();
  scalar->type = dataType;
  memcpy(scalar->bytes, value, bits / 8);
  return static_cast<aclScalar *>(scalars().add(std::move(scalar)));
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
  return createArray<aclIntArray>(__func__, intArrays(), value, size);
}
aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
  return createArray<aclFloatArray>(__func__, floatArrays(), value, size);
}
aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) {
  return createArray<aclBoolArray>(__func__, boolArrays(), value, size);
}
aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
  return createList<aclTensorList>(__func__, tensorLists(), tensors(), value, size);
}
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) {
  return createList<aclScalarList>(__func__, scalarLists(), scalars(), value, size);
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
  return destroy(__func__, tensors(), tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar *scalar) {
  return destroy(__func__, scalars(), scalar);
}
aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
  return destroy(__func__, intArrays(), array);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
  return destroy(__func__, floatArrays(), array);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) {
  return destroy(__func__, boolArrays(), array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList *array) {
  return destroyList(__func__, tensorLists(), tensors(), array);
}
aclnnStatus aclDestroyScalarList(const aclScalarList *array) {
  return destroyList(__func__, scalarLists(), scalars(), array);
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, viewDims, found));
  return writeDims(__func__, found->dims, viewDims, viewDimsNum);
}
aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                               uint64_t *storageDimsNum) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, storageDims, found));
  return writeDims(__func__, found->storageDims, storageDims, storageDimsNum);
}
aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                              uint64_t *stridesNum) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, stridesValue, found));
  return writeDims(__func__, found->strides, stridesValue, stridesNum);
}
aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, offset, found));
  *offset = found->offset;
  return 0;
}
aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, format, found));
  *format = found->format;
  return 0;
}
aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, dataType, found));
  *dataType = found->type;
  return 0;
}
aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, addr, found));
  *addr = found->data;
  return 0;
}
aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) {
  std::shared_ptr<Tensor> found;
  ACL_TRY(find(__func__, tensors(), tensor, tensor, found));
  found->data = addr;
  return 0;
}

#define ACLNN_SIZE(name, handle, table, member)                                                    \
  aclnnStatus name(const handle *array, uint64_t *size) {                                          \
    decltype(table().find(nullptr)) found;                                                         \
    ACL_TRY(find(__func__, table(), array, size, found));                                          \
    *size = found->member.size();                                                                  \
    return 0;                                                                                      \
  }
ACLNN_SIZE(aclGetIntArraySize, aclIntArray, intArrays, values)
ACLNN_SIZE(aclGetFloatArraySize, aclFloatArray, floatArrays, values)
ACLNN_SIZE(aclGetBoolArraySize, aclBoolArray, boolArrays, values)
ACLNN_SIZE(aclGetTensorListSize, aclTensorList, tensorLists, items)
ACLNN_SIZE(aclGetScalarListSize, aclScalarList, scalarLists, items)

aclnnStatus aclnnInit(const char *) { return 0; }
aclnnStatus aclnnFinalize() { return 0; }
