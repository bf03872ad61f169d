//===-- fuzz-tf-checkpoint.cpp - no checkpoint crashes its reader ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is the index of a checkpoint. The checksums of its blocks would stop nearly
// every mutation, so they are made right first.

#include "frontends/tf/variables/CheckpointTable.h"

#include "test/fuzz/Outcome.h"
#include "llvm/Support/Endian.h"

using namespace atc;

namespace {

/// A part of the file that a block handle names.
struct Handle {
  uint64_t offset = 0, size = 0;
};

/// Takes a varint off the front; 0 at the end.
uint64_t takeVarint(llvm::StringRef &bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes = bytes.drop_front();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      break;
  }
  return value;
}

Handle takeHandle(llvm::StringRef &bytes) {
  const uint64_t offset = takeVarint(bytes);
  return {offset, takeVarint(bytes)};
}

/// Makes the checksum of a block right. Returns the block; empty outside of the file.
llvm::StringRef repair(std::string &file, Handle where) {
  constexpr size_t trailer = 5;
  if (file.size() < trailer || where.offset > file.size() - trailer ||
      where.size > file.size() - trailer - where.offset)
    return {};
  const llvm::StringRef block(file.data() + where.offset, where.size + 1);
  llvm::support::endian::write32le(file.data() + where.offset + where.size + 1,
                                   tf_import::maskedCrc32c(block));
  return block.drop_back();
}

void repairAll(std::string &file) {
  constexpr size_t footer = 48;
  if (file.size() < footer)
    return;
  llvm::StringRef handles = llvm::StringRef(file).take_back(footer);
  takeHandle(handles);
  llvm::StringRef index = repair(file, takeHandle(handles));
  // Offsets of entries, and their number, are at the end.
  if (index.size() < 4)
    return;
  const uint64_t restarts = llvm::support::endian::read32le(index.end() - 4);
  index = index.drop_back(std::min<uint64_t>(4 + 4 * restarts, index.size()));
  // Entries: bytes shared with the key before, own bytes of the key, bytes of the value.
  for (int entries = 0; !index.empty() && entries < 1000; ++entries) {
    takeVarint(index);
    const uint64_t own = takeVarint(index), length = takeVarint(index);
    index = index.drop_front(std::min<uint64_t>(own, index.size()));
    llvm::StringRef value = index.take_front(std::min<uint64_t>(length, index.size()));
    index = index.drop_front(value.size());
    repair(file, takeHandle(value));
  }
  llvm::StringRef again = llvm::StringRef(file).take_back(footer);
  takeHandle(again);
  repair(file, takeHandle(again));
}

} // namespace

/// Returns 0 for an index that is read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string file(reinterpret_cast<const char *>(data), size);
  repairAll(file);
  std::vector<std::pair<std::string, std::string>> entries;
  Diagnostics diagnostics;
  const bool isRead = tf_import::readCheckpointTable(file, "fuzz.index", entries, diagnostics);
  return fuzz::checkOutcome(isRead, diagnostics);
}
