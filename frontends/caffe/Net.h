//===-- Net.h - a Caffe net as read from its two files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_CAFFE_NET_H
#define OPENATC_FRONTENDS_CAFFE_NET_H

#include "frontends/caffe/schema/caffemodel.pb.h"
#include "frontends/caffe/schema/prototxt.pb.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atc::caffe {

using Dims = llvm::SmallVector<int64_t>;

/// Learned values of a layer, with the dims that the file states: of rank 4 in older files.
struct Blob {
  Dims dims;
  std::vector<float> values;
};

/// The layers that run in the TEST phase, in the newer form, and their weights.
struct Net {
  std::string name;
  std::vector<std::string> inputs; ///< `input:`, before all layers
  std::vector<Dims> inputShapes;   ///< of `inputs`; empty dims where none are stated
  std::vector<pb::Layer> layers;
  /// The blobs of each layer; layers of the weights that the text does not have are left out.
  std::map<std::string, std::vector<Blob>> blobs;
};

/// Reads a .prototxt and a .caffemodel. Returns nothing after at least one error.
std::optional<Net> readNet(llvm::StringRef prototxt, llvm::StringRef caffemodel,
                           Diagnostics &diagnostics);

} // namespace atc::caffe

#endif // OPENATC_FRONTENDS_CAFFE_NET_H
