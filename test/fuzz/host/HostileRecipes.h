//===-- HostileRecipes.h - shapes that belong together --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_HOST_HOSTILERECIPES_H
#define OPENATC_TEST_FUZZ_HOST_HOSTILERECIPES_H

#include "kernels/core/Support.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace atc::fuzz {

/// Dims of inputs and attributes that fit each other in a way that a kernel's contract
/// cannot state, as where one dim is a number of windows.
struct HostileRecipe {
  std::vector<kernels::Dims> dims; ///< of the inputs; empty: there is no recipe
  std::map<std::string, std::vector<int64_t>> integers;
  std::vector<uint8_t> dtypes = {}; ///< of the inputs; empty: what the contract allows
  std::vector<size_t> absent = {};  ///< inputs that are not given
  std::map<std::string, const char *> words = {};
  std::map<uint32_t, std::vector<int32_t>> elements = {}; ///< of inputs in int32
};

/// Returns a recipe for a call of `kernel`, or an empty one for kernels that random dims reach.
/// `below(n)` returns random integers in [0, n).
HostileRecipe hostileRecipeFor(const std::string &kernel,
                               const std::function<int64_t(int64_t)> &below);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_HOST_HOSTILERECIPES_H
