//===-- BundleFormat.h - several models in one file --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_BUNDLEFORMAT_H
#define ASCEND_SRC_BUNDLEFORMAT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atc::ascend {

/// A bundle is 16 bytes that mark it, the number of its models and, per model, its offset and its
/// size, all as integers of 8 bytes in the order of this machine; then the models.

/// Returns the bytes of a bundle of models, each of which is the bytes of an .om file.
std::string makeBundle(const std::vector<std::string_view> &models);

/// Returns whether bytes begin as a bundle does.
bool isBundle(std::string_view bytes);

/// Returns whether bytes begin as those of an .om file do.
bool isModel(std::string_view bytes);

/// Returns the models of a bundle, which are parts of `bytes`; nothing where it is damaged.
std::optional<std::vector<std::string_view>> modelsOfBundle(std::string_view bytes);

} // namespace atc::ascend

#endif
