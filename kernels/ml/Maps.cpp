//===-- Maps.cpp - maps, and lookups of elements --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/HashIndex.h"
#include "kernels/core/Math.h"
#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

/// A list of keys or values: integers, floats, strings or the elements of a tensor.
struct Entries {
  List<int64_t> whole = {};
  List<double> reals = {};
  List<String> texts = {};
  Tensor tensor;
  int64_t size = 0;
  uint8_t dtype = Undefined;

  static Entries of(List<int64_t> list) {
    Entries e;
    e.whole = list, e.size = list.size, e.dtype = I64;
    return e;
  }
  static Entries of(List<String> list) {
    Entries e;
    e.texts = list, e.size = list.size, e.dtype = Str;
    return e;
  }
  static Entries of(List<double> list) {
    Entries e;
    e.reals = list, e.size = list.size, e.dtype = F32;
    return e;
  }
  static Entries of(Tensor elements) {
    Entries e;
    e.tensor = elements, e.size = elements.count(), e.dtype = elements.dtype();
    return e;
  }
  explicit operator bool() const { return dtype != Undefined; }

  bool isReal() const { return dtype == F32 || dtype == F64 || dtype == F16 || dtype == BF16; }
  String textAt(int64_t i) const { return tensor ? tensor.as<String>()[i] : texts[i]; }
  double realAt(int64_t i) const { return tensor ? numberAt(tensor, i) : reals[i]; }
  int64_t wholeAt(int64_t i) const { return tensor ? integerAt(tensor, i) : whole[i]; }

  uint64_t hashAt(int64_t i) const {
    if (dtype == Str)
      return hashOf(textAt(i));
    if (!isReal())
      return hashOf(uint64_t(wholeAt(i)));
    const double value = realAt(i) + 0.0; // -0 is 0
    return isNan(value) ? 0 : hashOf(__builtin_bit_cast(uint64_t, value));
  }
  /// Element i equals element j of `other`; NaN equals NaN.
  bool sameAt(int64_t i, const Entries &other, int64_t j) const {
    if (dtype == Str)
      return equal(textAt(i), other.textAt(j));
    if (!isReal())
      return wholeAt(i) == other.wholeAt(j);
    const double a = realAt(i), b = other.realAt(j);
    return a == b || (isNan(a) && isNan(b));
  }
  /// Writes element i into element `to` of memory of this type.
  void copyTo(void *memory, int64_t to, int64_t i) const {
    if (dtype == Str)
      static_cast<String *>(memory)[to] = textAt(i);
    else if (tensor)
      copyBytes(static_cast<char *>(memory) + bytesOf(dtype, to),
                tensor.bytes() + bytesOf(dtype, i), bytesOf(dtype, 1));
    else if (dtype == F32)
      static_cast<float *>(memory)[to] = float(reals[i]);
    else
      static_cast<int64_t *>(memory)[to] = whole[i];
  }
};

/// keys_* or values_* of LabelEncoder.
Entries entriesOf(Context &c, const char *tensor, const char *texts, const char *whole,
                  const char *reals) {
  if (c.tensor(tensor))
    return Entries::of(c.tensor(tensor));
  if (c.strings(texts).size)
    return Entries::of(c.strings(texts));
  if (c.integers(whole).size)
    return Entries::of(c.integers(whole));
  if (c.numbers(reals).size)
    return Entries::of(c.numbers(reals));
  return {};
}

/// Returns whether keys of two types can be compared: all floats are, and so are all integers.
bool comparable(uint8_t a, uint8_t b) {
  auto kindOf = [](uint8_t dtype) {
    return dtype == Str ? 0 : dtype == F32 || dtype == F64 || dtype == F16 || dtype == BF16 ? 1 : 2;
  };
  return kindOf(a) == kindOf(b);
}

/// Returns whether elements of a type can be copied one by one: several of the small ones share a
/// byte.
bool hasBytes(uint8_t dtype) { return bitsOf(dtype) >= 8; }

/// Sets result[i] = values[k] where keys[k] equals data[i], else to the only element of `fallback`.
/// The last of equal keys counts.
void translate(Context &c, Tensor data, const Entries &keys, const Entries &values,
               const Entries &fallback) {
  if (!comparable(data.dtype(), keys.dtype))
    return c.fail("the input's element type is %, that of the keys %", data.dtype(), keys.dtype);
  if (keys.size != values.size)
    return c.fail("% keys for % values", keys.size, values.size);
  if (!hasBytes(values.dtype))
    return c.failType(values.dtype);
  char *out = c.make(0, values.dtype, data.dims());
  HashIndex index;
  if (!out || !index.reserve(c, keys.size))
    return;
  for (int64_t i = 0; i < keys.size; ++i)
    index.set(keys.hashAt(i), i, [&](int64_t at) { return keys.sameAt(at, keys, i); });
  const Entries wanted = Entries::of(data);
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t found =
        index.find(wanted.hashAt(i), [&](int64_t at) { return keys.sameAt(at, wanted, i); });
    if (found >= 0)
      values.copyTo(out, i, found);
    else
      fallback.copyTo(out, i, 0);
  }
}

} // namespace

ATC_KERNEL(LabelEncoder) {
  const Entries keys =
      entriesOf(*this, "keys_tensor", "keys_strings", "keys_int64s", "keys_floats");
  const Entries values =
      entriesOf(*this, "values_tensor", "values_strings", "values_int64s", "values_floats");
  const List<String> classes = strings("classes_strings");
  const int64_t whole = integer("default_int64", -1);
  const double real = number("default_float", -0.0);
  const String word = text("default_string", "_Unused");
  const Entries wholes = Entries::of(List<int64_t>{&whole, 1, true}),
                words = Entries::of(List<String>{&word, 1, true});
  if (classes.size) { // the first version: classes and their positions
    int64_t *positions = scratch<int64_t>(classes.size);
    if (!positions)
      return;
    for (int64_t i = 0; i < classes.size; ++i)
      positions[i] = i;
    const Entries numbers = Entries::of(List<int64_t>{positions, classes.size, true});
    if (in(0).dtype() == Str)
      return translate(*this, in(0), Entries::of(classes), numbers, wholes);
    return translate(*this, in(0), numbers, Entries::of(classes), words);
  }
  if (!keys || !values)
    return fail("has no keys or no values");
  if (tensor("default_tensor") && tensor("default_tensor").count() == 1 &&
      tensor("default_tensor").dtype() == values.dtype)
    return translate(*this, in(0), keys, values, Entries::of(tensor("default_tensor")));
  if (values.dtype == Str)
    return translate(*this, in(0), keys, values, words);
  // The default in the type of the values.
  double room = 0;
  if (!dispatchNumbers(values.dtype, [&](auto type) {
        using T = typename decltype(type)::Type;
        const T value = kIsFloat<T> ? T(Compute<T>(real)) : T(whole);
        __builtin_memcpy(&room, &value, sizeof value);
      }))
    return failType(values.dtype);
  Value element = {};
  element.kind = Kind::Tensor;
  element.dtype = values.dtype;
  element.data = &room;
  translate(*this, in(0), keys, values, Entries::of(Tensor(&element)));
}

ATC_KERNEL(CategoryMapper) {
  const List<int64_t> whole = integers("cats_int64s");
  const List<String> texts = strings("cats_strings");
  const int64_t number = integer("default_int64", -1);
  const String word = text("default_string", "_Unused");
  if (in(0).dtype() == Str)
    translate(*this, in(0), Entries::of(texts), Entries::of(whole),
              Entries::of(List<int64_t>{&number, 1, true}));
  else
    translate(*this, in(0), Entries::of(whole), Entries::of(texts),
              Entries::of(List<String>{&word, 1, true}));
}

ATC_KERNEL(DictVectorizer) {
  const List<int64_t> whole = integers("int64_vocabulary");
  const List<String> texts = strings("string_vocabulary");
  const Entries vocabulary = texts.size ? Entries::of(texts) : Entries::of(whole);
  if (in(0).kind() != Kind::Map || !in(0).known())
    return fail("the input is no map");
  const Tensor keys = in(0).item(0), values = in(0).item(1);
  if (!hasBytes(values.dtype()))
    return failType(values.dtype());
  char *out = make(0, values.dtype(), Dims(int64_t(1), vocabulary.size));
  HashIndex index;
  if (!out || !index.reserve(*this, vocabulary.size))
    return;
  if (!comparable(keys.dtype(), vocabulary.dtype))
    return fail("the keys' element type is %, that of the vocabulary %", keys.dtype(),
                vocabulary.dtype);
  for (int64_t i = 0; i < vocabulary.size; ++i)
    index.set(vocabulary.hashAt(i), i,
              [&](int64_t at) { return vocabulary.sameAt(at, vocabulary, i); });
  __builtin_memset(out, 0, uint64_t(bytesOf(values.dtype(), vocabulary.size)));
  const Entries wanted = Entries::of(keys), from = Entries::of(values);
  for (int64_t i = 0; i < keys.count(); ++i) {
    const int64_t found =
        index.find(wanted.hashAt(i), [&](int64_t at) { return vocabulary.sameAt(at, wanted, i); });
    if (found >= 0)
      from.copyTo(out, found, i);
  }
}

ATC_KERNEL(CastMap) {
  const String form = text("cast_to", "TO_FLOAT");
  const uint8_t dtype = equal(form, "TO_FLOAT")    ? F32
                        : equal(form, "TO_STRING") ? Str
                        : equal(form, "TO_INT64")  ? I64
                                                   : Undefined;
  const bool sparse = is("map_form", "DENSE", "SPARSE");
  const int64_t max = integer("max_map", 1);
  if (dtype == Undefined)
    return fail("cast_to is none of TO_FLOAT, TO_STRING, TO_INT64");
  if (in(0).kind() != Kind::Map || !in(0).known())
    return fail("the input is no map");
  const Tensor keys = in(0).item(0), values = in(0).item(1);
  const int64_t count = keys.count();
  void *out = makeBytes(0, dtype, Dims(int64_t(1), sparse ? max : count));
  int64_t *order = out ? scratch<int64_t>(count + 1) : nullptr;
  if (!order)
    return;
  // Ascending keys, by insertion: what comes from another map is sorted already.
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i;
    for (; at > 0 && integerAt(keys, order[at - 1]) > integerAt(keys, i); --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
  auto put = [&](int64_t to, int64_t from) {
    char digits[kNumberText];
    double real = from >= 0 && values.dtype() != Str ? numberAt(values, from) : 0;
    if (from >= 0 && values.dtype() == Str && dtype != Str &&
        !parseNumber(values.as<String>()[from], real)) {
      fail("value % is no number", from);
      return false;
    }
    if (dtype == F32) {
      static_cast<float *>(out)[to] = float(real);
    } else if (dtype == I64) {
      static_cast<int64_t *>(out)[to] = toInteger(real);
    } else if (from < 0 || values.dtype() == Str) {
      static_cast<String *>(out)[to] = from < 0 ? String{} : values.as<String>()[from];
    } else {
      const int64_t size = printNumber(digits, float(real));
      char *characters = makeText(size);
      if (!characters)
        return false;
      copyBytes(characters, digits, size);
      static_cast<String *>(out)[to] = {characters, uint64_t(size)};
    }
    return true;
  };
  if (!sparse) {
    for (int64_t i = 0; i < count; ++i)
      if (!put(i, order[i]))
        return;
    return;
  }
  for (int64_t i = 0; i < max; ++i)
    put(i, -1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key = integerAt(keys, order[i]);
    if (key < 0 || key >= max)
      return fail("key % is outside of [0, %)", key, max);
    if (!put(key, order[i]))
      return;
  }
}

ATC_KERNEL(ZipMap) {
  const Tensor data = in(0);
  const List<int64_t> whole = integers("classlabels_int64s");
  const List<String> texts = strings("classlabels_strings");
  const int64_t classes = texts.size ? texts.size : whole.size;
  const int64_t rows = data.rank() == 2 ? data.dim(0) : 1;
  if (data.rank() < 1 || data.rank() > 2 || data.dim(data.rank() - 1) != classes)
    return fail("% labels for an input of rank %", classes, data.rank());
  if (!data.known())
    return;
  const Value **items = scratch<const Value *>(rows + 1);
  const Value *keys = makeItem(texts.size ? Str : I64, Dims(classes));
  if (!items || !keys)
    return;
  if (keys->data && classes)
    copyBytes(keys->data, texts.size ? static_cast<const void *>(texts.data) : whole.data,
              bytesOf(keys->dtype, classes));
  for (int64_t row = 0; row < rows; ++row) {
    const Value *values = makeItem(data.dtype(), Dims(classes));
    if (!values)
      return;
    copyBytes(values->data, data.bytes() + bytesOf(data.dtype(), row * classes),
              bytesOf(data.dtype(), classes));
    items[row] = makeMapItem(keys, values);
    if (!items[row])
      return;
  }
  makeSequence(0, data.dtype(), rows, items);
}

} // namespace atc::kernels
