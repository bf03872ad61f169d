//===-- Codec.cpp - programs of the NPU as bytes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same traversal of all values of a program serves both directions: `Writer` and `Reader` have
// the same functions. In a group of values that usually have their default, a presence mask in
// front of the group has one bit per value.

#include "npu/isa/Codec.h"

#include "npu/soc/Limits.h"

namespace atc::npu {

namespace {

// The last byte is the version: 3 for programs with layers, 2 for other mixed programs, which have
// a second grid, 1 for all others.
constexpr uint8_t kMagic[4] = {'N', 'P', 'U', 1};
constexpr uint8_t kMixedVersion = 2, kLayersVersion = 3;

struct Writer {
  static constexpr bool reading = false;
  std::vector<uint8_t> bytes;
  bool ok() const { return true; }
  void number(uint64_t &value) {
    uint64_t rest = value;
    for (; rest >= 128; rest >>= 7)
      bytes.push_back(uint8_t(rest | 128));
    bytes.push_back(uint8_t(rest));
  }
  void text(std::string &value) {
    uint64_t size = value.size();
    number(size);
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
};

struct Reader {
  static constexpr bool reading = true;
  const uint8_t *data;
  size_t size, at = 0;
  bool failed = false;
  bool ok() const { return !failed; }
  void number(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at >= size || shift > 63 || (shift == 63 && data[at] > 1)) {
        failed = true;
        value = 0;
        return;
      }
      uint8_t byte = data[at++];
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return;
    }
  }
  void text(std::string &value) {
    uint64_t length = 0;
    number(length);
    failed |= length > kMaxNameBytes || length > size - at;
    if (failed)
      return;
    value.assign(reinterpret_cast<const char *>(data + at), size_t(length));
    at += size_t(length);
  }
};

/// Codes a value of another integer type, which must fit into it.
template <typename Codec, typename T> void small(Codec &codec, T &value) {
  uint64_t wide = uint64_t(value);
  codec.number(wide);
  if constexpr (Codec::reading) {
    value = T(wide);
    if (uint64_t(value) != wide)
      codec.failed = true;
  }
}

/// Codes signed integers: small absolute values are short.
template <typename Codec> void signedNumber(Codec &codec, int64_t &value) {
  uint64_t zigzag = uint64_t(value) << 1 ^ uint64_t(value >> 63);
  codec.number(zigzag);
  value = int64_t(zigzag >> 1 ^ (~(zigzag & 1) + 1));
}

/// Doubles are short from their high end.
template <typename Codec> void floatNumber(Codec &codec, int64_t &value) {
  uint64_t reversed = __builtin_bswap64(uint64_t(value));
  codec.number(reversed);
  value = int64_t(__builtin_bswap64(reversed));
}

template <typename Codec> void affine(Codec &codec, Affine &value) {
  int64_t *numbers[kMaxIvs + 1] = {&value.base};
  uint64_t mask = value.base != 0;
  for (unsigned i = 0; i < kMaxIvs; ++i) {
    numbers[i + 1] = &value.strides[i];
    mask |= uint64_t(value.strides[i] != 0) << (i + 1);
  }
  codec.number(mask);
  for (unsigned i = 0; i <= kMaxIvs; ++i)
    if (mask >> i & 1)
      signedNumber(codec, *numbers[i]);
  if constexpr (Codec::reading)
    codec.failed |= mask >> (kMaxIvs + 1) != 0;
}

/// Codes an address; memory, argument and whether slots follow share one integer.
template <typename Codec> void address(Codec &codec, Address &value) {
  bool turns = value.slots != 1 || value.depth != 0 || value.slotBytes != 0;
  uint64_t head = uint64_t(value.argument) << 4 | uint64_t(turns) << 3 | uint64_t(value.memory);
  codec.number(head);
  if constexpr (Codec::reading) {
    value = Address();
    codec.failed |= (head & 7) >= kMemories || head >> 4 > 255;
    value.memory = Memory((head & 7) % kMemories);
    value.argument = uint8_t(head >> 4);
    turns = head >> 3 & 1;
  }
  if (turns) {
    small(codec, value.slots);
    small(codec, value.depth);
    signedNumber(codec, value.slotBytes);
  }
  affine(codec, value.offset);
}

/// Codes a range; the lowest bits of the length say whether a start and a limit follow.
template <typename Codec> void range(Codec &codec, Range &value) {
  bool started = value.start.base != 0, limited = value.limit != INT64_MAX;
  for (int64_t stride : value.start.strides)
    started |= stride != 0;
  uint64_t flags = uint64_t(limited) << 1 | uint64_t(started) | uint64_t(value.length == 1) << 2;
  codec.number(flags);
  if constexpr (Codec::reading) {
    value = Range();
    codec.failed |= flags > 7;
  }
  if (!(flags & 4))
    signedNumber(codec, value.length);
  if (flags & 1)
    affine(codec, value.start);
  if (flags & 2)
    signedNumber(codec, value.limit);
}

template <typename Codec> void instruction(Codec &codec, Instruction &value) {
  // Bits 0 .. 3 and 7 of the opcode, 5 kinds of guard between.
  uint64_t number = uint64_t(value.opcode);
  uint64_t head = number >> 4 << 7 | uint64_t(value.guard.kind) << 4 | (number & 15);
  static_assert(kOpcodes <= 32);
  codec.number(head);
  if constexpr (Codec::reading) {
    uint64_t opcode = head >> 7 << 4 | (head & 15), guard = head >> 4 & 7;
    if (opcode >= kOpcodes || guard > Guard::NotLast) {
      codec.failed = true;
      return;
    }
    value.opcode = Opcode(opcode);
    value.guard.kind = Guard::Kind(guard);
  }
  if (value.guard.kind != Guard::Always)
    small(codec, value.guard.iv);
  const OpcodeInfo &info = infoOf(value.opcode);
  for (unsigned i = 0; i < info.addressCount; ++i)
    address(codec, value.addresses[i]);
  for (unsigned i = 0; i < info.rangeCount; ++i)
    range(codec, value.ranges[i]);
  if (!info.fieldCount)
    return;
  uint64_t mask = 0;
  for (unsigned i = 0; i < info.fieldCount; ++i)
    mask |= uint64_t(value.fields[i] != 0) << i;
  codec.number(mask);
  for (unsigned i = 0; i < info.fieldCount; ++i)
    if (mask >> i & 1)
      info.fields[i].kind == FieldKind::Float ? floatNumber(codec, value.fields[i])
                                              : signedNumber(codec, value.fields[i]);
  if constexpr (Codec::reading)
    codec.failed |= mask >> info.fieldCount != 0;
}

template <typename Codec> void header(Codec &codec, Program &program) {
  small(codec, program.vectorCore);
  for (uint32_t &size : program.grid)
    small(codec, size);
}

/// Codes what mixed programs have in addition.
template <typename Codec> void mixedHeader(Codec &codec, Program &program) {
  for (uint32_t &size : program.vectorGrid)
    small(codec, size);
  small(codec, program.vectorBegin);
}

template <typename Codec> void layer(Codec &codec, Layer &value) {
  small(codec, value.begin);
  codec.text(value.name);
  codec.text(value.kernel);
  codec.number(value.macs);
}

} // namespace

std::vector<uint8_t> encode(const Program &source) {
  Program program = source;
  Writer writer;
  writer.bytes.assign(kMagic, kMagic + sizeof kMagic);
  header(writer, program);
  if (program.isMixed() || !program.layers.empty()) {
    writer.bytes[3] = program.layers.empty() ? kMixedVersion : kLayersVersion;
    mixedHeader(writer, program);
  }
  uint64_t count = program.arguments.size();
  writer.number(count);
  for (uint64_t &bytes : program.arguments)
    writer.number(bytes);
  count = program.code.size();
  writer.number(count);
  for (Instruction &code : program.code)
    instruction(writer, code);
  if (!program.layers.empty()) {
    count = program.layers.size();
    writer.number(count);
    for (Layer &each : program.layers)
      layer(writer, each);
  }
  return std::move(writer.bytes);
}

bool decode(const uint8_t *data, size_t size, Program &program, std::string &error) {
  program = Program();
  if (size < sizeof kMagic || std::memcmp(data, kMagic, 3) != 0) {
    error = "not an NPU program";
    return false;
  }
  const uint8_t version = data[3];
  if (version < kMagic[3] || version > kLayersVersion) {
    error = "NPU program of version " + std::to_string(version) + ", expected version " +
            std::to_string(kMagic[3]) + " to " + std::to_string(kLayersVersion);
    return false;
  }
  Reader reader{data, size, sizeof kMagic};
  auto fail = [&](const char *what) {
    error = std::string(what) + " at byte " + std::to_string(reader.at);
    return false;
  };
  header(reader, program);
  if (version != kMagic[3]) {
    mixedHeader(reader, program);
    // Other programs are of the first version.
    if (version == kMixedVersion && !program.isMixed())
      return fail("broken header");
  }
  uint64_t count = 0;
  auto counted = [&](int64_t max, const char *things) {
    reader.number(count);
    // Each item takes at least one byte.
    if (!reader.ok() || count > size - reader.at)
      return fail("broken header");
    if (count > uint64_t(max)) {
      error = "has " + std::to_string(count) + " " + things + ", more than " + std::to_string(max);
      return false;
    }
    return true;
  };
  if (!counted(Limits::MaxArguments, "arguments"))
    return false;
  program.arguments.resize(size_t(count));
  for (uint64_t &bytes : program.arguments)
    reader.number(bytes);
  if (!counted(Limits::MaxInstructions, "instructions"))
    return false;
  program.code.reserve(size_t(count));
  for (uint64_t i = 0; i < count; ++i) {
    Instruction code;
    code.line = uint32_t(i);
    instruction(reader, code);
    if (!reader.ok())
      return fail("broken instruction");
    program.code.push_back(code);
  }
  if (version == kLayersVersion) {
    if (!counted(Limits::MaxInstructions, "layers"))
      return false;
    // Each begins at an instruction, of which there are few.
    if (!count || count > program.code.size())
      return fail("no layers, or more than instructions,");
    program.layers.resize(size_t(count));
    for (Layer &each : program.layers) {
      layer(reader, each);
      if (!reader.ok())
        return fail("broken layer");
    }
  }
  return reader.at == size || fail("bytes left over");
}

} // namespace atc::npu
