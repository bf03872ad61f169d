//===-- ByteRecords.cpp - records of training data, and recordings --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What TensorFlow stores as bytes: messages of the type Example, whose features are lists of texts,
// floats or integers by name, and recordings in the format WAV.

#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The wire type of a field in a protocol buffer.
enum class Wire : uint8_t { Varint = 0, Bytes8 = 1, Text = 2, Bytes4 = 5 };

/// The fields of a protocol buffer's message in their order.
class Fields {
public:
  explicit Fields(String message) : at(message.data), end(message.data + message.size) {}

  uint64_t number = 0;
  Wire wire = Wire::Varint;
  uint64_t value = 0; ///< of a Varint
  String text;        ///< the bytes of all others

  /// Reads the next field; returns false behind the last one, and where the bytes are no message.
  bool next() {
    uint64_t tag = 0;
    if (at == end || !varint(tag))
      return false;
    number = tag >> 3;
    wire = Wire(tag & 7);
    switch (wire) {
    case Wire::Varint:
      return varint(value);
    case Wire::Bytes8:
      return take(8);
    case Wire::Bytes4:
      return take(4);
    case Wire::Text:
      return varint(value) && take(value);
    }
    return fails();
  }
  bool varint(uint64_t &result) {
    result = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at == end)
        return fails();
      const auto byte = uint8_t(*at++);
      result |= shift < 64 ? uint64_t(byte & 0x7f) << shift : 0;
      if (byte < 0x80)
        return true;
    }
    return fails();
  }
  bool isOver() const { return at == end; }
  bool isValid() const { return valid; }

private:
  bool take(uint64_t bytes) {
    if (bytes > uint64_t(end - at))
      return fails();
    text = {at, bytes};
    at += bytes;
    return true;
  }
  bool fails() {
    valid = false;
    return false;
  }

  const char *at, *end;
  bool valid = true;
};

/// The values of a feature: their kind is the number of the field that holds their list.
struct Feature {
  enum Kind : uint8_t { Missing, Texts, Floats, Integers };
  Kind kind = Missing;
  String list;
  bool valid = true; ///< the bytes are a message
};

/// Returns the feature of an Example by its name; of several the last one counts.
Feature findFeature(String message, String name) {
  Feature feature;
  Fields example(message);
  while (example.next()) {
    if (example.number != 1 || example.wire != Wire::Text)
      continue;
    Fields features(example.text);
    while (features.next()) {
      if (features.number != 1 || features.wire != Wire::Text)
        continue;
      String key, value;
      Fields entry(features.text);
      while (entry.next())
        if (entry.wire == Wire::Text && (entry.number == 1 || entry.number == 2))
          (entry.number == 1 ? key : value) = entry.text;
      feature.valid &= entry.isValid();
      if (compare(key, name) != 0)
        continue;
      feature.kind = Feature::Missing;
      Fields lists(value);
      while (lists.next())
        if (lists.wire == Wire::Text && lists.number >= 1 && lists.number <= 3)
          feature.kind = Feature::Kind(lists.number), feature.list = lists.text;
      feature.valid &= lists.isValid();
    }
    feature.valid &= features.isValid();
  }
  feature.valid &= example.isValid();
  return feature;
}

/// Calls `visit` with the text of each value: 4 bytes of a float, 8 of an integer. Returns false
/// where the bytes are no list.
template <typename Visit> bool forEachValue(const Feature &feature, Visit visit) {
  Fields list(feature.list);
  while (list.next()) {
    if (list.number != 1)
      continue;
    if (feature.kind == Feature::Integers &&
        (list.wire == Wire::Text || list.wire == Wire::Varint)) {
      // Several integers side by side, or one.
      if (list.wire == Wire::Text) {
        Fields packed(list.text);
        for (uint64_t value; !packed.isOver();) {
          if (!packed.varint(value))
            return false;
          visit(String{reinterpret_cast<const char *>(&value), sizeof(value)});
        }
      } else {
        visit(String{reinterpret_cast<const char *>(&list.value), sizeof(list.value)});
      }
    } else if (feature.kind == Feature::Floats &&
               (list.wire == Wire::Text || list.wire == Wire::Bytes4)) {
      if (list.text.size % sizeof(float))
        return false;
      for (uint64_t at = 0; at < list.text.size; at += sizeof(float))
        visit(String{list.text.data + at, sizeof(float)});
    } else if (feature.kind == Feature::Texts && list.wire == Wire::Text) {
      visit(list.text);
    } else {
      return false;
    }
  }
  return list.isValid();
}

} // namespace

/// The values of one feature of Examples, in one list, and their number in each Example. Where
/// `size` is not negative each has so many values, those of input 1 where it lacks the feature.
ATC_KERNEL(ExampleFeature) {
  const Tensor data = in(0), other = in(1);
  const uint8_t type = uint8_t(integer("to", F32));
  const int64_t size = integer("size", -1), count = data.count();
  const String name = text("key", "");
  const Feature::Kind wanted = type == Str   ? Feature::Texts
                               : type == F32 ? Feature::Floats
                               : type == I64 ? Feature::Integers
                                             : Feature::Missing;
  if (wanted == Feature::Missing)
    return failType(type);
  if (!data.known() || (size >= 0 && other && !other.known()))
    return;
  if (size >= 0 && other && other.dtype() != type)
    return failType(other.dtype());
  const int64_t others = size >= 0 && other ? other.count() : 0;
  if (others && others != size)
    return fail("the feature has % values, and % where it is missing", size, others);
  int64_t *counts = scratch<int64_t>(maximum(count, int64_t(1)));
  if (!counts)
    return;
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Feature feature = findFeature(data.as<String>()[i], name);
    counts[i] = 0;
    const bool isList = feature.kind == Feature::Missing || feature.kind != wanted ||
                        forEachValue(feature, [&](String) { ++counts[i]; });
    if (!feature.valid || !isList)
      return fail("text % is no Example", i);
    if (feature.kind != Feature::Missing && feature.kind != wanted)
      return fail("the feature of Example % holds values of another type", i);
    if (feature.kind == Feature::Missing && size > 0 && !others)
      return fail("Example % lacks the feature, which has no default", i);
    if (feature.kind == Feature::Missing && size >= 0)
      counts[i] = size;
    if (size >= 0 && counts[i] != size)
      return fail("the feature of Example % has % values, expected %", i, counts[i], size);
    total += counts[i];
  }
  // Elements are written only where all outputs have memory: where shapes are inferred none has.
  char *out = wants(0) ? make(0, type, Dims(total)) : nullptr;
  if (wants(0) && !out)
    return;
  int64_t *sizes = wants(1) ? make<int64_t>(1, I64, Dims(count)) : nullptr;
  if (wants(1) && !sizes)
    return;
  if (sizes)
    copyBytes(sizes, counts, count * int64_t(sizeof(int64_t)));
  if (!out)
    return;
  const int64_t width = type == Str ? int64_t(sizeof(String)) : bitsOf(type) / 8;
  bool hasMemory = true;
  auto put = [&](String value) {
    if (!hasMemory)
      return;
    if (type != Str) {
      copyBytes(out, value.data, width);
    } else {
      char *to = value.size ? makeText(int64_t(value.size)) : nullptr;
      hasMemory = to || !value.size;
      if (to)
        copyBytes(to, value.data, int64_t(value.size));
      *reinterpret_cast<String *>(out) = {to, to ? value.size : 0};
    }
    out += width;
  };
  for (int64_t i = 0; i < count; ++i) {
    const Feature feature = findFeature(data.as<String>()[i], name);
    if (feature.kind != Feature::Missing)
      forEachValue(feature, put);
    else
      for (int64_t k = 0; k < counts[i]; ++k)
        put(type == Str ? other.as<String>()[k]
                        : String{other.as<char>() + k * width, uint64_t(width)});
  }
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

/// The samples [samples, channels] of a recording of 16 bits, from -1 to 1, and their number per
/// second. Missing samples are 0, missing channels like the last one.
ATC_KERNEL(WavDecoder) {
  const Tensor data = in(0);
  if (!data.known())
    return;
  const String file = data.as<String>()[0];
  auto number = [&](uint64_t at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= uint64_t(uint8_t(file.data[at + uint64_t(i)])) << 8 * i;
    return value;
  };
  auto isNamed = [&](uint64_t at, const char *name) {
    return __builtin_memcmp(file.data + at, name, 4) == 0;
  };
  constexpr uint64_t header = 12, chunkHeader = 8;
  if (file.size < header || !isNamed(0, "RIFF") || !isNamed(8, "WAVE"))
    return fail("the text is no recording in the format WAV");
  uint64_t channels = 0, rate = 0, samples = 0, first = 0;
  for (uint64_t at = header; !first && file.size - at >= chunkHeader;) {
    const uint64_t bytes = number(at + 4, 4), begin = at + chunkHeader;
    if (bytes > file.size - begin)
      return fail("a part of the recording has % bytes of %", file.size - begin, bytes);
    if (isNamed(at, "fmt ")) {
      if (bytes < 16 || number(begin, 2) != 1 || number(begin + 14, 2) != 16)
        return fail("the recording has no samples of 16 bits");
      channels = number(begin + 2, 2);
      rate = number(begin + 4, 4);
    } else if (isNamed(at, "data")) {
      if (!channels)
        return fail("the recording does not state its channels");
      first = begin;
      samples = bytes / (2 * channels);
    }
    at = begin + minimum(bytes + bytes % 2, file.size - begin);
  }
  if (!first)
    return fail("the recording has no samples");
  const int64_t wantedChannels = integer("channels", -1), wantedSamples = integer("samples", -1);
  const int64_t rows = wantedSamples < 0 ? int64_t(samples) : wantedSamples;
  const int64_t columns = wantedChannels < 0 ? int64_t(channels) : wantedChannels;
  float *out = wants(0) ? make<float>(0, F32, Dims(rows, columns)) : nullptr;
  if (wants(0) && !out)
    return;
  int32_t *perSecond = wants(1) ? make<int32_t>(1, I32, Dims()) : nullptr;
  if (wants(1) && !perSecond)
    return;
  if (perSecond)
    *perSecond = int32_t(rate);
  if (!out)
    return;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const uint64_t from = minimum(uint64_t(column), channels - 1);
      *out++ =
          uint64_t(row) < samples
              ? float(int16_t(number(first + 2 * (uint64_t(row) * channels + from), 2))) / 32768
              : 0;
    }
}

} // namespace atc::kernels
