//===-- CheckpointBundle.cpp - reads the variables of a checkpoint --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/CheckpointBundle.h"

#include "frontends/ModelFile.h"
#include "frontends/tf/variables/CheckpointTable.h"
#include "google/protobuf/stubs/logging.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tf_import {

unsigned elementBytes(pb::DataType type) {
  switch (type) {
  case pb::DT_BOOL:
  case pb::DT_INT8:
  case pb::DT_UINT8:
  case pb::DT_QINT8:
  case pb::DT_QUINT8:
    return 1;
  case pb::DT_HALF:
  case pb::DT_BFLOAT16:
  case pb::DT_INT16:
  case pb::DT_UINT16:
  case pb::DT_QINT16:
  case pb::DT_QUINT16:
    return 2;
  case pb::DT_FLOAT:
  case pb::DT_INT32:
  case pb::DT_UINT32:
  case pb::DT_QINT32:
    return 4;
  case pb::DT_DOUBLE:
  case pb::DT_INT64:
  case pb::DT_UINT64:
  case pb::DT_COMPLEX64:
    return 8;
  case pb::DT_COMPLEX128:
    return 16;
  default:
    return 0;
  }
}

/// Reads a file of the checkpoint in the folder `variables` of a model. No link leads out of the
/// model's folder: whoever compiles a model of somebody else's does not put other files into it.
static std::unique_ptr<MemoryBuffer> readPart(StringRef path, Diagnostics &diagnostics) {
  const StringRef folder = sys::path::parent_path(sys::path::parent_path(path));
  Expected<std::string> found = findInside(folder, path);
  if (!found) {
    const std::string reason = toString(found.takeError());
    if (sys::fs::exists(path)) {
      diagnostics.error("E13001", "file '" + path + "' " + reason);
      return nullptr;
    }
  }
  return readWholeFile(path, diagnostics);
}

std::unique_ptr<CheckpointBundle> CheckpointBundle::open(StringRef prefix,
                                                         Diagnostics &diagnostics) {
  std::string path = (prefix + ".index").str();
  std::unique_ptr<MemoryBuffer> buffer = readPart(path, diagnostics);
  if (!buffer)
    return nullptr;
  std::vector<std::pair<std::string, std::string>> table;
  if (!readCheckpointTable(buffer->getBuffer(), path, table, diagnostics))
    return nullptr;

  google::protobuf::LogSilencer silencer;
  auto fail = [&](const Twine &reason) {
    diagnostics.error("E13005", "'" + path + "' cannot be read as a checkpoint index: " + reason);
    return nullptr;
  };
  pb::BundleHeaderProto header;
  if (table.empty() || !table.front().first.empty() ||
      !header.ParseFromString(table.front().second))
    return fail("its header is missing or malformed");
  if (header.endianness() != pb::BundleHeaderProto::LITTLE)
    return fail("it was written on a big-endian machine, which is not supported");
  if (header.num_shards() < 1)
    return fail("it names " + Twine(header.num_shards()) + " data files");

  auto bundle = std::make_unique<CheckpointBundle>();
  bundle->prefix = prefix.str();
  bundle->numShards = header.num_shards();
  for (const auto &[key, value] : ArrayRef(table).drop_front())
    if (!bundle->entries[key].ParseFromString(value))
      return fail("the entry of '" + key + "' is malformed");
  return bundle;
}

MemoryBuffer *CheckpointBundle::shard(int number, Diagnostics &diagnostics) {
  auto [known, isNew] = shards.try_emplace(number);
  if (isNew) {
    std::string path;
    raw_string_ostream(path) << prefix << format(".data-%05d-of-%05d", number, numShards);
    known->second = readPart(path, diagnostics);
  }
  // A file that could not be read was reported with the first tensor in it.
  return known->second.get();
}

std::optional<StringRef> CheckpointBundle::bytesOf(StringRef key, const pb::BundleEntryProto &entry,
                                                   Diagnostics &diagnostics) {
  auto fail = [&](const Twine &reason) {
    diagnostics.error("E13005",
                      "the tensor '" + key + "' of checkpoint '" + prefix + "' " + reason);
    return std::nullopt;
  };
  if (entry.shard_id() < 0 || entry.shard_id() >= numShards)
    return fail("lies in data file " + Twine(entry.shard_id()) + " of " + Twine(numShards));
  MemoryBuffer *file = shard(entry.shard_id(), diagnostics);
  if (!file)
    return std::nullopt;
  uint64_t fileSize = file->getBufferSize();
  if (entry.offset() < 0 || entry.size() < 0 || static_cast<uint64_t>(entry.offset()) > fileSize ||
      static_cast<uint64_t>(entry.size()) > fileSize - entry.offset())
    return fail("lies outside of its data file (offset " + Twine(entry.offset()) + ", " +
                Twine(entry.size()) + " bytes, the file has " + Twine(fileSize) + ")");
  return file->getBuffer().substr(entry.offset(), entry.size());
}

bool CheckpointBundle::readTensor(StringRef key, StringRef user, pb::TensorProto &tensor,
                                  Diagnostics &diagnostics) {
  auto fail = [&](const Twine &reason) {
    diagnostics.error("E13005", "variable '" + user + "': the tensor '" + key +
                                    "' of checkpoint '" + prefix + "' " + reason);
    return false;
  };
  auto found = entries.find(key);
  if (found == entries.end())
    return fail("does not exist");
  const pb::BundleEntryProto &entry = found->second;
  if (entry.slices_size() > 0)
    return fail("is stored in slices (a partitioned variable), which is not supported: save the "
                "model with unpartitioned variables");
  unsigned bytesEach = elementBytes(entry.dtype());
  if (bytesEach == 0)
    return fail("has an element type without a fixed size (" + pb::DataType_Name(entry.dtype()) +
                ")");
  bool overflow = entry.shape().unknown_rank();
  uint64_t size = bytesEach;
  for (const pb::TensorShapeProto::Dim &dim : entry.shape().dim()) {
    bool dimOverflow = false;
    overflow |= dim.size() < 0;
    size = SaturatingMultiply(size, static_cast<uint64_t>(dim.size()), &dimOverflow);
    overflow |= dimOverflow;
  }
  if (overflow || size != static_cast<uint64_t>(entry.size()))
    return fail("has " + Twine(entry.size()) + " bytes, which does not fit its shape and type");
  std::optional<StringRef> bytes = bytesOf(key, entry, diagnostics);
  if (!bytes)
    return false;
  if (maskedCrc32c(*bytes) != entry.crc32c())
    return fail("has a wrong checksum, the data file is damaged");
  tensor.set_dtype(entry.dtype());
  *tensor.mutable_tensor_shape() = entry.shape();
  tensor.set_tensor_content(bytes->data(), bytes->size());
  return true;
}

std::optional<std::string> CheckpointBundle::readString(StringRef key, Diagnostics &diagnostics) {
  auto found = entries.find(key);
  if (found == entries.end() || found->second.dtype() != pb::DT_STRING ||
      found->second.shape().dim_size() != 0)
    return std::nullopt;
  std::optional<StringRef> bytes = bytesOf(key, found->second, diagnostics);
  if (!bytes)
    return std::nullopt;
  // The length as a varint, its checksum in 4 bytes, the characters.
  uint64_t length = 0;
  size_t at = 0;
  for (unsigned shift = 0; at < bytes->size() && shift < 64; shift += 7) {
    uint8_t byte = static_cast<uint8_t>((*bytes)[at++]);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      break;
  }
  if (bytes->size() - at < 4 || bytes->size() - at - 4 != length) {
    diagnostics.error("E13005",
                      "the string '" + key + "' of checkpoint '" + prefix + "' is malformed");
    return std::nullopt;
  }
  return bytes->drop_front(at + 4).str();
}

} // namespace atc::tf_import
