//===-- Tensor.cpp - element types and stored layouts ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Tensor.h"

#include "runtime-lite/src/Support.h"

#include <cstring>

using atc::om::fb::Tensor;

namespace {
struct TypeRow {
  om_dtype dtype;
  const char *name;
  uint32_t bits; ///< 0: not of a fixed size
};

constexpr TypeRow types[] = {
#define OPENATC_ELEMENT_TYPE(OM, KERNEL, BITS, NAME, LONG, NUMPY) {OM, NAME, BITS},
#include "runtime-lite/abi/ElementTypes.def"
};

constexpr bool rowsAreInOrder() {
  for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); ++i)
    if (types[i].dtype != static_cast<om_dtype>(i))
      return false;
  return true;
}
static_assert(rowsAreInOrder(), "a row's place is its number");

const TypeRow &typeRow(om_dtype dtype) {
  auto index = static_cast<unsigned>(dtype);
  return types[index < sizeof(types) / sizeof(types[0]) ? index : 0];
}
} // namespace

extern "C" const char *om_dtype_name(om_dtype dtype) { return typeRow(dtype).name; }
extern "C" uint32_t om_dtype_bits(om_dtype dtype) { return typeRow(dtype).bits; }

namespace atc::rt {

static bool addProduct(uint64_t a, uint64_t b, uint64_t &sum) {
  uint64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

/// The dims in the order of the strides: for blocked tensors
/// [N][ceil(C/c)][D...][c]. Returns how many there are.
static unsigned physicalDims(const Tensor &tensor, int64_t (&dims)[OM_MAX_RANK + 1]) {
  unsigned rank = tensor.dims()->size();
  for (unsigned i = 0; i < rank; ++i)
    dims[i] = tensor.dims()->Get(i);
  if (!tensor.block())
    return rank;
  int64_t block = tensor.block();
  dims[1] = dims[1] / block + (dims[1] % block != 0);
  dims[rank] = block;
  return rank + 1;
}

const char *measureTensor(const Tensor &tensor, TensorSize &size) {
  if (tensor.dtype() > om::fb::DataType::MAX)
    return "its element type is not one this version can run";
  uint32_t bits = om_dtype_bits(static_cast<om_dtype>(tensor.dtype()));
  if (!bits)
    return "its element type is not one this version can run";
  unsigned rank = tensor.dims()->size();
  if (rank > OM_MAX_RANK)
    return "it has too many dims";
  if (tensor.block() && rank < 2)
    return "it is blocked but has no channel dim";
  size.elements = 1;
  for (int64_t dim : *tensor.dims())
    if (dim < 0 ||
        __builtin_mul_overflow(size.elements, static_cast<uint64_t>(dim), &size.elements))
      return "its dims are negative or too large";
  uint64_t denseBits;
  if (__builtin_mul_overflow(size.elements, uint64_t(bits), &denseBits) || denseBits > INT64_MAX)
    return "its dims are negative or too large";
  size.denseBytes = denseBits / 8 + (denseBits % 8 != 0);

  int64_t dims[OM_MAX_RANK + 1];
  unsigned count = physicalDims(tensor, dims);
  if (tensor.strides()->size() != count)
    return "it has the wrong number of strides";
  uint64_t last = 0;
  size.dense = tensor.block() == 0;
  uint64_t expected = 1;
  for (unsigned i = count; i-- > 0;) {
    int64_t stride = tensor.strides()->Get(i);
    if (stride < 0 || (dims[i] > 0 && !addProduct(dims[i] - 1, stride, last)))
      return "its strides are negative or too large";
    size.dense &= dims[i] == 1 || static_cast<uint64_t>(stride) == expected;
    expected *= dims[i];
  }
  if (last >= INT64_MAX / 64)
    return "its strides are negative or too large";
  size.storedBytes = size.elements ? ((last + 1) * bits + 7) / 8 : 0;
  if (bits < 8 && !size.dense)
    return "its elements are smaller than a byte and it is not plain and dense";
  return nullptr;
}

om_tensor_info describeTensor(const Tensor &tensor) {
  TensorSize size;
  measureTensor(tensor, size);
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  info.name = tensor.name()->c_str();
  info.dtype = static_cast<om_dtype>(tensor.dtype());
  info.rank = tensor.dims()->size();
  info.dims = tensor.dims()->data();
  info.elements = size.elements;
  info.bytes = size.denseBytes;
  info.space = static_cast<om_space>(tensor.place()->space());
  info.block = tensor.block();
  return info;
}

void unpackTensor(const Tensor &tensor, const char *from, char *to) {
  TensorSize size;
  if (measureTensor(tensor, size) || size.elements == 0)
    return;
  if (size.dense) {
    std::memcpy(to, from, size.denseBytes);
    return;
  }
  // An odometer over the logical dims; the stored offset is recomputed from the
  // index, since this serves debugging and not speed.
  const uint64_t width = om_dtype_bits(static_cast<om_dtype>(tensor.dtype())) / 8;
  const unsigned rank = tensor.dims()->size();
  const int64_t block = tensor.block();
  int64_t index[OM_MAX_RANK] = {};
  for (uint64_t element = 0; element < size.elements; ++element, to += width) {
    int64_t offset = 0;
    for (unsigned i = 0; i < rank; ++i)
      offset += (block && i == 1 ? index[i] / block : index[i]) * tensor.strides()->Get(i);
    if (block)
      offset += index[1] % block * tensor.strides()->Get(rank);
    std::memcpy(to, from + offset * width, width);
    for (unsigned i = rank; i-- > 0;) {
      if (++index[i] < tensor.dims()->Get(i))
        break;
      index[i] = 0;
    }
  }
}

/// Returns whether all elements are indices of a dim of `size` elements. This has no branches, so
/// that it takes less time than a gather by the elements.
template <typename T>
static bool areIndices(const T *elements, uint64_t count, int64_t size, bool wraps) {
  const auto end = static_cast<uint64_t>(size), begin = wraps ? -end : 0;
  // The distances to both bounds are joined: one that is negative is seen in the sign.
  uint64_t room = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(static_cast<int64_t>(elements[i]));
    room |= (end - 1 - at) | (at - begin);
  }
  return static_cast<int64_t>(room) >= 0;
}

om_status checkIndices(const Tensor &tensor, const void *elements, uint64_t count,
                       om_error *error) {
  if (!tensor.index_sizes())
    return OM_OK;
  const auto &sizes = *tensor.index_sizes();
  const bool wraps = tensor.index_wraps(),
             isShort = tensor.dtype() == static_cast<decltype(tensor.dtype())>(OM_I32);
  const auto *narrow = static_cast<const int32_t *>(elements);
  const auto *wide = static_cast<const int64_t *>(elements);
  if (sizes.size() == 1 && (isShort ? areIndices(narrow, count, sizes.Get(0), wraps)
                                    : areIndices(wide, count, sizes.Get(0), wraps)))
    return OM_OK;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t at = isShort ? narrow[i] : wide[i],
                  size = sizes.Get(static_cast<uint32_t>(i % sizes.size()));
    if (at >= size || at < (wraps ? -size : 0))
      return fail(error, OM_ERROR_RUN,
                  "element %llu of input '%s' is the index %lld, which is outside of a dim of %lld "
                  "elements.",
                  static_cast<unsigned long long>(i), tensor.name()->c_str(),
                  static_cast<long long>(at), static_cast<long long>(size));
  }
  return OM_OK;
}

om_status checkIndices(const Tensor &tensor, const void *elements, om_error *error) {
  TensorSize size;
  if (!tensor.index_sizes() || !elements || measureTensor(tensor, size))
    return OM_OK;
  return checkIndices(tensor, elements, size.elements, error);
}

} // namespace atc::rt
