//===-- CheckpointBundle.h - reads the variables of a checkpoint ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTBUNDLE_H
#define OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTBUNDLE_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// The files `<prefix>.index` and `<prefix>.data-00000-of-00001` and so on.
class CheckpointBundle {
public:
  /// Reads the index. Null after an error.
  static std::unique_ptr<CheckpointBundle> open(llvm::StringRef prefix, Diagnostics &diagnostics);

  /// Returns whether the bundle has a tensor of this name.
  bool contains(llvm::StringRef key) const { return entries.contains(key); }

  /// Reads the tensor stored under `key` into `tensor`; `user` is named in messages.
  bool readTensor(llvm::StringRef key, llvm::StringRef user, pb::TensorProto &tensor,
                  Diagnostics &diagnostics);

  /// Reads a scalar string. Nothing when there is none under `key` or after an error.
  std::optional<std::string> readString(llvm::StringRef key, Diagnostics &diagnostics);

private:
  std::optional<llvm::StringRef> bytesOf(llvm::StringRef key, const pb::BundleEntryProto &entry,
                                         Diagnostics &diagnostics);
  llvm::MemoryBuffer *shard(int number, Diagnostics &diagnostics);

  std::string prefix;
  llvm::StringMap<pb::BundleEntryProto> entries;
  int numShards = 0;
  llvm::DenseMap<int, std::unique_ptr<llvm::MemoryBuffer>> shards;
};

/// Bytes an element takes, 0 for types without a fixed size.
unsigned elementBytes(pb::DataType type);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTBUNDLE_H
