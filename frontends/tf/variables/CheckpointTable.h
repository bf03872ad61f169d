//===-- CheckpointTable.h - the sorted table of a checkpoint's index ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTTABLE_H
#define OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTTABLE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/Diagnostics.h"

namespace atc::tf_import {

/// The checksum of table blocks and tensors: CRC-32C, rotated and shifted so that a
/// checksum over bytes that hold checksums stays meaningful.
uint32_t maskedCrc32c(llvm::StringRef bytes);

/// Reads all entries of a table of the LevelDB layout, in the order of their keys.
/// False after an error; `name` stands for the file in the message.
bool readCheckpointTable(llvm::StringRef bytes, llvm::StringRef name,
                         std::vector<std::pair<std::string, std::string>> &entries,
                         Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_VARIABLES_CHECKPOINTTABLE_H
