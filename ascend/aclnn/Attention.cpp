//===-- Attention.cpp - aclnn attention and positions --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"

#include <array>

using namespace atc::ascend;

namespace {

/// Returns the elements of the last dim in another order, some with the other sign.
View reordered(Plan &plan, const View &x, const Dims &indices, const std::vector<double> &signs) {
  if (!plan.isGood())
    return {};
  const int64_t last = int64_t(x.dims.size()) - 1;
  View moved = taken(plan, x, last, indexTensor(plan, indices, {int64_t(indices.size())}));
  if (signs.empty())
    return moved;
  const View factors = plan.make(ACL_DOUBLE, {int64_t(signs.size())});
  if (plan.isGood())
    std::copy(signs.begin(), signs.end(), static_cast<double *>(factors.memory->data()));
  return combined(plan, "Mul", moved, plan.dense(factors, moved.type));
}

/// Returns [batch, 1, rows, columns], true where a function of batch, row and column holds.
template <typename Function>
View indicesWhere(Plan &plan, int64_t batch, int64_t rows, int64_t columns, Function function) {
  const View indices = plan.make(ACL_BOOL, {batch, 1, rows, columns});
  for (int64_t i = 0; plan.isGood() && i < batch * rows * columns; ++i)
    static_cast<bool *>(indices.memory->data())[i] =
        function(i / (rows * columns), i / columns % rows, i % columns);
  return indices;
}

/// Returns the length of a batch: one may be that of all.
int64_t lengthOf(const Dims &lengths, int64_t batch, int64_t all) {
  return lengths.empty() ? all : lengths[lengths.size() == 1 ? 0 : size_t(batch)];
}

/// Returns what is hidden by position; an empty view where nothing is.
View hiddenOf(Plan &plan, const Attention &given, int64_t batch, int64_t rows, int64_t columns) {
  // Modes: 0 a band from the first row on, which a mask only makes valid, 1 the mask alone, 2 and 3
  // a triangle from the first or to the last row, 4 a band to the last row.
  const int64_t mode = given.sparseMode;
  const bool hasMode = rows > 1 || given.hasModeOfOneRow;
  const bool isBand = (hasMode && mode == 4) || (rows > 1 && mode == 0 && given.mask.memory);
  const bool isTriangle = hasMode && (mode == 2 || mode == 3);
  const int64_t all = rows + columns; // further than anything lies
  const int64_t before = isBand ? std::clamp(given.before, -all, all) : all;
  const int64_t after = isBand ? std::clamp(given.after, -all, all) : isTriangle ? 0 : all;
  if (before >= all && after >= columns && given.lengths.empty())
    return {};
  return indicesWhere(plan, batch, rows, columns, [&](int64_t own, int64_t row, int64_t column) {
    const int64_t length = lengthOf(given.lengths, own, columns);
    const int64_t shift = mode < 3 ? 0 : length - lengthOf(given.rows, own, rows);
    return column > row + shift + after || column < row + shift - before || column >= length;
  });
}

void checkLengths(Plan &plan, const Dims &lengths, int64_t batch, int64_t max, const char *name) {
  if (plan.isGood() && !lengths.empty() && lengths.size() != 1 && int64_t(lengths.size()) != batch)
    plan.reject("%s must have 1 or %lld numbers", name, (long long)batch);
  for (int64_t length : lengths)
    if (plan.isGood() && (length < 0 || length > max))
      plan.reject("%s has %lld; there are %lld rows", name, (long long)length, (long long)max);
}

/// Returns a mask as [batch or 1, heads or 1, rows or 1, columns]. A program may leave the heads
/// out, and the rows where there is one; it may give as many rows and columns as the next multiple
/// of 16 or 32.
View attentionMask(Plan &plan, View mask, const Dims &scores) {
  const int64_t rows = scores[2];
  if (mask.dims.size() == 2 && rows == 1 && mask.dims[0] == scores[0]) {
    mask.dims.insert(mask.dims.begin() + 1, 1);
    mask.strides.insert(mask.strides.begin() + 1, 0);
  }
  if (mask.dims.size() == 3) {
    mask.dims.insert(mask.dims.begin() + 1, 1);
    mask.strides.insert(mask.strides.begin() + 1, 0);
  }
  const size_t rank = mask.dims.size();
  for (size_t i = 1; i <= std::min<size_t>(rank, 2); ++i) {
    const int64_t size = scores[4 - i];
    int64_t &dim = mask.dims[rank - i];
    if (dim == (size + 15) / 16 * 16 || dim == (size + 31) / 32 * 32)
      dim = size;
  }
  return plan.broadcast(mask, scores);
}

/// Writes a number of each row to an output, which may repeat it along a last dim.
void writeOfRows(Plan &plan, const View &numbers, const View &output) {
  if (!plan.isGood() || !output.memory)
    return;
  Dims dims = numbers.dims;
  dims.back() = output.dims.empty() ? 1 : output.dims.back();
  plan.write(plan.broadcast(numbers, dims), output);
}

} // namespace

namespace atc::ascend {

View sharedHeads(Plan &plan, const View &x, int64_t heads) {
  if (!plan.isGood() || x.dims[1] == heads)
    return x;
  View wide = x;
  wide.dims.insert(wide.dims.begin() + 2, heads / x.dims[1]);
  wide.strides.insert(wide.strides.begin() + 2, 0);
  const View result = plan.make(x.type, wide.dims);
  plan.copy(wide, result);
  return plan.reshaped(result, {x.dims[0], heads, x.dims[2], x.dims[3]});
}

View scoresOf(Plan &plan, const Attention &given, const View &q, const View &k) {
  const View keys = permuted(sharedHeads(plan, k, given.heads), {0, 1, 3, 2});
  View scores = plan.dense(product(plan, q, keys), ACL_FLOAT);
  auto shift = [&] {
    if (given.shift.memory && plan.isGood())
      scores = combined(plan, "Add", scores, plan.broadcast(given.shift, scores.dims));
  };
  if (given.shiftsFirst)
    shift();
  if (given.scale != 1)
    scores = withNumber(plan, "Mul", scores, given.scale);
  if (!given.shiftsFirst)
    shift();
  const View low = plan.constant(-1e30, ACL_FLOAT);
  // The modes from 2 on have a mask of their own, whose size is not that of the scores.
  const bool isOwnMask =
      given.sparseMode < 2 || (plan.isGood() && scores.dims[2] == 1 && !given.hasModeOfOneRow);
  if (given.mask.memory && isOwnMask && plan.isGood())
    scores = chosen(plan, attentionMask(plan, given.mask, scores.dims), low, scores);
  const View hidden =
      plan.isGood() ? hiddenOf(plan, given, q.dims[0], q.dims[2], k.dims[2]) : View();
  return hidden.memory ? chosen(plan, hidden, low, scores) : scores;
}

void setDropout(Plan &plan, Attention &attention, const aclTensor *dropMask, double keepProb) {
  attention.keep = keepProb;
  if (!(keepProb > 0 && keepProb <= 1))
    plan.reject("keepProb is %g; a share of weights that are kept is above 0 and at most 1",
                keepProb);
  if (keepProb < 1 && !dropMask)
    plan.reject("keepProb is %g: give dropMask, the bits of the weights that are kept", keepProb);
  attention.dropMask = plan.input(dropMask, "dropMask", true);
  if (plan.isGood() && dropMask && attention.dropMask.type != ACL_UINT8 &&
      attention.dropMask.type != ACL_BOOL)
    plan.reject("dropMask must be uint8, eight weights in each");
}

void checkTrainingLayout(Plan &plan, const Attention &attention) {
  if (attention.layout == "NTD" || !attention.outputLayout.empty())
    plan.reject("inputLayout of a training must be BSH, SBH, BSND, BNSD or TND");
}

View dropped(Plan &plan, const Attention &given, const View &weights) {
  if (!plan.isGood() || given.keep == 1)
    return weights;
  const int64_t count = countOf(weights.dims), begin = given.dropBit,
                held = countOf(given.dropMask.dims) * 8;
  if (held < begin + count) {
    plan.reject("dropMask has %lld bits; the attention has %lld weights", (long long)held,
                (long long)(begin + count));
    return {};
  }
  const View bits = plan.dense(given.dropMask, given.dropMask.type),
             factors = plan.make(ACL_FLOAT, weights.dims);
  plan.onHost({bits, factors}, [=, scale = float(1 / given.keep)](const auto &at) -> aclError {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bit = begin + i;
      reinterpret_cast<float *>(at[1])[i] = at[0][bit / 8] >> (bit % 8) & 1 ? scale : 0;
    }
    return ACL_SUCCESS;
  });
  return combined(plan, "Mul", weights, factors);
}

View headsOf(Plan &plan, const View &x, std::string_view layout, int64_t heads, const char *name) {
  const size_t rank = layout == "BSH" || layout == "SBH" || layout == "NSD" ? 3 : 4;
  if (plan.isGood() && x.dims.size() != rank)
    plan.reject("%s %s must have %zu dims", name, textOf(x.dims).c_str(), rank);
  if (!plan.isGood())
    return {};
  View view = x;
  if (layout == "SBH")
    view = permuted(view, {1, 0, 2});
  if (layout == "BSH" || layout == "SBH") {
    if (x.dims[2] % heads) {
      plan.reject("%s %s has no %lld heads", name, textOf(x.dims).c_str(), (long long)heads);
      return {};
    }
    const int64_t width = x.dims[2] / heads;
    view.dims = {view.dims[0], view.dims[1], heads, width};
    view.strides = {view.strides[0], view.strides[1], width * x.strides[2], x.strides[2]};
  } else if (layout == "NSD") {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
  }
  if (layout == "BSH" || layout == "SBH" || layout == "BSND")
    view = permuted(view, {0, 2, 1, 3});
  if (layout == "NBSD")
    view = permuted(view, {1, 0, 2, 3});
  if (view.dims[1] != heads)
    plan.reject("%s %s has %lld heads, not %lld", name, textOf(x.dims).c_str(),
                (long long)view.dims[1], (long long)heads);
  return view;
}

View rotated(Plan &plan, const View &given, const View &cos, const View &sin, int64_t mode) {
  const int64_t parts = mode == 2 ? 4 : 2;
  if (plan.isGood() && (mode < 0 || mode > 3 || given.dims.empty() || given.dims.back() % parts))
    plan.reject("mode is %lld of 0 to 3; the last dim of x must be divisible by %lld",
                (long long)mode, (long long)parts);
  if (!plan.isGood())
    return {};
  const int64_t size = given.dims.back();
  const View x = plan.dense(given, given.type);
  Dims indices;
  std::vector<double> signs;
  if (mode == 1) { // -x1, x0, -x3, x2 ...
    for (int64_t i = 0; i < size; ++i) {
      indices.push_back(i ^ 1);
      signs.push_back(i % 2 ? 1 : -1);
    }
  } else if (mode == 3) { // odd elements, negative, and the even ones
    for (int64_t i = 0; i < size; ++i) {
      indices.push_back(i < size / 2 ? 2 * i + 1 : 2 * (i - size / 2));
      signs.push_back(i < size / 2 ? -1 : 1);
    }
  } else { // each half, or half of a half, with the other one
    const int64_t width = size / parts;
    for (int64_t i = 0; i < size; ++i) {
      const bool isFirst = i / width % 2 == 0;
      indices.push_back(isFirst ? i + width : i - width);
      signs.push_back(isFirst ? -1 : 1);
    }
  }
  View plain = x;
  if (mode == 3) {
    Dims order;
    for (int64_t i = 0; i < size; ++i)
      order.push_back(i < size / 2 ? 2 * i : 2 * (i - size / 2) + 1);
    plain = reordered(plan, x, order, {});
  }
  return combined(plan, "Add", combined(plan, "Mul", plain, cos),
                  combined(plan, "Mul", reordered(plan, x, indices, signs), sin));
}

int64_t keyHeadsOf(Plan &plan, const Attention &attention, const char *layout, int64_t heads) {
  const std::string_view name = layout ? layout : "";
  if (!plan.isGood())
    return heads;
  const Dims &query = attention.query.dims, &key = attention.key.dims;
  if (key.size() == 4 && (name == "BNSD" || name == "BSND"))
    return key[name == "BNSD" ? 1 : 2];
  if (query.size() == 3 && key.size() == 3 && heads > 0 && query[2] >= heads)
    return key[2] / (query[2] / heads);
  return heads;
}

void describeAttention(Plan &plan, Attention &attention, const char *layout, int64_t heads,
                       int64_t keyHeads, int64_t sparseMode) {
  static constexpr std::array<std::string_view, 6> layouts = {"BSH",  "SBH", "BSND",
                                                              "BNSD", "NSD", "TND"};
  // "BNSD_BSND" names the layout of the inputs and that of the result.
  const std::string_view all = layout ? layout : "";
  attention.layout = all.substr(0, all.find('_'));
  attention.outputLayout = all == attention.layout ? "" : all.substr(attention.layout.size() + 1);
  attention.heads = heads;
  attention.keyHeads = keyHeads ? keyHeads : heads;
  attention.sparseMode = sparseMode;
  const bool areSequences = attention.layout == "TND" || attention.layout == "NTD";
  const auto fits = [&](std::string_view output) {
    if (areSequences)
      return output == "TND" || output == "NTD";
    return output == "BSND" || output == "BNSD" || output == "NBSD" || output == "BSH";
  };
  if ((std::find(layouts.begin(), layouts.end(), attention.layout) == layouts.end() &&
       attention.layout != "NTD") ||
      (all != attention.layout && !fits(attention.outputLayout)))
    plan.reject("inputLayout must be BSH, SBH, BSND, BNSD, NSD, TND or NTD here, or two of them as "
                "in BNSD_BSND, where the layout of the result differs");
  if (heads < 1 || keyHeads < 0 || sparseMode < 0 || sparseMode > 4)
    plan.reject("the heads must be positive, numKeyValueHeads not negative, and sparseMode 0 to 4");
}

void attend(Plan &plan, const Attention &given) {
  if (given.layout == "TND")
    return attendSequences(plan, given);
  const View q = headsOf(plan, given.query, given.layout, given.heads, "query");
  const std::string_view layout = given.keyLayout.empty() ? given.layout : given.keyLayout;
  const View k = headsOf(plan, given.key, layout, given.keyHeads, "key");
  const View v = headsOf(plan, given.value, layout, given.keyHeads, "value");
  if (plan.isGood() && (given.heads % given.keyHeads || k.dims[2] != v.dims[2] ||
                        q.dims[3] != k.dims[3] || q.dims[0] != k.dims[0] || k.dims[0] != v.dims[0]))
    plan.reject("query %s, key %s and value %s do not fit each other",
                textOf(given.query.dims).c_str(), textOf(given.key.dims).c_str(),
                textOf(given.value.dims).c_str());
  if (!plan.isGood())
    return;
  checkLengths(plan, given.lengths, q.dims[0], k.dims[2], "actualSeqLengthsKv");
  checkLengths(plan, given.rows, q.dims[0], q.dims[2], "actualSeqLengths");
  const View output =
      headsOf(plan, given.output, given.outputLayout.empty() ? given.layout : given.outputLayout,
              given.heads, "attentionOut");
  // Where there are no keys the result is 0.
  if (plan.isGood() && k.dims[2] == 0) {
    if (given.largest.memory || given.total.memory || given.logarithm.memory)
      return plan.reject("rows without keys have no largest score and no sum");
    const View zero = plan.constant(0, output.type);
    return plan.isGood() ? plan.write(plan.broadcast(zero, output.dims), output) : void();
  }
  const View scores = scoresOf(plan, given, q, k);
  View weights;
  if (given.largest.memory || given.total.memory || given.logarithm.memory) {
    const View largest = reduced(plan, "ReduceMaxD", scores, {3}, true, ACL_FLOAT);
    const View powers = computed(plan, "Exp", combined(plan, "Sub", scores, largest));
    const View total = reduced(plan, "ReduceSumD", powers, {3}, true, ACL_FLOAT);
    weights = combined(plan, "RealDiv", powers, total);
    writeOfRows(plan, largest, given.largest);
    writeOfRows(plan, total, given.total);
    if (given.logarithm.memory)
      writeOfRows(plan, combined(plan, "Add", largest, computed(plan, "Log", total)),
                  given.logarithm);
  } else {
    weights = softmaxOf(plan, "SoftmaxV2", scores, 3);
  }
  if (!plan.isGood())
    return;
  weights = dropped(plan, given, weights);
  if (!plan.isGood())
    return;
  View result = product(plan, plan.dense(weights, v.type), sharedHeads(plan, v, given.heads));
  const bool isAnyEmpty = std::count(given.lengths.begin(), given.lengths.end(), 0) > 0;
  if ((!given.rows.empty() || isAnyEmpty) && plan.isGood())
    // Elements behind the rows of a batch are 0, and so are the rows of one without keys.
    result = chosen(plan,
                    indicesWhere(plan, q.dims[0], q.dims[2], 1,
                                 [&](int64_t own, int64_t row, int64_t) {
                                   return row >= lengthOf(given.rows, own, q.dims[2]) ||
                                          lengthOf(given.lengths, own, k.dims[2]) == 0;
                                 }),
                    plan.constant(0, result.type), result);
  if (plan.isGood())
    plan.write(result, output);
}

} // namespace atc::ascend
