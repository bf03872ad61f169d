//===-- ShippedBanks.cpp - banks that come with the compiler --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/ShippedBanks.h"

#include "openatc/om.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace atc::tuning {

namespace {

struct Shipped {
  std::string_view target, text;
};

// The last row stands for none, so that there may be no banks.
constexpr Shipped banks[] = {
#include "tuning/ShippedBanks.inc"
    {"", ""}};

} // namespace

Bank shippedBank(const std::string &target) {
  Bank bank;
  const auto *found = std::find_if(std::begin(banks), std::end(banks), [&](const Shipped &shipped) {
    return shipped.target == target;
  });
  if (found == std::end(banks) || target.empty())
    return bank;
  Bank written;
  std::string error;
  if (!written.read(found->text, target, error)) {
    assert(!"the banks in tuning/banks are checked by the tests");
    return bank;
  }
  // The version that found an entry does not matter here: the entry came with this one.
  for (const auto &[key, entry] : written.all()) {
    BankEntry own = entry;
    own.compiler = om_version();
    bank.add(key, std::move(own));
  }
  return bank;
}

} // namespace atc::tuning
