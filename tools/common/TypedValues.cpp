//===-- TypedValues.cpp - values that are typed as text -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/TypedValues.h"

#include "runtime-lite/abi/SmallFloats.h"
#include "support/InputJson.h"
#include "support/ModelText.h"
#include "tools/common/Inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace atc::tools {

namespace {

/// Collects the elements of nested lists.
class TypedReader {
public:
  explicit TypedReader(const om::Tensor &input) : dtype(input.dtype) {}

  /// Adds a list or an element at `depth`. Returns false with `reason` where lists of one dim
  /// differ in length or an element is not of the type.
  bool add(const nlohmann::json &value, size_t depth) {
    if (!value.is_array())
      return depth == typed.dims.size()
                 ? addElement(value)
                 : fail("a list and " + value.dump() + " stand side by side");
    if (depth == typed.dims.size()) {
      if (hasElements)
        return fail("a list and an element stand side by side");
      typed.dims.push_back(static_cast<int64_t>(value.size()));
    } else if (typed.dims[depth] != static_cast<int64_t>(value.size())) {
      return fail("lists of " + std::to_string(typed.dims[depth]) + " and of " +
                  std::to_string(value.size()) + " items stand side by side");
    }
    return std::all_of(value.begin(), value.end(),
                       [&](const nlohmann::json &item) { return add(item, depth + 1); });
  }

  TypedTensor typed;
  std::string reason;

private:
  bool fail(const std::string &why) {
    reason = why;
    return false;
  }

  template <typename T> bool store(T value) {
    const char *bytes = reinterpret_cast<const char *>(&value);
    typed.bytes.insert(typed.bytes.end(), bytes, bytes + sizeof(T));
    return true;
  }

  /// Stores an integer that T represents.
  template <typename T> bool storeInteger(const nlohmann::json &value) {
    const bool fits =
        value.is_number_unsigned()
            ? value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
            : value.is_number_integer() && std::is_signed_v<T> &&
                  value.get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min());
    return fits ? store(static_cast<T>(value.get<int64_t>())) : mismatch(value);
  }

  /// Stores a number that is finite in a type whose largest value is `max`.
  bool storeFloat(const nlohmann::json &value, double max) {
    const double number = value.is_number() ? value.get<double>() : HUGE_VAL;
    if (std::fabs(number) > max)
      return mismatch(value);
    switch (dtype) {
    case OM_F16:
      return store(floatToHalf(static_cast<float>(number)));
    case OM_BF16:
      return store(floatToBf16(static_cast<float>(number)));
    case OM_F32:
      return store(static_cast<float>(number));
    default:
      return store(number);
    }
  }

  bool mismatch(const nlohmann::json &value) {
    return fail(value.dump() + " is no " + om_dtype_name(dtype));
  }

  bool addElement(const nlohmann::json &value) {
    hasElements = true;
    switch (dtype) {
    case OM_F32:
      return storeFloat(value, std::numeric_limits<float>::max());
    case OM_F64:
      return storeFloat(value, std::numeric_limits<double>::max());
    case OM_F16:
      return storeFloat(value, halfToFloat(0x7bff));
    case OM_BF16:
      return storeFloat(value, bf16ToFloat(0x7f7f));
    case OM_I8:
      return storeInteger<int8_t>(value);
    case OM_U8:
      return storeInteger<uint8_t>(value);
    case OM_I16:
      return storeInteger<int16_t>(value);
    case OM_U16:
      return storeInteger<uint16_t>(value);
    case OM_I32:
      return storeInteger<int32_t>(value);
    case OM_U32:
      return storeInteger<uint32_t>(value);
    case OM_I64:
      return storeInteger<int64_t>(value);
    case OM_U64:
      return storeInteger<uint64_t>(value);
    case OM_BOOL:
      return value.is_boolean() ? store(static_cast<uint8_t>(value.get<bool>())) : mismatch(value);
    case OM_STRING:
      if (!value.is_string())
        return mismatch(value);
      typed.texts.push_back(value.get<std::string>());
      return true;
    default:
      return fail(std::string("elements of ") + om_dtype_name(dtype) +
                  " cannot be typed; give a file");
    }
  }

  const om_dtype dtype;
  bool hasElements = false;
};

} // namespace

std::optional<TypedTensor> parseTyped(const std::string &text, const om::Tensor &input,
                                      std::string &error) {
  nlohmann::json json;
  TypedReader reader(input);
  std::string reason = parseInputJson(text, json);
  if (!reason.empty())
    reason = "the text " + reason;
  else if (!reader.add(json, 0))
    reason = reader.reason;
  std::vector<int64_t> &dims = reader.typed.dims;
  if (input.ranked && input.dims.empty() && dims == std::vector<int64_t>{1})
    dims.clear();
  if (reason.empty() && !mayHaveDims(input, dims))
    reason = "the values have the shape " + typeText("", dims, input.dimNames) +
             ", but the model has " +
             typeText(om_dtype_name(input.dtype), input.dims, input.dimNames);
  if (reason.empty())
    return std::move(reader.typed);
  error = "E10014: input '" + printable(input.name) +
          "' cannot have the values of --input: " + printable(reason) + ".";
  return std::nullopt;
}

bool readTyped(const std::string &text, const om::Tensor &input, void *data, std::string &error) {
  const std::optional<TypedTensor> typed = parseTyped(text, input, error);
  if (typed && !typed->bytes.empty())
    std::memcpy(data, typed->bytes.data(), typed->bytes.size());
  return typed.has_value();
}

} // namespace atc::tools
