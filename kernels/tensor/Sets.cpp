//===-- Sets.cpp - sets and lists of elements, one per row ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow on ragged rows: each element comes with the number of its row.

#include "kernels/core/Numbers.h"
#include "kernels/core/Sort.h"

namespace atc::kernels {

namespace {

bool isBefore(String a, String b) {
  const int order = __builtin_memcmp(a.data, b.data, minimum(a.size, b.size));
  return order ? order < 0 : a.size < b.size;
}
bool isBefore(int64_t a, int64_t b) { return a < b; }
bool isSame(String a, String b) { return equal(a, b); }
bool isSame(int64_t a, int64_t b) { return a == b; }

/// The elements of a tensor and their rows.
template <typename T> struct Rows {
  const int64_t *rows;
  const T *values;
  int64_t count;
};

/// Sorts the elements by row and value into `order`, with room for twice as many, and leaves out
/// those that repeat. Returns how many there are.
template <typename T> int64_t sortSet(const Rows<T> &of, int64_t *order) {
  for (int64_t i = 0; i < of.count; ++i)
    order[i] = i;
  sortIndices(order, order + of.count, of.count, [&](int64_t a, int64_t b) {
    return of.rows[a] != of.rows[b] ? of.rows[a] < of.rows[b]
                                    : isBefore(of.values[a], of.values[b]);
  });
  int64_t kept = 0;
  for (int64_t i = 0; i < of.count; ++i)
    if (kept == 0 || of.rows[order[i]] != of.rows[order[kept - 1]] ||
        !isSame(of.values[order[i]], of.values[order[kept - 1]]))
      order[kept++] = order[i];
  return kept;
}

/// Combines two sets per row.
template <typename T> void combine(Context &c, const Rows<T> &a, const Rows<T> &b) {
  const String operation = c.text("operation", "union");
  const bool isUnion = equal(operation, "union"), isShared = equal(operation, "intersection"),
             isFirst = equal(operation, "a-b"), isSecond = equal(operation, "b-a");
  if (!isUnion && !isShared && !isFirst && !isSecond)
    return c.fail("the operation is none of union, intersection, a-b and b-a");
  int64_t *orderA = c.scratch<int64_t>(2 * a.count + 1),
          *orderB = c.scratch<int64_t>(2 * b.count + 1);
  int64_t *rows = c.scratch<int64_t>(a.count + b.count + 1);
  T *values = c.scratch<T>(a.count + b.count + 1);
  if (!orderA || !orderB || !rows || !values)
    return;
  const int64_t countA = sortSet(a, orderA), countB = sortSet(b, orderB);
  int64_t total = 0;
  for (int64_t i = 0, j = 0; i < countA || j < countB;) {
    // -1: the next element is only in a; 1: only in b; 0: in both.
    int side = i == countA ? 1 : j == countB ? -1 : 0;
    if (side == 0) {
      const int64_t rowA = a.rows[orderA[i]], rowB = b.rows[orderB[j]];
      const T &valueA = a.values[orderA[i]], &valueB = b.values[orderB[j]];
      side = rowA != rowB               ? (rowA < rowB ? -1 : 1)
             : isBefore(valueA, valueB) ? -1
             : isBefore(valueB, valueA) ? 1
                                        : 0;
    }
    if (isUnion || (isShared && side == 0) || (isFirst && side < 0) || (isSecond && side > 0)) {
      rows[total] = side > 0 ? b.rows[orderB[j]] : a.rows[orderA[i]];
      values[total++] = side > 0 ? b.values[orderB[j]] : a.values[orderA[i]];
    }
    i += side <= 0;
    j += side >= 0;
  }
  int64_t *outRows = c.make<int64_t>(0, I64, Dims(total));
  T *outValues = c.make<T>(1, c.in(1).dtype(), Dims(total));
  if (!outRows || !outValues)
    return;
  copyBytes(outRows, rows, total * int64_t(sizeof(int64_t)));
  for (int64_t i = 0; i < total; ++i)
    outValues[i] = values[i];
}

/// Returns whether `rows` rise and are in [0, groups); otherwise the call fails.
bool areRows(Context &c, const int64_t *rows, int64_t count, int64_t groups) {
  for (int64_t i = 0; i < count; ++i)
    if (rows[i] < (i ? rows[i - 1] : 0) || rows[i] >= groups) {
      c.fail("element % has row %, which is out of order or none of % rows", i, rows[i], groups);
      return false;
    }
  return true;
}

/// Writes how many insertions, deletions and replacements make the elements of a row of `a` those
/// of `b`, for each row.
template <typename T> void measure(Context &c, const Rows<T> &a, const Rows<T> &b) {
  const bool isRelative = c.integer("normalize", 1) != 0;
  const int64_t groups = integerAt(c.in(4), 0);
  if (groups < 0)
    return c.fail("there are % rows, expected at least 0", groups);
  float *out = c.make<float>(0, F32, Dims(groups));
  int64_t *costs = c.scratch<int64_t>(b.count + 1);
  if (!out || !costs)
    return;
  if (!areRows(c, a.rows, a.count, groups) || !areRows(c, b.rows, b.count, groups))
    return;
  int64_t beginA = 0, beginB = 0;
  for (int64_t row = 0; row < groups; ++row) {
    int64_t endA = beginA, endB = beginB;
    while (endA < a.count && a.rows[endA] == row)
      ++endA;
    while (endB < b.count && b.rows[endB] == row)
      ++endB;
    const int64_t lengthA = endA - beginA, lengthB = endB - beginB;
    for (int64_t j = 0; j <= lengthB; ++j)
      costs[j] = j;
    for (int64_t i = 0; i < lengthA; ++i) {
      int64_t diagonal = costs[0];
      costs[0] = i + 1;
      for (int64_t j = 0; j < lengthB; ++j) {
        const int64_t above = costs[j + 1];
        const bool differ = !isSame(a.values[beginA + i], b.values[beginB + j]);
        costs[j + 1] = minimum(minimum(above, costs[j]) + 1, diagonal + differ);
        diagonal = above;
      }
    }
    const auto distance = float(costs[lengthB]);
    out[row] = !isRelative   ? distance
               : lengthB > 0 ? distance / float(lengthB)
               : lengthA > 0 ? __builtin_inff()
                             : 0.0f;
    beginA = endA;
    beginB = endB;
  }
}

/// Calls use(c, a, b) with the rows and values of inputs 0 to 3.
template <typename Use> void withRows(Context &c, Use use) {
  const Tensor rowsA = c.in(0), a = c.in(1), rowsB = c.in(2), b = c.in(3);
  for (uint32_t i = 0; i < c.inputs(); ++i)
    if (!c.in(i).known())
      return;
  if (rowsA.count() != a.count() || rowsB.count() != b.count() || a.dtype() != b.dtype())
    return c.fail("% and % rows do not fit % and % elements of one type", rowsA.count(),
                  rowsB.count(), a.count(), b.count());
  if (a.dtype() == Str)
    return use(Rows<String>{rowsA.as<int64_t>(), a.as<String>(), a.count()},
               Rows<String>{rowsB.as<int64_t>(), b.as<String>(), b.count()});
  use(Rows<int64_t>{rowsA.as<int64_t>(), a.as<int64_t>(), a.count()},
      Rows<int64_t>{rowsB.as<int64_t>(), b.as<int64_t>(), b.count()});
}

} // namespace

/// The union, intersection or difference of two sets per row. Inputs: the rows of elements and the
/// elements, of both. Outputs: rows and elements of the result, both rising.
ATC_KERNEL(SetOperation) {
  withRows(*this, [&](const auto &a, const auto &b) { combine(*this, a, b); });
}

/// The edit distance of two lists per row, with `normalize` as a part of the length of the second
/// one. Inputs: rows, which rise, and elements of both; the number of rows.
ATC_KERNEL(EditDistance) {
  withRows(*this, [&](const auto &a, const auto &b) { measure(*this, a, b); });
}

} // namespace atc::kernels
