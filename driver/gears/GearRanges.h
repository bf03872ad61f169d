//===-- GearRanges.h - ranges of dims become gears ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_GEARS_GEARRANGES_H
#define OPENATC_DRIVER_GEARS_GEARRANGES_H

#include "driver/gears/GearRequest.h"

namespace atc::driver {

/// The sizes that a dim may have.
struct DimRange {
  static constexpr int64_t noLimit = -1;

  int64_t min = 1, max = noLimit;

  /// Returns whether there is one value only.
  bool isFixed() const { return min == max; }
  bool operator==(const DimRange &) const = default;
};

/// Names of inputs and their dims.
using RangedShapes = std::vector<std::pair<std::string, std::vector<DimRange>>>;

/// Reads `--input_shape` or `--input_shape_range`, whose name is `flag`:
/// "x:1~8,3,224,-1;y:4" or "x:[8~20,3,5,-1]". Whatever is not valid becomes an error, and its
/// input is left out.
RangedShapes readRanges(llvm::StringRef flag, llvm::StringRef text, Diagnostics &diagnostics);

/// Returns shapes with -1 for every dim that is not fixed.
InputShapes withoutRanges(const RangedShapes &shapes);
/// Returns shapes in which each -1 has no limit.
RangedShapes withRanges(const InputShapes &shapes);

/// Returns the gears of OM_GEARS_RANGE for dims that are not fixed, of which there is at least
/// one: for each the powers of two in its range and its end, or the sizes of `hints`
/// (`--input_hint_shape`, "0:[8,3,224,224];0:[32,3,224,224]" or with names) in their place. A
/// dim without a limit ends at 64 or at the largest hint. Dims of equal range at the same
/// place of several inputs are one value. Nothing after an error.
std::optional<GearRequest> planRanges(const RangedShapes &shapes, llvm::StringRef hints,
                                      Diagnostics &diagnostics);

/// Returns a request of OM_GEARS_RANGE with a gear for every size of its ranges, in which nothing
/// has to be padded; nothing where a range has no end or these would be more than 100 gears.
std::optional<GearRequest> withAllSizes(const GearRequest &request);

/// Returns flags that ask for the smallest and the largest gear of `request` by their sizes.
std::string exampleOfSizes(const GearRequest &request);

} // namespace atc::driver

#endif // OPENATC_DRIVER_GEARS_GEARRANGES_H
