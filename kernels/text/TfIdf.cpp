//===-- TfIdf.cpp - counts n-grams ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/HashIndex.h"

namespace atc::kernels {

namespace {
bool same(String a, String b) { return equal(a, b); }
bool same(int64_t a, int64_t b) { return a == b; }
uint64_t hashItem(String text) { return hashOf(text); }
uint64_t hashItem(int64_t number) { return hashOf(uint64_t(number)); }

/// The n-grams of the attributes. T is String or int64_t.
template <typename T> struct Pool {
  const T *items;
  int64_t *starts; ///< where the items of n-gram i begin
  int64_t *lengths;
  HashIndex index;

  template <typename At> static uint64_t hashGram(int64_t length, At &&at) {
    uint64_t hash = hashOf(uint64_t(length));
    for (int64_t i = 0; i < length; ++i)
      hash = mixHash(hash, hashItem(at(i)));
    return hash;
  }
  template <typename At> auto isGram(int64_t length, At &at) const {
    return [this, length, &at](int64_t gram) {
      if (lengths[gram] != length)
        return false;
      for (int64_t i = 0; i < length; ++i)
        if (!same(items[starts[gram] + i], at(i)))
          return false;
      return true;
    };
  }
  /// Splits `size` items into n-grams: those of length 1 from starts[0], of length 2
  /// from starts[1], ... Returns how many there are, or -1 after a failure.
  int64_t build(Context &c, List<T> pool, List<int64_t> groups) {
    items = pool.data;
    starts = c.scratch<int64_t>(pool.size + 1);
    lengths = c.scratch<int64_t>(pool.size + 1);
    if (!starts || !lengths || !index.reserve(c, pool.size))
      return -1;
    int64_t count = 0;
    for (int64_t g = 0; g < groups.size; ++g) {
      const int64_t begin = groups[g], end = g + 1 < groups.size ? groups[g + 1] : pool.size;
      if (begin < 0 || begin > end || end > pool.size || (end - begin) % (g + 1)) {
        c.fail("the %-grams are items % to % of % in the pool", g + 1, begin, end, pool.size);
        return -1;
      }
      for (int64_t at = begin; at < end; at += g + 1, ++count) {
        starts[count] = at;
        lengths[count] = g + 1;
        auto item = [&](int64_t i) { return items[at + i]; };
        index.set(hashGram(g + 1, item), count, isGram(g + 1, item));
      }
    }
    return count;
  }
  template <typename At> int64_t find(int64_t length, At &&at) const {
    return index.find(hashGram(length, at), isGram(length, at));
  }
};
} // namespace

ATC_KERNEL(TfIdfVectorizer) {
  const Tensor data = in(0);
  const List<int64_t> columns = integers("ngram_indexes"), groups = integers("ngram_counts");
  const List<double> weights = numbers("weights");
  const int64_t shortest = integer("min_gram_length", 1), longest = integer("max_gram_length", 1);
  const int64_t skips = integer("max_skip_count", 0);
  const bool once = is("mode", "TF", "IDF"), weighted = once || is("mode", "TF", "TFIDF");
  if (!weighted && !is("mode", "TF", "TF"))
    return fail("mode is none of TF, IDF, TFIDF");
  if (shortest < 1 || longest < shortest || skips < 0)
    return fail("n-grams of % to % items with up to % skipped", shortest, longest, skips);
  if (data.rank() < 1 || data.rank() > 2)
    return fail("the input has rank %; 1 and 2 are allowed", data.rank());
  int64_t width = 0;
  for (int64_t i = 0; i < columns.size; ++i) {
    if (columns[i] < 0 || columns[i] > int64_t(1) << 40)
      return fail("ngram_indexes has %", columns[i]);
    width = maximum(width, columns[i] + 1);
  }
  if (weighted && weights.given && weights.size < width)
    return fail("there are % weights for % columns", weights.size, width);
  const int64_t rows = data.rank() == 2 ? data.dim(0) : 1, length = data.dim(data.rank() - 1);
  float *out = make<float>(0, F32, data.rank() == 2 ? Dims(rows, width) : Dims(width));
  if (!out)
    return;
  auto count = [&](auto pool, auto list, auto itemAt) {
    const int64_t grams = pool.build(*this, list, groups);
    if (grams < 0)
      return;
    if (grams > columns.size)
      return fail("the pool has % n-grams, ngram_indexes % entries", grams, columns.size);
    // Only lengths of which the pool has n-grams are looked for: the attributes may allow any.
    const int64_t last = minimum(longest, minimum(groups.size, length));
    auto isInPool = [&](int64_t n) {
      return groups[n - 1] < (n < groups.size ? groups[n] : list.size);
    };
    parallel(rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float *to = out + row * width;
        for (int64_t i = 0; i < width; ++i)
          to[i] = 0;
        for (int64_t n = shortest; n <= last; ++n) {
          if (!isInPool(n))
            continue;
          // Single items have nothing between them that could be skipped.
          for (int64_t step = 1; step <= (n == 1 ? 1 : skips + 1); ++step) {
            if (n > 1 && step > (length - 1) / (n - 1))
              break;
            for (int64_t at = row * length; at + (n - 1) * step < (row + 1) * length; ++at) {
              const int64_t gram = pool.find(n, [&](int64_t i) { return itemAt(at + i * step); });
              if (gram >= 0)
                to[columns[gram]] += 1;
            }
          }
        }
        for (int64_t i = 0; weighted && i < width; ++i) {
          const float weight = weights.given ? float(weights[i]) : 1;
          to[i] = once ? (to[i] > 0 ? weight : 0) : to[i] * weight;
        }
      }
    });
  };
  if (data.dtype() == Str)
    count(Pool<String>(), strings("pool_strings"), [&](int64_t i) { return data.as<String>()[i]; });
  else
    count(Pool<int64_t>(), integers("pool_int64s"), [&](int64_t i) { return integerAt(data, i); });
}

} // namespace atc::kernels
