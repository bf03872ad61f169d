//===-- Features.cpp - features into the form that models take ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/HashIndex.h"
#include "kernels/ml/Scores.h"

namespace atc::kernels {

ATC_KERNEL(ArrayFeatureExtractor) {
  const Tensor data = in(0), indices = in(1);
  const int64_t wanted = indices.count(), rank = data.rank();
  if (rank < 1)
    return fail("the input has no dims");
  const int64_t width = data.dim(rank - 1), rows = data.dims().product(0, uint32_t(rank - 1));
  Dims shape = data.dims();
  shape[rank - 1] = wanted;
  if (rank == 1)
    shape = Dims(int64_t(1), wanted);
  char *out = make(0, data.dtype(), shape);
  if (!out)
    return;
  const int64_t *at = indices.as<int64_t>();
  for (int64_t i = 0; i < wanted; ++i)
    if (at[i] < 0 || at[i] >= width)
      return fail("index % is % of % features", i, at[i], width);
  if (!dispatchSizes(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t i = 0; i < wanted; ++i)
            reinterpret_cast<T *>(out)[row * wanted + i] = data.as<T>()[row * width + at[i]];
      }))
    failType(data.dtype());
}

ATC_KERNEL(Binarizer) {
  const Tensor data = in(0);
  const double threshold = number("threshold", 0);
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        const int64_t count = data.count();
        for (int64_t i = 0; i < count; ++i)
          reinterpret_cast<T *>(out)[i] = T(double(data.as<T>()[i]) > threshold);
      }))
    failType(data.dtype());
}

ATC_KERNEL(FeatureVectorizer) {
  const List<int64_t> sizes = integers("inputdimensions");
  int64_t rows = -1, width = 0;
  for (uint32_t i = 0; i < inputs(); ++i) {
    const Rows part(in(i));
    if (!part.valid(*this))
      return;
    if (rows >= 0 && part.count != rows)
      return fail("input % has % rows, those before %", i, part.count, rows);
    rows = part.count;
    const int64_t size = sizes.given && i < sizes.size ? sizes[i] : part.width;
    if (size < 0 || __builtin_add_overflow(width, size, &width))
      return fail("input % is to have % features", i, size);
  }
  float *out = make<float>(0, F32, Dims(maximum(rows, int64_t(0)), width));
  if (!out)
    return;
  int64_t column = 0;
  for (uint32_t i = 0; i < inputs(); ++i) {
    const Rows part(in(i));
    const int64_t size = sizes.given && i < sizes.size ? sizes[i] : part.width;
    // Missing features are 0; surplus ones are ignored.
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t f = 0; f < size; ++f)
        out[row * width + column + f] = f < part.width ? float(part.at(row, f)) : 0;
    column += size;
  }
}

ATC_KERNEL(Imputer) {
  const Tensor data = in(0);
  const bool real = data.dtype() == F32 || data.dtype() == F64;
  const List<double> reals = numbers("imputed_value_floats");
  const List<int64_t> whole = integers("imputed_value_int64s");
  const double replaced = number("replaced_value_float", 0);
  const int64_t replacedWhole = integer("replaced_value_int64", 0);
  const int64_t values = real ? reals.size : whole.size;
  const int64_t width = data.rank() ? data.dim(data.rank() - 1) : 1;
  if (values != 1 && values != width)
    return fail("% values to put in for % features", values, width);
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        const T *from = data.as<T>();
        T *to = reinterpret_cast<T *>(out);
        const int64_t count = data.count(), step = values == 1 ? 0 : 1;
        auto impute = [&](auto isMissing, auto *with) {
          for (int64_t first = 0; first < count; first += width)
            for (int64_t i = 0; i < width; ++i)
              to[first + i] = isMissing(from[first + i]) ? T(with[i * step]) : from[first + i];
        };
        if constexpr (!kIsFloat<T>)
          impute([=](T value) { return int64_t(value) == replacedWhole; }, whole.data);
        else if (isNan(replaced))
          impute([](T value) { return isNan(double(value)); }, reals.data);
        else
          impute([=](T value) { return double(value) == replaced; }, reals.data);
      }))
    failType(data.dtype());
}

ATC_KERNEL(Normalizer) {
  const Rows rows(in(0));
  const String norm = text("norm", "MAX");
  const bool max = equal(norm, "MAX"), l1 = equal(norm, "L1");
  if (!max && !l1 && !equal(norm, "L2"))
    return fail("norm is none of MAX, L1, L2");
  if (!rows.valid(*this))
    return;
  float *out = make<float>(0, F32, rows.data.dims());
  if (!out)
    return;
  const double *data = rows.asDoubles(*this);
  for (int64_t row = 0; data && row < rows.count; ++row) {
    const double *values = data + row * rows.width;
    double divisor = max ? -__builtin_inf() : 0;
    if (!max && !l1)
      divisor = math::sqrt(sumOfProducts(values, values, rows.width));
    else
      for (int64_t i = 0; i < rows.width; ++i)
        divisor = max ? maximum(divisor, values[i]) : divisor + math::abs(values[i]);
    divisor = divisor == 0 ? 1 : divisor;
    for (int64_t i = 0; i < rows.width; ++i)
      out[row * rows.width + i] = float(values[i] / divisor);
  }
}

ATC_KERNEL(OneHotEncoder) {
  const Tensor data = in(0);
  const List<int64_t> whole = integers("cats_int64s");
  const List<String> words = strings("cats_strings");
  const bool texts = data.dtype() == Str;
  const int64_t categories = texts ? words.size : whole.size;
  if (categories == 0 || (whole.size && words.size))
    return fail(texts ? "the input has texts: expected attribute cats_strings alone"
                      : "the input has numbers: expected attribute cats_int64s alone");
  Dims shape = data.dims();
  if (!shape.push(categories))
    return fail("the input has rank %, which leaves no room for another dim", data.rank());
  float *out = make<float>(0, F32, shape);
  if (!out)
    return;
  HashIndex index;
  if (!index.reserve(*this, categories))
    return;
  for (int64_t i = 0; i < categories; ++i)
    if (texts)
      index.set(hashOf(words[i]), i, [&](int64_t at) { return equal(words[at], words[i]); });
    else
      index.set(hashOf(uint64_t(whole[i])), i, [&](int64_t at) { return whole[at] == whole[i]; });
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t found;
    if (texts) {
      const String word = data.as<String>()[i];
      found = index.find(hashOf(word), [&](int64_t at) { return equal(words[at], word); });
    } else {
      const int64_t value = integerAt(data, i);
      found = index.find(hashOf(uint64_t(value)), [&](int64_t at) { return whole[at] == value; });
    }
    if (found < 0 && !integer("zeros", 1))
      return fail("element % is no category", i);
    for (int64_t c = 0; c < categories; ++c)
      out[i * categories + c] = c == found;
  }
}

ATC_KERNEL(Scaler) {
  const Tensor data = in(0);
  const List<double> scale = numbers("scale"), offset = numbers("offset");
  const int64_t width = data.rank() ? data.dim(data.rank() - 1) : 1;
  if ((scale.size > 1 && scale.size != width) || (offset.size > 1 && offset.size != width))
    return fail("% scales and % offsets for % features", scale.size, offset.size, width);
  float *out = make<float>(0, F32, data.dims());
  // Without rows there may be any number of features.
  if (!out || data.count() == 0)
    return;
  double *shifts = scratch<double>(2 * width);
  if (!shifts)
    return;
  double *factors = shifts + width;
  for (int64_t i = 0; i < width; ++i) {
    shifts[i] = offset.size ? offset[offset.size == 1 ? 0 : i] : 0;
    factors[i] = scale.size ? scale[scale.size == 1 ? 0 : i] : 1;
  }
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        const auto *from = data.as<typename decltype(type)::Type>();
        for (int64_t first = 0, count = data.count(); first < count; first += width)
          for (int64_t i = 0; i < width; ++i)
            out[first + i] = float((double(from[first + i]) - shifts[i]) * factors[i]);
      }))
    failType(data.dtype());
}

} // namespace atc::kernels
