//===-- GearMerger.h - one file of several static models ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every gear of a model is compiled as a static model of its own. Here their descriptions
// become one: constants that are equal are stored once, so are programs of the NPU; the
// arena is shared, since one gear runs at a time. Constants of the first gear keep their
// offsets, and those of the others get the same ones where they are equal: a gear then
// sees its weights where its own file would have them.

#ifndef OPENATC_BACKENDS_OM_GEARMERGER_H
#define OPENATC_BACKENDS_OM_GEARMERGER_H

#include "backends/om/OmWriter.h"

#include <deque>
#include <unordered_map>

namespace atc::om {

class GearMerger {
public:
  /// Adds a gear with its values; the gears of one model are compilations of one network. What it
  /// borrows is copied, but for the constants of the first gear, which must outlive the file's
  /// writing.
  void add(const OmModel &gear, std::vector<int64_t> values);

  /// Returns everything but producer, command line and name. `gears` has kind, axes and
  /// bounds; the rest of it is filled in: a dim of an input or output that is an axis or
  /// differs between gears is -1. The result borrows from the merger.
  OmModel take(OmGears gears);

private:
  /// A segment of constants while it fills.
  struct Constants {
    std::vector<OmWeights> pieces;
    std::unordered_multimap<uint64_t, size_t> byHash; ///< to an index of `pieces`
    uint64_t end = 0;
  };
  /// The old and the new offset of a piece of one gear.
  struct Moved {
    uint64_t from, to;
  };
  /// Holds where the tensors, ports, kernels, constants and programs of a gear are in the merged
  /// model.
  struct Numbers {
    uint32_t firstTensor, firstInput, firstOutput, firstKernel;
    std::vector<Moved> moved[2]; ///< of weights and tables, by `from`
    std::vector<uint32_t> programs;
  };

  std::vector<Moved> addConstants(const std::vector<OmWeights> &given, Constants &all);
  std::vector<uint32_t> addPrograms(const std::vector<OmNpuProgram> &given);
  void addImages(const OmModel &gear);
  OmBufferRef moved(OmBufferRef ref, const Numbers &numbers) const;
  OmLaunch moved(const OmLaunch &launch, const Numbers &numbers) const;
  OmHostProgram moved(OmHostProgram program, const Numbers &numbers, uint32_t firstLaunch) const;
  OmHostPort portOf(const OmGear &gear, bool output, uint32_t index) const;

  OmModel model;
  OmGears gears;
  Constants weights, tables;
  std::deque<std::vector<char>> copies; ///< of constants that only later gears have
  std::unordered_multimap<uint64_t, uint32_t> programsByHash;
  std::vector<std::vector<char>> code; ///< of the images
};

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_GEARMERGER_H
