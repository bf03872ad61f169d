//===-- FeedForward.cpp - aclnn functions of feed-forward layers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cctype>
#include <cmath>
#include <string>

using namespace atc::ascend;

namespace {

//===--- Two products with an activation between them -----------------------===//

/// An activation; a gated one multiplies the left half of a row with the activated right one.
struct Activation {
  std::string name;
  bool isGated = false;
};

Activation activationOf(Plan &plan, const char *given) {
  Activation activation;
  for (const char *at = given ? given : ""; *at && activation.name.size() < 16; ++at)
    activation.name += char(std::tolower(static_cast<unsigned char>(*at)));
  for (auto [gated, name] :
       {std::pair{"geglu", "gelu"}, std::pair{"swiglu", "silu"}, std::pair{"reglu", "relu"}})
    if (activation.name == gated)
      return {name, true};
  if (activation.name != "relu" && activation.name != "silu" && activation.name != "gelu" &&
      activation.name != "fastgelu")
    plan.reject("activation must be relu, silu, gelu, fastgelu, geglu, swiglu or reglu");
  return activation;
}

View activated(Plan &plan, const Activation &activation, const View &x) {
  if (!plan.isGood())
    return {};
  if (activation.isGated) {
    const size_t last = x.dims.size() - 1;
    const int64_t half = x.dims[last] / 2;
    return combined(plan, "Mul", part(x, last, 0, half),
                    activated(plan, {activation.name}, part(x, last, half, half)));
  }
  if (activation.name == "relu" || activation.name == "silu")
    return unary(plan, activation.name == "relu" ? "Relu" : "Silu", x);
  return computed(plan, activation.name == "gelu" ? "Gelu" : "FastGelu", x);
}

struct FeedForward {
  const aclTensor *x, *weight1, *weight2, *bias1, *bias2;
  const char *activation;
  std::initializer_list<const aclTensor *> quantized; ///< must be NULL
};

/// Reads how many rows each expert has; all of them where there are no experts.
Dims rowsOfExperts(Plan &plan, const aclIntArray *array, const aclTensor *tensor, bool areEnds,
                   int64_t experts, int64_t rows) {
  Dims counts;
  if (array) {
    counts = plan.numbers(array, "expertTokens");
  } else if (tensor) {
    const View list = plan.input(tensor, "expertTokens");
    if (plan.isGood() && (list.type != ACL_INT64 || list.dims != Dims{experts} || !list.isDense()))
      plan.reject("expertTokens must be int64, with a number for each of %lld experts",
                  (long long)experts);
    counts.resize(size_t(std::max<int64_t>(experts, 1)));
    if (plan.isGood())
      plan.read(list, "expertTokens", counts.data());
  } else {
    counts = {rows};
  }
  if (areEnds)
    for (size_t i = counts.size(); i-- > 1;)
      counts[i] -= counts[i - 1];
  int64_t left = rows;
  for (int64_t count : counts)
    left = count < 0 || left < count ? -1 : left - count;
  if (plan.isGood() && (int64_t(counts.size()) != experts || left != 0))
    plan.reject("expertTokens %s must be a number for each of %lld experts, and all %lld rows of "
                "x theirs",
                textOf(counts).c_str(), (long long)experts, (long long)rows);
  return counts;
}

aclnnStatus feedForward(const char *name, const FeedForward &given, const aclIntArray *array,
                        const aclTensor *tensor, bool areEnds, const aclTensor *out, uint64_t *size,
                        aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(given.x, "x"), first = plan.input(given.weight1, "weight1"),
             second = plan.input(given.weight2, "weight2"),
             bias1 = plan.input(given.bias1, "bias1", true),
             bias2 = plan.input(given.bias2, "bias2", true), y = plan.output(out, "y");
  for (const aclTensor *handle : given.quantized)
    if (handle)
      plan.reject("scales and offsets of quantized weights must be NULL: QuantMatmul and "
                  "GroupedMatmul compute with them");
  const Activation activation = activationOf(plan, given.activation);
  const size_t rank = first.dims.size();
  const bool hasExperts = rank == 3;
  const int64_t halves = activation.isGated ? 2 : 1;
  if (activation.isGated && hasExperts)
    plan.reject("geglu, swiglu and reglu have no experts: weight1 must have 2 dims");
  auto hasBias = [&](const View &bias, int64_t width) {
    return !bias.memory || bias.dims == (hasExperts ? Dims{first.dims[0], width} : Dims{width});
  };
  if (plan.isGood() &&
      (x.dims.size() < 2 || rank < 2 || rank > 3 || second.dims.size() != rank ||
       x.dims.back() != first.dims[rank - 2] ||
       second.dims[rank - 2] * halves != first.dims[rank - 1] ||
       (hasExperts && second.dims[0] != first.dims[0]) || !hasBias(bias1, first.dims[rank - 1]) ||
       !hasBias(bias2, second.dims[rank - 1]) || (!hasExperts && (array || tensor))))
    plan.reject("x %s, weight1 %s and weight2 %s cannot be multiplied; weights and biases of "
                "experts have a dim more in front, and weight1 of a gated activation twice the "
                "columns",
                textOf(x.dims).c_str(), textOf(first.dims).c_str(), textOf(second.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t width = x.dims.back(), rows = width ? countOf(x.dims) / width : 0,
                experts = hasExperts ? first.dims[0] : 1;
  const Dims counts = rowsOfExperts(plan, array, tensor, areEnds, experts, rows);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View flat = plan.reshaped(plan.dense(x, x.type), {rows, width}),
             all = plan.make(ACL_FLOAT, {rows, second.dims.back()});
  auto ofExpert = [&](View view, size_t expert) {
    if (!hasExperts || !view.memory)
      return view;
    view = part(view, 0, int64_t(expert), 1);
    view.dims.erase(view.dims.begin());
    view.strides.erase(view.strides.begin());
    return view;
  };
  auto layer = [&](const View &input, const View &weight, const View &bias) {
    const View result = product(plan, input, weight);
    return bias.memory ? combined(plan, "Add", plan.dense(result, ACL_FLOAT), bias) : result;
  };
  int64_t start = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0)
      continue;
    const View hidden =
        activated(plan, activation,
                  layer(part(flat, 0, start, counts[i]), ofExpert(first, i), ofExpert(bias1, i)));
    if (plan.isGood())
      plan.copy(layer(plan.dense(hidden, x.type), ofExpert(second, i), ofExpert(bias2, i)),
                part(all, 0, start, counts[i]));
    start += counts[i];
  }
  Dims shown = x.dims;
  shown.back() = second.dims.back();
  plan.write(plan.reshaped(all, shown), y);
  return plan.finish(size, executor);
}

//===--- Gated halves that are quantized ------------------------------------===//

/// The parameters with which rows are dequantized, gated and quantized. Each group of rows has its
/// own scales.
struct GatedRows {
  int64_t rows = 0, width = 0, groups = 1;
  bool areEnds = false, activatesLeft = false, isStatic = false;
  int64_t smooth = 0, weights = 0; ///< how many scales a group has; 0 for none
  bool hasRowScales = false, hasOffsets = false;
  int64_t biases = 0;         ///< how many a group has; 0 for none
  bool addsFirst = false;     ///< biases are in the unit of x
  bool isAlternating = false; ///< gates are the even elements, and clamped
  double limit = 0, alpha = 1, addend = 0;
};

/// at[0] rows of two halves, at[1] how many rows a group has, or where it ends, at[2] scales of the
/// results, at[3] offsets, at[4] scales of the weights, at[5] scales of rows, at[6] results, at[7]
/// their scales, at[8] biases.
aclError quantizeGated(const GatedRows &all, const std::vector<char *> &at) {
  auto number = [&](size_t i) { return reinterpret_cast<const double *>(at[i]); };
  auto *limit = reinterpret_cast<const int64_t *>(at[1]);
  auto *result = reinterpret_cast<double *>(at[6]), *scale = reinterpret_cast<double *>(at[7]);
  std::fill(result, result + all.rows * all.width, 0);
  std::fill(scale, scale + all.rows, 0);
  int64_t row = 0;
  for (int64_t group = 0; group < all.groups; ++group) {
    const int64_t begin = all.areEnds ? 0 : row;
    if (limit[group] < row - begin || limit[group] > all.rows - begin)
      return ACL_ERROR_INVALID_PARAM;
    const int64_t end = begin + limit[group];
    // One scale is for all elements.
    auto own = [&](size_t list, int64_t count, int64_t j) {
      return number(list)[group * count + (count > 1 ? j : 0)];
    };
    for (; row < end; ++row) {
      const double *x = number(0) + row * 2 * all.width;
      double *y = result + row * all.width, max = 0;
      auto element = [&](int64_t j) {
        const double bias = all.biases ? own(8, all.biases, j) : 0;
        return (x[j] + (all.addsFirst ? bias : 0)) * (all.weights ? own(4, all.weights, j) : 1) *
                   (all.hasRowScales ? number(5)[row] : 1) +
               (all.addsFirst ? 0 : bias);
      };
      for (int64_t j = 0; j < all.width; ++j) {
        double gate = element(all.isAlternating ? 2 * j : j),
               other = element(all.isAlternating ? 2 * j + 1 : j + all.width);
        if (!all.activatesLeft)
          std::swap(gate, other);
        if (all.isAlternating) {
          gate = std::min(gate, all.limit);
          other = std::clamp(other, -all.limit, all.limit) + all.addend;
        }
        y[j] = gate / (1 + std::exp(-all.alpha * gate)) * other;
        if (all.smooth)
          y[j] *= own(2, all.smooth, j);
        if (all.hasOffsets)
          y[j] += own(3, all.smooth, j);
        max = std::max(max, std::abs(y[j]));
      }
      scale[row] = all.isStatic ? 0 : max / 127;
      for (int64_t j = 0; j < all.width; ++j)
        y[j] = std::nearbyint(all.isStatic ? y[j] : max > 0 ? y[j] / (max / 127) : 0);
    }
  }
  return ACL_SUCCESS;
}

struct GatedCall {
  const aclTensor *x, *smooth, *offset, *weightScale, *rowScale, *groups;
  bool areEnds, activatesLeft;
  const char *mode;
  const aclTensor *bias = nullptr;
  bool isAlternating = false;
  double limit = 0, alpha = 1, addend = 0; ///< of alternating elements
};

aclnnStatus gatedRows(Plan &plan, const GatedCall &given, const aclTensor *yOut,
                      const aclTensor *scaleOut, uint64_t *size, aclOpExecutor **executor) {
  const View x = plan.input(given.x, "x"), smooth = plan.input(given.smooth, "quantScale", true),
             offset = plan.input(given.offset, "quantOffset", true),
             weight = plan.input(given.weightScale, "weightScale", true),
             rowScale = plan.input(given.rowScale, "activationScale", true),
             groups = plan.input(given.groups, "groupIndex", true),
             bias = plan.input(given.bias, "bias", true), y = plan.output(yOut, "yOut"),
             scales = plan.output(scaleOut, "scaleOut");
  const std::string_view mode = given.mode && *given.mode ? given.mode : "dynamic";
  if (mode != "dynamic" && mode != "static")
    plan.reject("quantMode must be dynamic or static");
  if (plan.isGood() && (x.dims.size() < 2 || x.dims.back() < 2 || x.dims.back() % 2 ||
                        y.type != ACL_INT8 || (groups.memory && groups.dims.size() != 1)))
    plan.reject("x %s must have 2 dims or more, the last one an even number of elements, yOut be "
                "int8, and groupIndex have 1 dim",
                textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  GatedRows all;
  all.width = x.dims.back() / 2;
  all.rows = countOf(x.dims) / x.dims.back();
  all.groups = groups.memory ? groups.dims[0] : 1;
  all.areEnds = given.areEnds;
  all.activatesLeft = given.activatesLeft;
  all.isStatic = mode == "static";
  all.hasRowScales = bool(rowScale.memory);
  all.hasOffsets = offset.memory && all.isStatic;
  auto perGroup = [&](const View &view, int64_t width, const char *name) -> int64_t {
    if (!view.memory)
      return 0;
    const int64_t count = countOf(view.dims);
    if (count == all.groups * width || count == all.groups)
      return count / std::max<int64_t>(all.groups, 1);
    plan.reject("%s %s must have %lld or 1 elements for each of %lld groups", name,
                textOf(view.dims).c_str(), (long long)width, (long long)all.groups);
    return 0;
  };
  all.smooth = perGroup(smooth, all.width, "quantScale");
  all.weights = perGroup(weight, 2 * all.width, "weightScale");
  all.biases = perGroup(bias, 2 * all.width, "bias");
  all.addsFirst = bias.memory && !isFloat(bias.type);
  all.isAlternating = given.isAlternating;
  all.limit = given.limit;
  all.alpha = given.alpha;
  all.addend = given.addend;
  if (plan.isGood() && ((all.hasRowScales && countOf(rowScale.dims) != all.rows) ||
                        (all.hasOffsets && offset.dims != smooth.dims)))
    plan.reject("activationScale must have a number for each of %lld rows, and offsets the dims of "
                "the scales",
                (long long)all.rows);
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto orOne = [&](const View &view) {
    return view.memory ? plan.dense(view, ACL_DOUBLE) : plan.constant(1, ACL_DOUBLE);
  };
  Dims halved = x.dims;
  halved.back() = all.width;
  const View result = plan.make(ACL_DOUBLE, halved),
             factors = plan.make(ACL_DOUBLE, Dims(x.dims.begin(), x.dims.end() - 1));
  plan.onHost(
      {plan.dense(x, ACL_DOUBLE),
       groups.memory ? plan.dense(groups, ACL_INT64) : plan.constant(double(all.rows), ACL_INT64),
       orOne(smooth), orOne(offset), orOne(weight), orOne(rowScale), result, factors, orOne(bias)},
      [all](const std::vector<char *> &at) { return quantizeGated(all, at); });
  plan.write(result, y);
  writeOptional(plan, factors, scales);
  return plan.finish(size, executor);
}

} // namespace

#define ACLNN_FEED_FORWARD(name, tokens, flag, array, tensor, areEnds)                             \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2, tokens expertTokens, \
      const aclTensor *bias1, const aclTensor *bias2, const aclTensor *scale,                      \
      const aclTensor *offset, const aclTensor *deqScale1, const aclTensor *deqScale2,             \
      const aclTensor *antiquantScale1, const aclTensor *antiquantScale2,                          \
      const aclTensor *antiquantOffset1, const aclTensor *antiquantOffset2,                        \
      const char *activation, int64_t, ACLNN_UNPACK flag const aclTensor *y, uint64_t *size,       \
      aclOpExecutor **executor) {                                                                  \
    return feedForward(__func__,                                                                   \
                       {x,                                                                         \
                        weight1,                                                                   \
                        weight2,                                                                   \
                        bias1,                                                                     \
                        bias2,                                                                     \
                        activation,                                                                \
                        {scale, offset, deqScale1, deqScale2, antiquantScale1, antiquantScale2,    \
                         antiquantOffset1, antiquantOffset2}},                                     \
                       array, tensor, areEnds, y, size, executor);                                 \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_FEED_FORWARD(FFN, const aclIntArray *, (), expertTokens, nullptr, false)
ACLNN_FEED_FORWARD(FFNV2, const aclIntArray *, (bool tokensIndexFlag, ), expertTokens, nullptr,
                   tokensIndexFlag)
ACLNN_FEED_FORWARD(FFNV3, const aclTensor *, (bool tokensIndexFlag, ), nullptr, expertTokens,
                   tokensIndexFlag)

aclnnStatus aclnnSwiGluQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *offsetsOptional,
    const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional,
    const aclTensor *yOut, const aclTensor *scaleOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  return gatedRows(plan,
                   {x, smoothScalesOptional, offsetsOptional, nullptr, nullptr, groupIndexOptional,
                    true, activateLeft, quantModeOptional},
                   yOut, scaleOut, size, executor);
}
ACLNN_RUN(SwiGluQuant)

aclnnStatus aclnnDequantSwigluQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weightScaleOptional,
    const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
    const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
    const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional,
    const aclTensor *yOut, const aclTensor *scaleOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  if (biasOptional || quantOffsetOptional ||
      std::string_view(quantModeOptional ? quantModeOptional : "") != "dynamic")
    plan.reject("bias and quantOffset must be NULL, and quantMode dynamic");
  return gatedRows(plan,
                   {x, quantScaleOptional, nullptr, weightScaleOptional, activationScaleOptional,
                    groupIndexOptional, false, activateLeft, quantModeOptional},
                   yOut, scaleOut, size, executor);
}
ACLNN_RUN(DequantSwigluQuant)

aclnnStatus aclnnDequantSwigluQuantV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *weightScaleOptional,
    const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
    const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
    const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional,
    int64_t dstType, char *roundModeOptional, int64_t activateDim, int64_t swigluMode,
    double clampLimit, double gluAlpha, double gluBias, const aclTensor *yOut,
    const aclTensor *scaleOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x");
  const std::string_view rounding = roundModeOptional ? roundModeOptional : "";
  if (quantOffsetOptional ||
      std::string_view(quantModeOptional ? quantModeOptional : "") != "dynamic")
    plan.reject("quantOffset must be NULL, and quantMode dynamic");
  if (dstType != ACL_INT8 || (rounding != "" && rounding != "rint") || swigluMode < 0 ||
      swigluMode > 1 || (swigluMode == 1 && (!activateLeft || !(clampLimit > 0))))
    plan.reject(
        "dstType must be 2 (int8), roundMode rint, and swigluMode 0, or 1 with activateLeft "
        "and a positive clampLimit");
  if (plan.isGood() && activateDim != -1 && activateDim != int64_t(given.dims.size()) - 1)
    plan.reject("activateDim is %lld; it must be the last one", (long long)activateDim);
  GatedCall call{x,
                 quantScaleOptional,
                 nullptr,
                 weightScaleOptional,
                 activationScaleOptional,
                 groupIndexOptional,
                 false,
                 activateLeft,
                 quantModeOptional,
                 biasOptional};
  if (swigluMode == 1) {
    call.isAlternating = true;
    call.limit = clampLimit;
    call.alpha = gluAlpha;
    call.addend = gluBias;
  }
  return gatedRows(plan, call, yOut, scaleOut, size, executor);
}
ACLNN_RUN(DequantSwigluQuantV2)
