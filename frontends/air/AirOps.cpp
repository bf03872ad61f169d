//===-- AirOps.cpp - an operator of a file as a single operator -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirOps.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

#include <cstring>

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace atc::air {

std::optional<int> typeOf(int32_t fileType) {
  // By the file's number; -1: none.
  constexpr int numbers[] = {-1, 0,  1,  2,  4,  6,  7,  3,  9,  8,  10, 12, 11, -1,
                             -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 27};
  if (fileType < 0 || fileType >= int(std::size(numbers)) || numbers[fileType] < 0)
    return std::nullopt;
  return numbers[fileType];
}

int formatOf(StringRef layout) {
  return StringSwitch<int>(layout)
      .Case("NCHW", 0)
      .Case("NHWC", 1)
      .Case("NC1HWC0", 3)
      .Case("FRACTAL_Z", 4)
      .Case("HWCN", 16)
      .Case("NDHWC", 27)
      .Case("FRACTAL_NZ", 29)
      .Case("NCDHW", 30)
      .Default(2);
}

int64_t elementBytes(int type) {
  switch (type) {
  case 2:
  case 4:
  case 12:
    return 1;
  case 1:
  case 6:
  case 7:
  case 27:
    return 2;
  case 0:
  case 3:
  case 8:
    return 4;
  case 9:
  case 10:
  case 11:
    return 8;
  default:
    return 0;
  }
}

static Json valueOf(const pb::List &list) {
  // A file states which of the lists it means; an empty one is of any.
  if (list.s_size()) {
    Json values = Json::array();
    for (const std::string &item : list.s())
      values.push_back(item);
    return values;
  }
  if (list.i_size())
    return std::vector<int64_t>(list.i().begin(), list.i().end());
  if (list.f_size())
    return std::vector<float>(list.f().begin(), list.f().end());
  if (list.b_size())
    return std::vector<bool>(list.b().begin(), list.b().end());
  return std::vector<int64_t>(list.dt().begin(), list.dt().end());
}

std::vector<SingleOpAttribute> attributesOf(const pb::Op &op) {
  std::vector<SingleOpAttribute> attributes;
  for (const auto &[name, attribute] : op.attr()) {
    // Names that begin so are notes of the toolchain to itself.
    if (StringRef(name).starts_with("_"))
      continue;
    switch (attribute.value_case()) {
    case pb::Attribute::kI:
      attributes.push_back({name, "int", attribute.i()});
      break;
    case pb::Attribute::kF:
      attributes.push_back({name, "float", attribute.f()});
      break;
    case pb::Attribute::kB:
      attributes.push_back({name, "bool", attribute.b()});
      break;
    case pb::Attribute::kS:
      attributes.push_back({name, "string", attribute.s()});
      break;
    case pb::Attribute::kDt:
      attributes.push_back({name, "int", attribute.dt()});
      break;
    case pb::Attribute::kList:
      attributes.push_back({name, "list_int", valueOf(attribute.list())});
      break;
    case pb::Attribute::kListListInt: {
      Json lists = Json::array();
      for (const pb::Ints &list : attribute.list_list_int().list_list_i())
        lists.push_back(std::vector<int64_t>(list.list_i().begin(), list.list_i().end()));
      attributes.push_back({name, "list_list_int", lists});
      break;
    }
    case pb::Attribute::kT:
    case pb::Attribute::VALUE_NOT_SET:
      break;
    }
  }
  sort(attributes, [](const auto &a, const auto &b) { return a.name < b.name; });
  return attributes;
}

/// Returns element `index` of a constant as a double; 0 for types that hold no numbers of shapes.
static double elementOf(const char *data, int type, int64_t index) {
  switch (type) {
  case 0: {
    const uint32_t bits = support::endian::read32le(data + 4 * index);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  case 2:
    return static_cast<signed char>(data[index]);
  case 3:
    return int32_t(support::endian::read32le(data + 4 * index));
  case 4:
  case 12:
    return static_cast<unsigned char>(data[index]);
  case 9:
    return int64_t(support::endian::read64le(data + 8 * index));
  case 10:
    return static_cast<double>(support::endian::read64le(data + 8 * index));
  default:
    return 0;
  }
}

std::optional<std::vector<double>> valuesOf(const pb::Tensor &tensor, int64_t limit) {
  const std::optional<int> type = typeOf(tensor.desc().dtype());
  if (!type || (*type != 0 && *type != 2 && *type != 3 && *type != 4 && *type != 9 && *type != 10 &&
                *type != 12))
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t dim : tensor.desc().shape().dim()) {
    if (dim < 0 || (dim && elements > limit / dim))
      return std::nullopt;
    elements *= dim;
  }
  if (elements > limit || int64_t(tensor.data().size()) != elements * elementBytes(*type))
    return std::nullopt;
  std::vector<double> values;
  for (int64_t i = 0; i < elements; ++i) {
    const double value = elementOf(tensor.data().data(), *type, i);
    constexpr int kInt64 = 9, kUInt64 = 10;
    if (*type == kInt64 || *type == kUInt64)
      if (const uint64_t exact = support::endian::read64le(tensor.data().data() + 8 * i);
          uint64_t(constantInt(value)) != exact)
        return std::nullopt;
    values.push_back(value);
  }
  return values;
}

} // namespace atc::air
