//===-- OmSink.cpp - where the bytes of an .om file go --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"

#include "support/ErrorCodes.h"

#include <algorithm>
#include <cstring>

namespace atc::om {

/// The bytes of a piece of a file: two of the largest pages that Linux has on most machines.
static constexpr uint64_t kPieceBytes = 4 << 20;

bool OmFileSink::write(uint64_t offset, const void *data, uint64_t bytes) {
  if (offset < pieceAt + piece.size())
    return flush() && file.writeAt(offset, data, bytes);
  const char *from = static_cast<const char *>(data);
  while (bytes) {
    const uint64_t start = offset / kPieceBytes * kPieceBytes;
    if (start > pieceAt) {
      if (!flush())
        return false;
      pieceAt = start;
    }
    // Bytes in between, which nobody has written, are zero.
    const uint64_t size = std::min(bytes, start + kPieceBytes - offset);
    piece.resize(offset - pieceAt);
    piece.insert(piece.end(), from, from + size);
    from += size;
    offset += size;
    bytes -= size;
  }
  return true;
}

/// Writes the piece; an empty one begins behind it.
bool OmFileSink::flush() {
  const bool done = piece.empty() || file.writeAt(pieceAt, piece.data(), piece.size());
  pieceAt += piece.size();
  piece.clear();
  return done;
}

bool OmMemorySink::allocate(uint64_t bytes) {
  buffer = ::om::Buffer(bytes);
  return static_cast<bool>(buffer);
}

bool OmMemorySink::write(uint64_t offset, const void *data, uint64_t bytes) {
  if (bytes)
    std::memcpy(buffer.data<char>() + offset, data, bytes);
  return true;
}

std::string OmMemorySink::errorLine() const {
  return codedLine("E13004", "there is no memory for the compiled model: it has " +
                                 std::to_string(size()) + " bytes.");
}

} // namespace atc::om
