//===-- CheckpointTable.cpp - the sorted table of a checkpoint's index ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/CheckpointTable.h"

#include <array>
#include <optional>

#include "llvm/Support/Endian.h"

using namespace llvm;

namespace atc::tf_import {

static constexpr std::array<uint32_t, 256> makeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = value & 1 ? (value >> 1) ^ 0x82F63B78u : value >> 1;
    table[i] = value;
  }
  return table;
}

uint32_t maskedCrc32c(StringRef bytes) {
  static constexpr std::array<uint32_t, 256> table = makeCrcTable();
  uint32_t crc = ~0u;
  for (char c : bytes)
    crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

namespace {

/// Takes numbers and bytes off the front; every take fails at the end of the bytes.
class ByteReader {
public:
  explicit ByteReader(StringRef bytes) : rest(bytes) {}

  bool empty() const { return rest.empty(); }

  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      uint8_t byte = static_cast<uint8_t>(rest.front());
      rest = rest.drop_front();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    return std::nullopt;
  }

  std::optional<StringRef> take(uint64_t size) {
    if (size > rest.size())
      return std::nullopt;
    StringRef taken = rest.take_front(size);
    rest = rest.drop_front(size);
    return taken;
  }

private:
  StringRef rest;
};

struct BlockHandle {
  uint64_t offset, size;
};

using Entries = std::vector<std::pair<std::string, std::string>>;

class TableReader {
public:
  TableReader(StringRef bytes, StringRef name, Diagnostics &diagnostics)
      : bytes(bytes), name(name), diagnostics(diagnostics) {}

  bool read(Entries &entries);

private:
  bool fail(const Twine &reason) {
    diagnostics.error("E13005", "'" + name + "' cannot be read as a checkpoint index: " + reason);
    return false;
  }
  std::optional<BlockHandle> handle(ByteReader &reader);
  std::optional<StringRef> block(BlockHandle where);
  bool blockEntries(StringRef block, Entries &entries);

  StringRef bytes, name;
  Diagnostics &diagnostics;
  uint64_t keyBytes = 0, blockBytes = 0;
};

} // namespace

// Two block handles, padded, and the mark of the format.
static constexpr size_t footerSize = 48;
static constexpr uint64_t tableMagic = 0xdb4775248b80fb57ull;
// Compression kind and checksum behind every block.
static constexpr size_t trailerSize = 5;

std::optional<BlockHandle> TableReader::handle(ByteReader &reader) {
  std::optional<uint64_t> offset = reader.varint();
  std::optional<uint64_t> size = reader.varint();
  if (!offset || !size)
    return std::nullopt;
  return BlockHandle{*offset, *size};
}

std::optional<StringRef> TableReader::block(BlockHandle where) {
  StringRef data = bytes.drop_back(footerSize);
  if (where.offset > data.size() || data.size() - where.offset < trailerSize ||
      where.size > data.size() - where.offset - trailerSize) {
    fail("a block lies outside of the file");
    return std::nullopt;
  }
  // A crafted file could name one large block over and over.
  blockBytes += where.size + trailerSize;
  if (blockBytes > data.size()) {
    fail("its blocks overlap");
    return std::nullopt;
  }
  StringRef withKind = data.substr(where.offset, where.size + 1);
  uint32_t crc = support::endian::read32le(withKind.end());
  if (maskedCrc32c(withKind) != crc) {
    fail("the checksum of a block is wrong, the file is damaged");
    return std::nullopt;
  }
  if (withKind.back() == 1) {
    fail("its blocks are compressed with snappy, which is not supported: save the model again with "
         "an uncompressed checkpoint");
    return std::nullopt;
  }
  if (withKind.back() != 0) {
    fail("a block has an unknown kind of compression");
    return std::nullopt;
  }
  return withKind.drop_back();
}

bool TableReader::blockEntries(StringRef block, Entries &entries) {
  if (block.size() < 4)
    return fail("a block is cut short");
  uint64_t restarts = support::endian::read32le(block.end() - 4);
  if (restarts > (block.size() - 4) / 4)
    return fail("a block has a wrong number of restart points");
  ByteReader reader(block.drop_back(4 + 4 * restarts));
  std::string key;
  while (!reader.empty()) {
    std::optional<uint64_t> shared = reader.varint(), own = reader.varint(),
                            length = reader.varint();
    if (!shared || !own || !length || *shared > key.size())
      return fail("an entry of a block is malformed");
    std::optional<StringRef> tail = reader.take(*own);
    std::optional<StringRef> value = tail ? reader.take(*length) : std::nullopt;
    if (!value)
      return fail("an entry of a block is cut short");
    key.resize(*shared);
    key.append(tail->data(), tail->size());
    // The order is what keeps a crafted file from naming one block over and over.
    if (!entries.empty() && key <= entries.back().first)
      return fail("its keys are not in order");
    // A long key that thousands of tiny entries share would take far more memory than
    // the file has bytes; names in real checkpoints share a few dozen bytes.
    keyBytes += key.size();
    if (keyBytes > 64 * static_cast<uint64_t>(bytes.size()) + (1 << 20))
      return fail("its keys are implausibly long");
    entries.emplace_back(key, value->str());
  }
  return true;
}

bool TableReader::read(Entries &entries) {
  if (bytes.size() < footerSize)
    return fail("the file is cut short");
  StringRef footer = bytes.take_back(footerSize);
  if (support::endian::read64le(footer.end() - 8) != tableMagic)
    return fail("the mark of the format at its end is missing, the file is damaged or of another "
                "format");
  ByteReader reader(footer.drop_back(8));
  std::optional<BlockHandle> meta = handle(reader);
  std::optional<BlockHandle> index = handle(reader);
  if (!meta || !index)
    return fail("the footer is malformed");
  std::optional<StringRef> indexBlock = block(*index);
  if (!indexBlock)
    return false;
  Entries blocks;
  if (!blockEntries(*indexBlock, blocks))
    return false;
  for (const auto &[lastKey, where] : blocks) {
    ByteReader handleReader(where);
    std::optional<BlockHandle> dataHandle = handle(handleReader);
    if (!dataHandle)
      return fail("the index block is malformed");
    std::optional<StringRef> data = block(*dataHandle);
    if (!data || !blockEntries(*data, entries))
      return false;
  }
  return true;
}

bool readCheckpointTable(StringRef bytes, StringRef name, Entries &entries,
                         Diagnostics &diagnostics) {
  return TableReader(bytes, name, diagnostics).read(entries);
}

} // namespace atc::tf_import
