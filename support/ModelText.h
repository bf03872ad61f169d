//===-- ModelText.h - how the .om tools print models ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_MODELTEXT_H
#define OPENATC_SUPPORT_MODELTEXT_H

#include "openatc/om.h"
#include "support/PrintableText.h"

#include <cstdio>
#include <string>

namespace atc {

/// Returns dims as "[1,3,224,224]".
template <typename Dims> std::string dimsText(const Dims &dims) {
  std::string text = "[";
  for (auto dim : dims)
    text.append(text.size() > 1 ? "," : "").append(std::to_string(dim));
  return text.append("]");
}

/// Returns a type as "f32[1,3,224,224]".
template <typename Dims> std::string typeText(om_dtype dtype, const Dims &dims) {
  return om_dtype_name(dtype) + dimsText(dims);
}

/// Returns a type as "f32[batch,?,256]": a dynamic dim by its name in `names`, which has one per
/// dim or none.
template <typename Dims, typename Names>
std::string typeText(const std::string &dtype, const Dims &dims, const Names &names) {
  std::string text = dtype + "[";
  size_t i = 0;
  for (auto dim : dims) {
    const std::string name = i < names.size() ? std::string(names[i]) : std::string();
    text += i++ ? "," : "";
    text += dim >= 0 ? std::to_string(dim) : name.empty() ? "?" : printable(name);
  }
  return text + "]";
}

/// Returns a size as "12.5 MB", with decimal units.
inline std::string bytesText(uint64_t bytes) {
  const char *units[] = {"bytes", "KB", "MB", "GB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 3; ++unit)
    value /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

} // namespace atc

#endif
