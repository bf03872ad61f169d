//===-- Search.cpp - aclnn functions that order, count and search ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine, in float64 for floats and in int64 for whole numbers.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <numeric>
#include <optional>

using namespace atc::ascend;

namespace {

/// Calls a function with a null pointer of the type in which elements are compared.
template <typename Function> auto inWideType(aclDataType type, Function function) {
  return isFloat(type) ? function(static_cast<double *>(nullptr))
                       : function(static_cast<int64_t *>(nullptr));
}

View widened(Plan &plan, const View &x) {
  return plan.isGood() ? plan.dense(x, isFloat(x.type) ? ACL_DOUBLE : ACL_INT64) : View();
}

/// Orders numbers from the least to the largest; what is no number comes last, as in PyTorch.
template <typename T> bool isLess(T left, T right) {
  return std::isnan(double(right)) ? !std::isnan(double(left)) : left < right;
}

/// Adds the step that calls `function(row, width)` with the elements of each row of an axis, which
/// writes one value and one position for each row, or, where it is not reduced, for each element.
template <typename Function>
std::pair<View, View> alongRows(Plan &plan, const View &self, int64_t dim, bool isReduced,
                                Function function) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (plan.isGood() && (self.dims.empty() ? 1 : self.dims[size_t(axis)]) == 0)
    plan.reject("dim %lld of self has no elements", (long long)dim);
  if (!plan.isGood())
    return {};
  // The axis becomes the last one.
  const size_t rank = self.dims.size();
  Dims order(rank), back(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank)
    std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  for (size_t i = 0; i < rank; ++i)
    back[size_t(order[i])] = int64_t(i);
  const View x = widened(plan, permuted(self, order));
  Dims dims = x.dims;
  const int64_t width = rank ? dims.back() : 1, rows = width ? countOf(dims) / width : 0;
  const int64_t written = isReduced ? 1 : width;
  if (rank)
    dims.back() = written;
  const View values = plan.make(x.type, dims), positions = plan.make(ACL_INT64, dims);
  plan.onHost({x, values, positions}, [=](const std::vector<char *> &at) -> aclError {
    return inWideType(x.type, [&](auto *type) -> aclError {
      using T = std::remove_pointer_t<decltype(type)>;
      for (int64_t row = 0; row < rows; ++row)
        function(reinterpret_cast<const T *>(at[0]) + row * width, width,
                 reinterpret_cast<T *>(at[1]) + row * written,
                 reinterpret_cast<int64_t *>(at[2]) + row * written);
      return ACL_SUCCESS;
    });
  });
  return {permuted(values, back), permuted(positions, back)};
}

/// Writes the k-th element of an order, counted from 0, and its position.
template <typename T>
void pick(const T *row, int64_t width, int64_t k, T *value, int64_t *position) {
  std::vector<int64_t> order(static_cast<size_t>(width));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return isLess(row[a], row[b]); });
  *position = order[size_t(k)];
  *value = row[*position];
}

/// Writes the middle element, the lower one of two; the first that is no number where there is one.
template <typename T> void pickMedian(const T *row, int64_t width, T *value, int64_t *position) {
  for (int64_t i = 0; i < width; ++i)
    if (std::isnan(double(row[i]))) {
      *position = i;
      *value = row[i];
      return;
    }
  pick(row, width, (width - 1) / 2, value, position);
}

/// Writes the middle one of the numbers of a row, the first element where there is none.
template <typename T>
void pickMedianOfNumbers(const T *row, int64_t width, T *value, int64_t *position) {
  const int64_t count =
      std::count_if(row, row + width, [](T item) { return !std::isnan(double(item)); });
  pick(row, width, std::max<int64_t>(count - 1, 0) / 2, value, position);
}

void writeWithoutDim(Plan &plan, const View &view, int64_t dim, bool keep, const View &output) {
  if (!plan.isGood())
    return;
  const int64_t axis = plan.axisOf(dim, view.dims.size());
  View result = view;
  if (!keep && !view.dims.empty()) {
    result.dims.erase(result.dims.begin() + axis);
    result.strides.erase(result.strides.begin() + axis);
  }
  plan.write(result, output);
}

aclnnStatus extremaPlan(const char *name, bool isMax, const aclTensor *self, int64_t dim,
                        aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *size,
                        aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut"),
             positions = plan.output(indicesOut, "indicesOut");
  const auto [found, where] =
      alongRows(plan, x, dim, false, [=](auto *row, int64_t width, auto *value, int64_t *position) {
        int64_t best = 0; // the last of equal elements, as in PyTorch
        for (int64_t i = 0; i < width; ++i) {
          const bool isWorse = isMax ? isLess(row[i], row[best]) : isLess(row[best], row[i]);
          best = std::isnan(double(row[best]))            ? best
                 : std::isnan(double(row[i])) || !isWorse ? i
                                                          : best;
          value[i] = row[best];
          position[i] = best;
        }
      });
  plan.write(found, values);
  plan.write(where, positions);
  return plan.finish(size, executor);
}

/// Writes the positions where numbers fit into ordered rows.
void writePositions(Plan &plan, const View &sequence, const View &given, bool isRight,
                    const View &sorter, const View &out) {
  const bool isShared = sequence.dims.size() == 1;
  if (plan.isGood() &&
      (sequence.dims.empty() || (!isShared && (given.dims.size() != sequence.dims.size() ||
                                               !std::equal(given.dims.begin(), given.dims.end() - 1,
                                                           sequence.dims.begin())))))
    plan.reject("sortedSequence %s must have one dim, or all dims of self %s but the last",
                textOf(sequence.dims).c_str(), textOf(given.dims).c_str());
  if (plan.isGood() && sorter.memory && sorter.dims != sequence.dims)
    plan.reject("sorter %s must have the dims of sortedSequence", textOf(sorter.dims).c_str());
  if (!plan.isGood())
    return;
  const aclDataType type = isFloat(promoted(sequence.type, given.type)) ? ACL_DOUBLE : ACL_INT64;
  const View rows = plan.dense(sequence, type), numbers = plan.dense(given, type),
             order = sorter.memory ? plan.dense(sorter, ACL_INT64) : View(),
             positions = plan.make(ACL_INT64, given.dims);
  std::vector<View> views = {rows, numbers, positions};
  if (order.memory)
    views.push_back(order);
  const int64_t width = rows.dims.back(), count = countOf(given.dims);
  const int64_t share = isShared ? std::max<int64_t>(count, 1) : given.dims.back();
  plan.onHost(views, [=](const std::vector<char *> &at) -> aclError {
    return inWideType(type, [&](auto *kind) -> aclError {
      using T = std::remove_pointer_t<decltype(kind)>;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = i / share * width;
        auto element = [&](int64_t position) {
          if (order.memory)
            position = reinterpret_cast<const int64_t *>(at[3])[row + position];
          return position < 0 || position >= width
                     ? T()
                     : reinterpret_cast<const T *>(at[0])[row + position];
        };
        const T number = reinterpret_cast<const T *>(at[1])[i];
        int64_t low = 0, high = width;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          if (isRight ? !isLess(number, element(middle)) : isLess(element(middle), number))
            low = middle + 1;
          else
            high = middle;
        }
        reinterpret_cast<int64_t *>(at[2])[i] = low;
      }
      return ACL_SUCCESS;
    });
  });
  plan.write(positions, out);
}

/// Slices of a tensor along one dim: slice i has element j at
/// (j / inner * slices + i) * inner + j % inner.
template <typename T> struct Slices {
  const T *data;
  int64_t slices, width, inner; ///< width: the elements of a slice

  int64_t spot(int64_t slice, int64_t j, int64_t all) const {
    return (j / inner * all + slice) * inner + j % inner;
  }
  bool isBefore(int64_t a, int64_t b) const {
    for (int64_t j = 0; j < width; ++j) {
      const T left = data[spot(a, j, slices)], right = data[spot(b, j, slices)];
      if (isLess(left, right) || isLess(right, left))
        return isLess(left, right);
    }
    return false;
  }
  bool isSame(int64_t a, int64_t b) const {
    for (int64_t j = 0; j < width; ++j)
      if (data[spot(a, j, slices)] != data[spot(b, j, slices)])
        return false;
    return true;
  }

  /// Returns one of equal slices each, in order, or one of each run of equal ones in the tensor's.
  /// Writes which of them each slice is to `position`, and how many are equal to it to `times`:
  /// both have room for all slices.
  std::vector<int64_t> choose(bool isOfRuns, int64_t *position, int64_t *times) const {
    std::vector<int64_t> order(static_cast<size_t>(slices)), kept;
    std::iota(order.begin(), order.end(), 0);
    if (!isOfRuns)
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return isBefore(a, b); });
    std::fill(times, times + slices, 0);
    for (int64_t i : order) {
      if (kept.empty() || !isSame(i, kept.back()))
        kept.push_back(i);
      const int64_t last = int64_t(kept.size()) - 1;
      ++times[last];
      position[i] = last;
    }
    return kept;
  }

  /// Writes the chosen slices as a tensor of their own.
  void copy(const std::vector<int64_t> &kept, T *to) const {
    const int64_t all = int64_t(kept.size());
    for (int64_t i = 0; i < all; ++i)
      for (int64_t j = 0; j < width; ++j)
        to[spot(i, j, all)] = data[spot(kept[size_t(i)], j, slices)];
  }
};

/// Keeps one of equal slices along `dim`, or of elements without one, in order, or one of each run
/// of equal ones.
aclnnStatus uniquePlan(const char *name, const aclTensor *self, std::optional<int64_t> dim,
                       bool isOfRuns, const aclTensor *valueOut, const aclTensor *inverseOut,
                       const aclTensor *countsOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(self, "self"), values = plan.output(valueOut, "valueOut"),
             inverse = plan.output(inverseOut, "inverseOut", true),
             counts = plan.output(countsOut, "countsOut", true);
  const int64_t count = countOf(x.dims);
  const bool isOfElements = !dim;
  int64_t slices = count, inner = 1;
  Dims dims{count};
  const size_t axis = isOfElements ? 0 : size_t(plan.axisOf(*dim, x.dims.size()));
  if (plan.isGood() && !isOfElements && !x.dims.empty()) {
    dims = x.dims;
    slices = dims[axis];
    inner = countOf(Dims(dims.begin() + int64_t(axis) + 1, dims.end()));
  }
  const int64_t width = slices ? count / slices : 0;
  if (plan.isGood() &&
      (values.type != x.type || !values.isDense() || countOf(values.dims) < count ||
       (counts.memory &&
        (counts.type != ACL_INT64 || !counts.isDense() || countOf(counts.dims) < slices))))
    plan.reject("valueOut and countsOut (int64) must be dense, with %lld and %lld elements, for "
                "all of self",
                (long long)count, (long long)slices);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View wide = widened(plan, x), found = plan.make(wide.type, {count}),
             positions = plan.make(ACL_INT64, isOfElements ? x.dims : Dims{slices}),
             numbers = plan.make(ACL_INT64, {slices}), narrow = plan.make(x.type, {count});
  plan.onHost({wide, found, positions, numbers}, [=](const std::vector<char *> &at) -> aclError {
    return inWideType(wide.type, [&](auto *kind) -> aclError {
      using T = std::remove_pointer_t<decltype(kind)>;
      auto *from = reinterpret_cast<const T *>(at[0]);
      auto *to = reinterpret_cast<T *>(at[1]);
      auto *position = reinterpret_cast<int64_t *>(at[2]),
           *times = reinterpret_cast<int64_t *>(at[3]);
      const Slices<T> source{from, slices, width, inner};
      const std::vector<int64_t> kept = source.choose(isOfRuns, position, times);
      const int64_t all = int64_t(kept.size());
      std::fill(to, to + count, T());
      source.copy(kept, to);
      Dims shown = dims;
      shown[axis] = all;
      values.memory->setDims(shown);
      if (counts.memory)
        counts.memory->setDims({all});
      return ACL_SUCCESS;
    });
  });
  plan.copy(found, narrow);
  // All of the memory is written, of which the dims name the beginning.
  plan.copy(narrow, plan.reshaped(part(plan.reshaped(values, {countOf(values.dims)}), 0, 0, count),
                                  {count}));
  if (counts.memory)
    plan.copy(
        numbers,
        plan.reshaped(part(plan.reshaped(counts, {countOf(counts.dims)}), 0, 0, slices), {slices}));
  if (inverse.memory)
    plan.write(positions, inverse);
  return plan.finish(size, executor);
}

/// Counts how often there is each number, or, with weights, adds those.
void writeCounts(Plan &plan, const View &self, const View &weights, int64_t minValue,
                 const View &out) {
  if (plan.isGood() && (self.dims.size() != 1 || isFloat(self.type) || minValue < 0 ||
                        (weights.memory && weights.dims != self.dims)))
    plan.reject("self must be whole numbers of one dim, weights have its dims, and minlength not "
                "be negative");
  if (plan.isGood() && (out.dims.size() != 1 || out.dims[0] < minValue))
    plan.reject("out %s must have one dim of minlength %lld or more", textOf(out.dims).c_str(),
                (long long)minValue);
  if (!plan.isGood())
    return;
  const View x = plan.dense(self, ACL_INT64),
             factors = weights.memory ? plan.dense(weights, ACL_DOUBLE) : View(),
             sums = plan.make(ACL_DOUBLE, out.dims);
  std::vector<View> views = {x, sums};
  if (factors.memory)
    views.push_back(factors);
  plan.onHost(views,
              [=, count = countOf(self.dims),
               bins = out.dims[0]](const std::vector<char *> &at) -> aclError {
                auto *sum = reinterpret_cast<double *>(at[1]);
                std::fill(sum, sum + bins, 0);
                for (int64_t i = 0; i < count; ++i) {
                  const int64_t bin = reinterpret_cast<const int64_t *>(at[0])[i];
                  if (bin < 0 || bin >= bins)
                    return fail(ACL_ERROR_INVALID_PARAM, "aclnnBincount",
                                "self has %lld, out %lld elements", (long long)bin,
                                (long long)bins);
                  sum[bin] += at.size() > 2 ? reinterpret_cast<const double *>(at[2])[i] : 1;
                }
                return ACL_SUCCESS;
              });
  plan.write(sums, out);
}

void writeHistogram(Plan &plan, const View &self, int64_t bins, double low, double high,
                    const View &out) {
  if (plan.isGood() &&
      (bins < 1 || out.dims != Dims{bins} || !(low <= high) || !std::isfinite(high - low)))
    plan.reject("out %s must be [bins], bins positive, and min and max be numbers, min at most max",
                textOf(out.dims).c_str());
  if (!plan.isGood())
    return;
  const View x = plan.dense(self, ACL_DOUBLE), sums = plan.make(ACL_DOUBLE, {bins});
  plan.onHost(
      {x, sums}, [=, count = countOf(self.dims)](const std::vector<char *> &at) -> aclError {
        auto *from = reinterpret_cast<const double *>(at[0]);
        auto *sum = reinterpret_cast<double *>(at[1]);
        std::fill(sum, sum + bins, 0);
        double first = low, last = high;
        if (low == high && count) { // the range of the elements
          for (int64_t i = 0; i < count; ++i)
            if (!std::isfinite(from[i]))
              return fail(ACL_ERROR_INVALID_PARAM, "aclnnHistc",
                          "self has %g: give min and max, where the elements have no range",
                          from[i]);
          first = *std::min_element(from, from + count);
          last = *std::max_element(from, from + count);
        }
        if (first == last) {
          first -= 1;
          last += 1;
        }
        for (int64_t i = 0; i < count; ++i)
          if (from[i] >= first && from[i] <= last)
            ++sum[std::min(int64_t((from[i] - first) / (last - first) * double(bins)), bins - 1)];
        return ACL_SUCCESS;
      });
  plan.write(sums, out);
}

View runningProduct(Plan &plan, const View &self, int64_t dim, aclDataType type) {
  if (!plan.isGood())
    return {};
  return alongRows(plan, plan.dense(self, type), dim, false,
                   [](auto *row, int64_t width, auto *value, int64_t *) {
                     for (int64_t i = 0; i < width; ++i)
                       value[i] = i ? value[i - 1] * row[i] : row[i];
                   })
      .first;
}

} // namespace

aclnnStatus aclnnKthvalueGetWorkspaceSize(const aclTensor *self, int64_t k, int64_t dim,
                                          bool keepdim, aclTensor *valuesOut, aclTensor *indicesOut,
                                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut"),
             positions = plan.output(indicesOut, "indicesOut");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (k < 1 || k > (x.dims.empty() ? 1 : x.dims[size_t(axis)])))
    plan.reject("k is %lld; it is from 1 to the elements of dim %lld", (long long)k,
                (long long)dim);
  const auto [found, where] =
      alongRows(plan, x, dim, true, [=](auto *row, int64_t width, auto *value, int64_t *position) {
        pick(row, width, k - 1, value, position);
      });
  writeWithoutDim(plan, found, dim, keepdim, values);
  writeWithoutDim(plan, where, dim, keepdim, positions);
  return plan.finish(size, executor);
}
ACLNN_RUN(Kthvalue)
#define ACLNN_MEDIAN(name, choose)                                                                 \
  aclnnStatus aclnn##name##DimGetWorkspaceSize(const aclTensor *self, int64_t dim, bool keepDim,   \
                                               aclTensor *valuesOut, aclTensor *indicesOut,        \
                                               uint64_t *size, aclOpExecutor **executor) {         \
    Plan plan(__func__);                                                                           \
    const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut"),         \
               positions = plan.output(indicesOut, "indicesOut");                                  \
    const auto [found, where] =                                                                    \
        alongRows(plan, x, dim, true, [](auto *row, int64_t width, auto *value, int64_t *at) {     \
          choose(row, width, value, at);                                                           \
        });                                                                                        \
    writeWithoutDim(plan, found, dim, keepDim, values);                                            \
    writeWithoutDim(plan, where, dim, keepDim, positions);                                         \
    return plan.finish(size, executor);                                                            \
  }                                                                                                \
  ACLNN_RUN(name##Dim)                                                                             \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, aclTensor *valuesOut,           \
                                            uint64_t *size, aclOpExecutor **executor) {            \
    Plan plan(__func__);                                                                           \
    const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut");         \
    if (plan.isGood())                                                                             \
      writeOptional(plan,                                                                          \
                    alongRows(plan, plan.reshaped(plan.dense(x, x.type), {countOf(x.dims)}), 0,    \
                              true,                                                                \
                              [](auto *row, int64_t width, auto *value, int64_t *at) {             \
                                choose(row, width, value, at);                                     \
                              })                                                                   \
                        .first,                                                                    \
                    values);                                                                       \
    return plan.finish(size, executor);                                                            \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_MEDIAN(Median, pickMedian)
ACLNN_MEDIAN(NanMedian, pickMedianOfNumbers)

#define ACLNN_RUNNING_EXTREMA(name, isMax)                                                         \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, int64_t dim,                    \
                                            aclTensor *valuesOut, aclTensor *indicesOut,           \
                                            uint64_t *size, aclOpExecutor **executor) {            \
    return extremaPlan(__func__, isMax, self, dim, valuesOut, indicesOut, size, executor);         \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_RUNNING_EXTREMA(Cummax, true)
ACLNN_RUNNING_EXTREMA(Cummin, false)
ACLNN_FUNCTION(Cumprod,
               (const aclTensor *input, const aclScalar *dim, const aclDataType dtype,
                aclTensor *out),
               out, runningProduct(plan, IN(input), int64_t(plan.number(dim, "dim")), dtype))

aclnnStatus aclnnSearchSortedGetWorkspaceSize(const aclTensor *sortedSequence,
                                              const aclTensor *self, const bool, const bool right,
                                              const aclTensor *sorter, aclTensor *out,
                                              uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = plan.input(sortedSequence, "sortedSequence"), given = plan.input(self, "self"),
             order = plan.input(sorter, "sorter", true), y = plan.output(out, "out");
  writePositions(plan, rows, given, right, order, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(SearchSorted)
aclnnStatus aclnnBucketizeGetWorkspaceSize(const aclTensor *self, const aclTensor *boundaries,
                                           const bool, const bool right, aclTensor *out,
                                           uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(self, "self"), rows = plan.input(boundaries, "boundaries"),
             y = plan.output(out, "out");
  if (plan.isGood() && rows.dims.size() != 1)
    plan.reject("boundaries %s must have one dim", textOf(rows.dims).c_str());
  writePositions(plan, rows, given, right, View(), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Bucketize)
aclnnStatus aclnnSearchSortedsGetWorkspaceSize(const aclTensor *sortedSequence,
                                               const aclScalar *self, const bool, const bool right,
                                               const aclTensor *sorter, aclTensor *out,
                                               uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = plan.input(sortedSequence, "sortedSequence"),
             order = plan.input(sorter, "sorter", true), y = plan.output(out, "out");
  const View number = plan.constant(plan.number(self, "self"), ACL_DOUBLE);
  if (plan.isGood())
    writePositions(plan, rows, plan.reshaped(number, y.dims), right, order, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(SearchSorteds)

aclnnStatus aclnnUnique2GetWorkspaceSize(const aclTensor *self, bool, bool returnInverse,
                                         bool returnCounts, aclTensor *valueOut,
                                         aclTensor *inverseOut, aclTensor *countsOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  return uniquePlan(__func__, self, std::nullopt, false, valueOut,
                    returnInverse ? inverseOut : nullptr, returnCounts ? countsOut : nullptr, size,
                    executor);
}
ACLNN_RUN(Unique2)
aclnnStatus aclnnUniqueGetWorkspaceSize(const aclTensor *self, bool, bool returnInverse,
                                        aclTensor *valueOut, aclTensor *inverseOut, uint64_t *size,
                                        aclOpExecutor **executor) {
  return uniquePlan(__func__, self, std::nullopt, false, valueOut,
                    returnInverse ? inverseOut : nullptr, nullptr, size, executor);
}
ACLNN_RUN(Unique)
aclnnStatus aclnnUniqueDimGetWorkspaceSize(const aclTensor *self, bool, bool returnInverse,
                                           int64_t dim, aclTensor *valueOut, aclTensor *inverseOut,
                                           aclTensor *countsOut, uint64_t *size,
                                           aclOpExecutor **executor) {
  return uniquePlan(__func__, self, dim, false, valueOut, returnInverse ? inverseOut : nullptr,
                    countsOut, size, executor);
}
ACLNN_RUN(UniqueDim)
aclnnStatus aclnnUniqueConsecutiveGetWorkspaceSize(const aclTensor *self, bool returnInverse,
                                                   bool returnCounts, int64_t dim,
                                                   aclTensor *valueOut, aclTensor *inverseOut,
                                                   aclTensor *countsOut, uint64_t *size,
                                                   aclOpExecutor **executor) {
  const bool isOfElements = dim == 1000; // what callers give for no dim
  return uniquePlan(__func__, self, isOfElements ? std::nullopt : std::optional(dim), true,
                    valueOut, returnInverse ? inverseOut : nullptr,
                    returnCounts ? countsOut : nullptr, size, executor);
}
ACLNN_RUN(UniqueConsecutive)

aclnnStatus aclnnBincountGetWorkspaceSize(const aclTensor *self, const aclTensor *weights,
                                          int64_t minlength, aclTensor *out, uint64_t *size,
                                          aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), factors = plan.input(weights, "weights", true),
             y = plan.output(out, "out");
  writeCounts(plan, x, factors, minlength, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Bincount)
aclnnStatus aclnnHistcGetWorkspaceSize(const aclTensor *self, int64_t bins, const aclScalar *min,
                                       const aclScalar *max, aclTensor *out, uint64_t *size,
                                       aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const double low = plan.number(min, "min"), high = plan.number(max, "max");
  writeHistogram(plan, x, bins, low, high, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Histc)
