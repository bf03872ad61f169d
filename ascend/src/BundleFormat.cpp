//===-- BundleFormat.cpp ------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/BundleFormat.h"

#include <cstdint>
#include <cstring>

namespace atc::ascend {
namespace {

constexpr std::string_view mark = "OpenATC bundle 1";
static_assert(mark.size() == 16);
constexpr uint64_t maxModels = 1024;

void append(std::string &bytes, uint64_t number) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

uint64_t numberAt(std::string_view bytes, size_t offset) {
  uint64_t number = 0;
  memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

} // namespace

std::string makeBundle(const std::vector<std::string_view> &models) {
  std::string bytes(mark);
  append(bytes, models.size());
  uint64_t offset = mark.size() + 8 + 16 * models.size();
  for (std::string_view model : models) {
    append(bytes, offset);
    append(bytes, model.size());
    offset += model.size();
  }
  bytes.reserve(offset);
  for (std::string_view model : models)
    bytes += model;
  return bytes;
}

bool isBundle(std::string_view bytes) { return bytes.substr(0, mark.size()) == mark; }

bool isModel(std::string_view bytes) {
  // The identifier of om.fbs, behind the length of the table and the offset of its root.
  return bytes.size() >= 12 && bytes.substr(8, 4) == "OATC";
}

std::optional<std::vector<std::string_view>> modelsOfBundle(std::string_view bytes) {
  const size_t head = mark.size() + 8;
  if (!isBundle(bytes) || bytes.size() < head)
    return std::nullopt;
  const uint64_t count = numberAt(bytes, mark.size());
  if (count == 0 || count > maxModels || bytes.size() - head < 16 * count)
    return std::nullopt;
  std::vector<std::string_view> models;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = numberAt(bytes, head + 16 * i);
    const uint64_t size = numberAt(bytes, head + 16 * i + 8);
    if (offset > bytes.size() || size > bytes.size() - offset)
      return std::nullopt;
    models.push_back(bytes.substr(offset, size));
  }
  return models;
}

} // namespace atc::ascend
