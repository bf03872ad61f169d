//===-- ValueApi.cpp - the C interface over values ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/FileLimits.h"
#include "runtime-lite/src/Value.h"

#include <cstring>

using namespace atc::rt;
using atc::host::Kind;
using atc::host::String;

/// Gives a new value to the caller.
static om_status answer(om_value *made, om_status status, om_value **value, om_error *error) {
  if (status == OM_ERROR_MEMORY)
    return fail(error, status, "there is no memory for the value.");
  if (status != OM_OK)
    return fail(error, status,
                "such a value cannot be: its element type is unknown, its dims are too many, "
                "negative or too large, or its sequences are too deep in each other.");
  *value = made;
  return OM_OK;
}

/// Makes a list and returns it to the caller.
static om_status answerList(Kind kind, uint8_t dtype, size_t count, const om_value *const *items,
                            om_value **value, om_error *error) {
  om_status status;
  atc::host::ListError wrong = {};
  om_value *made = makeList(nullptr, kind, dtype, count, items, status, wrong);
  if (!wrong.text)
    return answer(made, status, value, error);
  // The index of the item replaces the '%'.
  const char *sign = std::strchr(wrong.text, '%');
  if (!sign)
    return fail(error, status, "%s.", wrong.text);
  return fail(error, status, "%.*s%llu%s.", static_cast<int>(sign - wrong.text), wrong.text,
              static_cast<unsigned long long>(wrong.item), sign + 1);
}

static om_status noPlace(om_error *error) {
  return fail(error, OM_ERROR_ARGUMENT, "there is no place for the value (null).");
}

/// Returns whether the value fits 8 bits: a C program may pass any integer.
static bool isByte(om_dtype dtype) { return static_cast<unsigned>(dtype) < 256u; }

static om_status create(om_dtype dtype, uint32_t rank, const int64_t *dims, Elements elements,
                        void *data, om_value **value, om_error *error) {
  if (!value || (rank && !dims))
    return noPlace(error);
  *value = nullptr;
  if (dtype == OM_STRING)
    return fail(error, OM_ERROR_ARGUMENT,
                "a tensor of strings is made by om_value_create_strings.");
  om_status status = OM_ERROR_ARGUMENT;
  om_value *made = isByte(dtype) ? makeTensor(nullptr, static_cast<uint8_t>(dtype), rank, dims,
                                              elements, data, status)
                                 : nullptr;
  return answer(made, status, value, error);
}

om_status om_value_create_tensor(om_dtype dtype, uint32_t rank, const int64_t *dims,
                                 const void *data, om_value **value, om_error *error) {
  om_status status =
      create(dtype, rank, dims, data ? Elements::Fresh : Elements::Zeroed, nullptr, value, error);
  uint64_t elements, bytes;
  if (status == OM_OK && data && tensorSize((*value)->dtype, rank, dims, elements, bytes) && bytes)
    std::memcpy((*value)->data, data, bytes);
  return status;
}

om_status om_value_borrow_tensor(om_dtype dtype, uint32_t rank, const int64_t *dims,
                                 const void *data, om_value **value, om_error *error) {
  uint64_t elements, bytes = 0;
  if (isByte(dtype) && rank <= OM_MAX_RANK && (dims || !rank) &&
      tensorSize(static_cast<uint8_t>(dtype), rank, dims, elements, bytes) && bytes &&
      (!data || reinterpret_cast<uintptr_t>(data) % OM_ALIGNMENT))
    return fail(error, OM_ERROR_ARGUMENT, "the elements of a borrowed tensor are %s.",
                data ? "not 64-byte aligned (OM_ALIGNMENT)" : "null");
  // No elements can be there; a kernel that reads them would reach others.
  if (limits::hasShortAddresses && bytes > limits::maxBlock)
    return outOfMemory(error, bytes);
  return create(dtype, rank, dims, Elements::Elsewhere, const_cast<void *>(data), value, error);
}

om_status om_value_create_strings(uint32_t rank, const int64_t *dims, const char *const *texts,
                                  const size_t *sizes, om_value **value, om_error *error) {
  if (!value || (rank && !dims))
    return noPlace(error);
  *value = nullptr;
  uint64_t elements, bytes;
  if (!tensorSize(OM_STRING, rank, dims, elements, bytes))
    return answer(nullptr, OM_ERROR_ARGUMENT, value, error);
  for (uint64_t i = 0; i < elements; ++i)
    if (!texts || !texts[i])
      return fail(error, OM_ERROR_ARGUMENT, "string %llu of the tensor is null.",
                  static_cast<unsigned long long>(i));
  // The caller's strings as a value of the same kind, to be copied as one is.
  om_status status;
  om_value *view = makeTensor(nullptr, OM_STRING, rank, dims, Elements::Fresh, nullptr, status);
  if (!view)
    return answer(nullptr, status, value, error);
  for (uint64_t i = 0; i < elements; ++i)
    static_cast<String *>(view->data)[i] = {texts[i], sizes ? sizes[i] : std::strlen(texts[i])};
  om_value *made = detach(nullptr, *view, status);
  Memory::release(nullptr, view);
  return answer(made, status, value, error);
}

om_status om_value_create_sequence(om_dtype dtype, size_t count, const om_value *const *items,
                                   om_value **value, om_error *error) {
  if (!value)
    return noPlace(error);
  *value = nullptr;
  if (count && !items)
    return fail(error, OM_ERROR_ARGUMENT, "there are no items (null).");
  if (!isByte(dtype))
    return answer(nullptr, OM_ERROR_ARGUMENT, value, error);
  return answerList(Kind::Sequence, static_cast<uint8_t>(dtype), count, items, value, error);
}

om_status om_value_create_map(const om_value *keys, const om_value *values, om_value **value,
                              om_error *error) {
  if (!value)
    return noPlace(error);
  *value = nullptr;
  const om_value *items[] = {keys, values};
  return answerList(Kind::Map, values ? values->dtype : uint8_t(OM_UNDEFINED), 2, items, value,
                    error);
}

om_status om_value_create_none(om_value **value, om_error *error) {
  if (!value)
    return noPlace(error);
  *value = Memory::makeValue(nullptr);
  return *value ? OM_OK : answer(nullptr, OM_ERROR_MEMORY, value, error);
}

void om_value_retain(const om_value *value) { retain(value); }
void om_value_release(const om_value *value) { Memory::release(nullptr, value); }

om_kind om_value_kind(const om_value *value) {
  return value ? static_cast<om_kind>(value->kind) : OM_KIND_NONE;
}

om_status om_value_get_tensor(const om_value *value, om_dtype *dtype, uint32_t *rank,
                              const int64_t **dims, const void **data) {
  if (!value || value->kind != Kind::Tensor)
    return OM_ERROR_ARGUMENT;
  if (dtype)
    *dtype = static_cast<om_dtype>(value->dtype);
  if (rank)
    *rank = value->rank;
  if (dims)
    *dims = value->dims;
  if (data)
    *data = value->data;
  return OM_OK;
}

om_status om_value_get_string(const om_value *value, uint64_t index, const char **data,
                              size_t *size) {
  if (!value || value->kind != Kind::Tensor || value->dtype != OM_STRING ||
      index >= elementsOf(*value))
    return OM_ERROR_ARGUMENT;
  const String &string = static_cast<const String *>(value->data)[index];
  if (data)
    *data = string.data;
  if (size)
    *size = string.size;
  return OM_OK;
}

uint64_t om_value_size(const om_value *value) {
  switch (value->kind) {
  case Kind::None:
    return 0;
  case Kind::Tensor:
    return elementsOf(*value);
  case Kind::Sequence:
  case Kind::Map:
    return static_cast<uint64_t>(value->dims[0]);
  }
  return 0;
}

const om_value *om_value_item(const om_value *value, uint64_t index) {
  const bool list = value->kind == Kind::Sequence || value->kind == Kind::Map;
  return list && index < static_cast<uint64_t>(value->dims[0]) ? value->item(index) : nullptr;
}
