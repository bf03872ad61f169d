//===-- Quantized.cpp - aclnn functions of quantized tensors --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string_view>

using namespace atc::ascend;

namespace atc::ascend {

View floatScales(Plan &plan, View scale) {
  if (!plan.isGood())
    return {};
  if (scale.type == ACL_INT64 || scale.type == ACL_UINT64) {
    scale.type = ACL_FLOAT;
    scale.offset *= 2;
    for (int64_t &stride : scale.strides)
      stride *= 2;
  }
  return plan.dense(scale, ACL_FLOAT);
}

View integerProduct(Plan &plan, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  if (left.type != ACL_INT8 || right.type != ACL_INT8 || left.dims.size() < 2 ||
      right.dims.size() < 2) {
    plan.reject("matrices that are quantized must be int8 with 2 dims or more");
    return {};
  }
  auto dims = broadcastDims(Dims(left.dims.begin(), left.dims.end() - 2),
                            Dims(right.dims.begin(), right.dims.end() - 2));
  if (!dims || left.dims.back() != right.dims[right.dims.size() - 2]) {
    plan.reject("%s and %s cannot be multiplied", textOf(left.dims).c_str(),
                textOf(right.dims).c_str());
    return {};
  }
  dims->push_back(left.dims[left.dims.size() - 2]);
  dims->push_back(right.dims.back());
  return plan.apply(dims->size() > 2 ? "BatchMatMulV2" : "MatMulV2",
                    {plan.dense(left, ACL_INT8), plan.dense(right, ACL_INT8)},
                    {{ACL_INT32, *dims}})[0];
}

} // namespace atc::ascend

namespace {

/// Returns the scales of a weight [rows, columns], with a row for each of its groups of rows:
/// [groups, 1, columns].
View scalesOf(Plan &plan, const View &scales, const Dims &weight, int64_t groupSize) {
  if (!plan.isGood())
    return {};
  const int64_t count = countOf(scales.dims);
  const int64_t groups = groupSize > 0 ? (weight[0] + groupSize - 1) / groupSize : 1;
  if (count != 1 && count != groups * weight[1]) {
    plan.reject("scales and offsets must have 1, or %lld x %lld elements", (long long)groups,
                (long long)weight[1]);
    return {};
  }
  const View wide = plan.dense(scales, ACL_FLOAT);
  return plan.reshaped(wide, count == 1 ? Dims{1, 1, 1} : Dims{groups, 1, weight[1]});
}

/// (weight + offset) * scale
View dequantized(Plan &plan, const View &weight, const View &scale, const View &offset,
                 int64_t groupSize) {
  if (plan.isGood() && (weight.dims.size() != 2 || weight.type != ACL_INT8))
    plan.reject("weight must have 2 dims, of int8 or int4");
  if (plan.isGood() && groupSize > 0 && weight.dims[0] % groupSize)
    plan.reject("antiquantGroupSize %lld must divide the %lld rows of the weight",
                (long long)groupSize, (long long)weight.dims[0]);
  const View scales = scalesOf(plan, scale, weight.dims, groupSize);
  const View offsets = offset.memory ? scalesOf(plan, offset, weight.dims, groupSize) : View{};
  if (!plan.isGood())
    return {};
  const int64_t rows = groupSize > 0 ? groupSize : weight.dims[0];
  View values =
      plan.reshaped(plan.dense(weight, ACL_FLOAT), {weight.dims[0] / rows, rows, weight.dims[1]});
  if (offsets.memory)
    values = plan.map("Add", {values, offsets});
  return plan.reshaped(plan.map("Mul", {values, scales}), weight.dims);
}

} // namespace

namespace {

aclnnStatus weightProduct(const char *name, const aclTensor *x, const aclTensor *weight,
                          const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
                          const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
                          const aclTensor *biasOptional, int antiquantGroupSize, const aclTensor *y,
                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View rows = plan.input(x, "x"), matrix = plan.input(weight, "weight"),
             scale = plan.input(antiquantScale, "antiquantScale"),
             offset = plan.input(antiquantOffsetOptional, "antiquantOffset", true),
             bias = plan.input(biasOptional, "bias", true), result = plan.output(y, "y");
  if (quantScaleOptional || quantOffsetOptional)
    plan.reject("quantScale and quantOffset must be NULL: results that are quantized have no "
                "functions here");
  const View values = dequantized(plan, matrix, scale, offset, antiquantGroupSize);
  View out = product(plan, rows, plan.dense(values, rows.type));
  if (bias.memory)
    out = combined(plan, "Add", plan.dense(out, ACL_FLOAT), bias);
  plan.write(out, result);
  return plan.finish(size, executor);
}

/// (x1 x x2 + bias) * scale * scale of the row, + offset where it is quantized again.
aclnnStatus quantizedProduct(const char *name, const char *scaleName, const char *rowScaleName,
                             const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
                             const aclTensor *offset, const aclTensor *rowScale,
                             const aclTensor *bias, bool transposeX1, bool transposeX2,
                             const aclTensor *out, uint64_t *size, aclOpExecutor **executor,
                             bool isBlocked = false) {
  Plan plan(name);
  View left = plan.input(x1, "x1"), right = plan.input(x2, "x2");
  const View factors = plan.input(scale, scaleName), shift = plan.input(offset, "offset", true),
             rows = plan.input(rowScale, rowScaleName, true),
             added = plan.input(bias, "bias", true), y = plan.output(out, "out");
  if (plan.isGood() && (left.type != ACL_INT8 || right.type != ACL_INT8 || left.dims.size() < 2 ||
                        right.dims.size() < 2))
    plan.reject("x1 and x2 must be int8 with 2 dims or more");
  if (plan.isGood() && isBlocked && left.dims.size() != 2 && right.dims.size() == 4)
    plan.reject("x1 %s must have 2 dims where x2 has the 4 of FRACTAL_NZ",
                textOf(left.dims).c_str());
  if (plan.isGood() && isBlocked && right.dims.size() == 4) {
    const int64_t depth = left.dims[transposeX1 ? 0 : 1],
                  width = y.dims.empty() ? 0 : y.dims.back();
    right = unblocked(plan, right, transposeX2 ? width : depth, transposeX2 ? depth : width, "x2");
  }
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto turned = [](const View &view) {
    Dims order(view.dims.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = int64_t(i);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return permuted(view, order);
  };
  if (transposeX1)
    left = turned(left);
  if (transposeX2)
    right = turned(right);
  const int64_t depth = left.dims.back(), count = left.dims[left.dims.size() - 2],
                width = right.dims.back();
  if (right.dims[right.dims.size() - 2] != depth)
    plan.reject("x1 %s%s and x2 %s%s cannot be multiplied", textOf(left.dims).c_str(),
                transposeX1 ? " (transposed)" : "", textOf(right.dims).c_str(),
                transposeX2 ? " (transposed)" : "");
  auto mustHave = [&](const View &view, const char *role, int64_t elements) {
    const int64_t own = view.memory ? countOf(view.dims) : 1;
    if (plan.isGood() && own != 1 && own != elements)
      plan.reject("%s %s must have 1 or %lld elements", role, textOf(view.dims).c_str(),
                  (long long)elements);
  };
  mustHave(factors, scaleName, width);
  mustHave(shift, "offset", width);
  mustHave(rows, rowScaleName, count);
  if (plan.isGood() && added.memory && added.dims.size() && added.dims.back() != 1 &&
      added.dims.back() != width)
    plan.reject("bias %s must have 1 or %lld elements in its last dim", textOf(added.dims).c_str(),
                (long long)width);
  View sums = integerProduct(plan, left, right);
  const bool addsFirst = added.memory && !isFloat(added.type);
  if (addsFirst)
    sums = combined(plan, "Add", sums, added);
  if (y.type != ACL_INT32) {
    sums = combined(plan, "Mul", plan.isGood() ? plan.dense(sums, ACL_FLOAT) : View(),
                    floatScales(plan, factors));
    if (rows.memory && plan.isGood())
      sums = combined(plan, "Mul", sums,
                      plan.reshaped(plan.dense(rows, ACL_FLOAT), {countOf(rows.dims), 1}));
  }
  if (added.memory && !addsFirst)
    sums = combined(plan, "Add", sums, added);
  if (shift.memory)
    sums = combined(plan, "Add", sums, shift);
  if (y.type == ACL_INT8)
    sums = computed(plan, "Round", sums);
  plan.write(sums, y);
  return plan.finish(size, executor);
}

} // namespace

#define ACLNN_WEIGHT_PRODUCT(name, ...)                                                            \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,                \
      const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,               \
      const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize, \
      __VA_ARGS__ const aclTensor *y, uint64_t *size, aclOpExecutor **executor) {                  \
    return weightProduct(__func__, x, weight, antiquantScale, antiquantOffsetOptional,             \
                         quantScaleOptional, quantOffsetOptional, biasOptional,                    \
                         antiquantGroupSize, y, size, executor);                                   \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_WEIGHT_PRODUCT(WeightQuantBatchMatmulV2, )
ACLNN_WEIGHT_PRODUCT(WeightQuantBatchMatmulV3, int, )

aclnnStatus aclnnQuantMatmulV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                               const aclTensor *bias, const aclTensor *deqScale,
                                               bool adjX1, bool adjX2, aclTensor *out,
                                               uint64_t *size, aclOpExecutor **executor) {
  return quantizedProduct(__func__, "deqScale", "pertokenScale", x1, x2, deqScale, nullptr, nullptr,
                          bias, adjX1, adjX2, out, size, executor);
}
ACLNN_RUN(QuantMatmulV2)
aclnnStatus aclnnQuantMatmulV3GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                               const aclTensor *scale, const aclTensor *offset,
                                               const aclTensor *bias, bool transposeX1,
                                               bool transposeX2, const aclTensor *out,
                                               uint64_t *size, aclOpExecutor **executor) {
  return quantizedProduct(__func__, "scale", "pertokenScale", x1, x2, scale, offset, nullptr, bias,
                          transposeX1, transposeX2, out, size, executor);
}
ACLNN_RUN(QuantMatmulV3)
aclnnStatus aclnnQuantMatmulV4GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                               const aclTensor *scale, const aclTensor *offset,
                                               const aclTensor *pertokenScaleOptional,
                                               const aclTensor *bias, bool transposeX1,
                                               bool transposeX2, const aclTensor *out,
                                               uint64_t *size, aclOpExecutor **executor) {
  return quantizedProduct(__func__, "scale", "pertokenScale", x1, x2, scale, offset,
                          pertokenScaleOptional, bias, transposeX1, transposeX2, out, size,
                          executor);
}
ACLNN_RUN(QuantMatmulV4)
#define ACLNN_SCALED_PRODUCT(name, isBlocked)                                                      \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale,                          \
      const aclTensor *x2Scale, const aclTensor *yScale, const aclTensor *x1Offset,                \
      const aclTensor *x2Offset, const aclTensor *yOffset, const aclTensor *bias,                  \
      bool transposeX1, bool transposeX2, int64_t groupSize, aclTensor *out, uint64_t *size,       \
      aclOpExecutor **executor) {                                                                  \
    if (yScale || x1Offset || yOffset || groupSize != 0) {                                         \
      Plan plan(__func__);                                                                         \
      plan.reject("yScale, x1Offset and yOffset must be NULL, and groupSize 0");                   \
      return plan.finish(size, executor);                                                          \
    }                                                                                              \
    return quantizedProduct(__func__, "x2Scale", "x1Scale", x1, x2, x2Scale, x2Offset, x1Scale,    \
                            bias, transposeX1, transposeX2, out, size, executor, isBlocked);       \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_SCALED_PRODUCT(QuantMatmulV5, false)
ACLNN_SCALED_PRODUCT(QuantMatmulWeightNz, true)

/// Marks a word of quantization parameters whose low half is a float.
constexpr uint64_t kFloatMark = uint64_t{1} << 46;

static aclnnStatus packedScales(const char *name, const aclTensor *scale, const aclTensor *offset,
                                int64_t roundMode, const aclTensor *out, uint64_t *size,
                                aclOpExecutor **executor) {
  Plan plan(name);
  const View factors = plan.input(scale, "scale"), y = plan.output(out, "out");
  if (roundMode < 0 || roundMode > 1)
    plan.reject("roundMode is %lld; give 0 or 1", (long long)roundMode);
  if (offset)
    plan.reject("offset must be NULL: products take it as a tensor of its own here");
  if (plan.isGood() && (factors.type != ACL_FLOAT ||
                        (y.type != ACL_UINT64 && y.type != ACL_INT64) || y.dims != factors.dims))
    plan.reject("scale must be float, and out uint64 or int64 with its dims");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View given = plan.dense(factors, ACL_FLOAT), words = plan.make(y.type, y.dims);
  plan.onHost({given, words},
              [count = countOf(y.dims), roundMode](const std::vector<char *> &at) -> aclError {
                for (int64_t i = 0; i < count; ++i) {
                  // A float without its last 13 bits, and a mark that it is one.
                  uint32_t bits = reinterpret_cast<const uint32_t *>(at[0])[i];
                  const bool isFinite = (bits & 0x7F800000) != 0x7F800000;
                  if (roundMode == 1 && isFinite)
                    bits += 0xFFF + (bits >> 13 & 1); // to the nearest, ties to even
                  reinterpret_cast<uint64_t *>(at[1])[i] = (bits & 0xFFFFE000) | kFloatMark;
                }
                return ACL_SUCCESS;
              });
  plan.write(words, y);
  return plan.finish(size, executor);
}

aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize,
                                 const float *offsetArray, uint64_t offsetSize,
                                 uint64_t **quantParam, uint64_t *quantParamSize) {
  if (!scaleArray || !quantParam || !quantParamSize)
    return fail(aclnnIsNull, __func__, "%s is NULL",
                !scaleArray   ? "scaleArray"
                : !quantParam ? "quantParam"
                              : "quantParamSize");
  constexpr uint64_t maxSize = uint64_t{1} << 58;
  if (scaleSize < 1 || scaleSize > maxSize || !offsetArray != !offsetSize ||
      (offsetSize > 1 && scaleSize > 1 && offsetSize != scaleSize) || offsetSize > maxSize)
    return fail(aclnnIsInvalid, __func__,
                "scaleSize %llu must be 1 or more, and offsetSize %llu 0 without offsets, 1, or as "
                "many",
                (unsigned long long)scaleSize, (unsigned long long)offsetSize);
  // One word is for all columns; several are padded to whole blocks of 16.
  const uint64_t count = std::max(scaleSize, offsetSize),
                 size = count == 1 ? 1 : (count + 15) / 16 * 16;
  auto *words = static_cast<uint64_t *>(calloc(size, sizeof(uint64_t))); // the caller calls free
  if (!words)
    return fail(aclnnRuntimeError, __func__, "there is no memory for %llu words",
                (unsigned long long)size);
  for (uint64_t i = 0; i < count; ++i) {
    words[i] = std::bit_cast<uint32_t>(scaleArray[scaleSize > 1 ? i : 0]) | kFloatMark;
    if (offsetArray) {
      const float offset = offsetArray[offsetSize > 1 ? i : 0];
      const auto whole =
          std::isnan(offset) ? 0 : int64_t(std::clamp(std::round(offset), -256.f, 255.f));
      words[i] |= (uint64_t(whole) & 0x1FF) << 37;
    }
  }
  *quantParam = words;
  *quantParamSize = size;
  return ACL_SUCCESS;
}

aclnnStatus aclnnTransQuantParamV2GetWorkspaceSize(const aclTensor *scale, const aclTensor *offset,
                                                   const aclTensor *out, uint64_t *size,
                                                   aclOpExecutor **executor) {
  return packedScales(__func__, scale, offset, 0, out, size, executor);
}
ACLNN_RUN(TransQuantParamV2)
aclnnStatus aclnnTransQuantParamV3GetWorkspaceSize(const aclTensor *scale, const aclTensor *offset,
                                                   int64_t roundMode, const aclTensor *out,
                                                   uint64_t *size, aclOpExecutor **executor) {
  return packedScales(__func__, scale, offset, roundMode, out, size, executor);
}
ACLNN_RUN(TransQuantParamV3)

/// out = (clamp(round(self / scale) + zeroPoint) - zeroPoint) * scale, and where nothing was
/// clamped. Scales are one, or those of an axis.
static aclnnStatus fakeQuantized(const char *name, const aclTensor *self, const aclTensor *scale,
                                 const aclTensor *zeroPoint, std::optional<int64_t> axis,
                                 int64_t quantMin, int64_t quantMax, bool isEnabled, aclTensor *out,
                                 aclTensor *mask, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(self, "self"), scales = plan.input(scale, "scale"),
             zeros = plan.input(zeroPoint, "zeroPoint"), y = plan.output(out, "out"),
             kept = plan.output(mask, "mask");
  if (plan.isGood() && axis && x.dims.empty())
    plan.reject("self must have the dim that axis %lld names; it has none", (long long)*axis);
  const size_t at = axis && plan.isGood() ? size_t(plan.axisOf(*axis, x.dims.size())) : 0;
  const int64_t channels = !axis || !plan.isGood() ? 1 : x.dims.at(at);
  if (quantMin > quantMax)
    plan.reject("quantMin %lld is more than quantMax %lld", (long long)quantMin,
                (long long)quantMax);
  if (plan.isGood() && (countOf(scales.dims) != channels || countOf(zeros.dims) != channels))
    plan.reject("scale %s and zeroPoint %s must have %lld elements", textOf(scales.dims).c_str(),
                textOf(zeros.dims).c_str(), (long long)channels);
  if (!plan.isGood())
    return plan.finish(size, executor);
  int64_t inner = 1;
  for (size_t d = at + 1; axis && d < x.dims.size(); ++d)
    inner *= x.dims[d];
  const View result = plan.make(ACL_FLOAT, x.dims), inside = plan.make(ACL_BOOL, x.dims);
  plan.onHost({plan.dense(x, ACL_FLOAT), plan.dense(scales, ACL_FLOAT),
               plan.dense(zeros, ACL_FLOAT), result, inside},
              [count = countOf(x.dims), inner, channels, isEnabled, min = float(quantMin),
               max = float(quantMax)](const std::vector<char *> &all) -> aclError {
                auto *from = reinterpret_cast<const float *>(all[0]),
                     *factor = reinterpret_cast<const float *>(all[1]),
                     *zero = reinterpret_cast<const float *>(all[2]);
                auto *to = reinterpret_cast<float *>(all[3]);
                for (int64_t i = 0; i < count; ++i) {
                  const int64_t c = i / inner % channels;
                  const float q = std::nearbyint(from[i] / factor[c]) + zero[c];
                  to[i] = isEnabled ? (std::clamp(q, min, max) - zero[c]) * factor[c] : from[i];
                  all[4][i] = !isEnabled || (q >= min && q <= max);
                }
                return ACL_SUCCESS;
              });
  plan.write(result, y);
  plan.write(inside, kept);
  return plan.finish(size, executor);
}

aclnnStatus aclnnFakeQuantPerTensorAffineCachemaskGetWorkspaceSize(
    const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint,
    float fakeQuantEnbled, int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask,
    uint64_t *size, aclOpExecutor **executor) {
  return fakeQuantized(__func__, self, scale, zeroPoint, std::nullopt, quantMin, quantMax,
                       fakeQuantEnbled >= 1, out, mask, size, executor);
}
ACLNN_RUN(FakeQuantPerTensorAffineCachemask)
aclnnStatus aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(
    const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint, int64_t axis,
    int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask, uint64_t *size,
    aclOpExecutor **executor) {
  return fakeQuantized(__func__, self, scale, zeroPoint, axis, quantMin, quantMax, true, out, mask,
                       size, executor);
}
ACLNN_RUN(FakeQuantPerChannelAffineCachemask)

static View restored(Plan &plan, const View &x, const View &scale, const View &offset,
                     bool isSquared) {
  View values = plan.isGood() ? plan.dense(x, ACL_FLOAT) : View();
  if (offset.memory)
    values = combined(plan, "Add", values, offset);
  values = combined(plan, "Mul", values, scale);
  return isSquared ? combined(plan, "Mul", values, scale) : values;
}
ACLNN_FUNCTION(AscendAntiQuant,
               (const aclTensor *x, const aclTensor *scale, const aclTensor *offset, int64_t,
                bool sqrtMode, const aclTensor *y),
               y, restored(plan, IN(x), IN(scale), plan.input(offset, "offset", true), sqrtMode))

/// Quantizes elements by the extrema of rows, of columns or of all: from -127 to 127, or, where
/// there are offsets, such that the least one becomes -128 and the largest 127.
static aclnnStatus
quantizeByExtrema(const char *name, const aclTensor *x, const aclTensor *smoothScalesOptional,
                  const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical,
                  const char *quantMode, const aclTensor *yOut, const aclTensor *scaleOut,
                  const aclTensor *offsetOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View given = plan.input(x, "x"),
             smooth = plan.input(smoothScalesOptional, "smoothScales", true),
             y = plan.output(yOut, "yOut"), scales = plan.output(scaleOut, "scaleOut"),
             offsets = plan.output(offsetOut, "offsetOut", true);
  if (groupIndexOptional || dstType != ACL_INT8)
    plan.reject("groupIndex must be NULL, and dstType 2 (int8)");
  const std::string_view mode = quantMode && *quantMode ? quantMode : "pertoken";
  const auto rank = int64_t(given.dims.size());
  Dims axes;
  if (mode == "pertoken")
    axes = {rank - 1};
  else if (mode == "perchannel")
    axes = {rank - 2};
  else if (mode == "pertensor")
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  else
    plan.reject("quantMode must be pertoken, pertensor or perchannel");
  if (plan.isGood() && (given.dims.empty() || axes[0] < 0 || y.type != ACL_INT8))
    plan.reject("x must have a dim, two of them with quantMode perchannel, and yOut be of int8");
  // There are no extrema of nothing.
  if (!plan.isGood() || countOf(given.dims) == 0)
    return plan.finish(size, executor);
  View values = plan.dense(given, ACL_FLOAT);
  if (smooth.memory)
    values = combined(plan, "Mul", values, smooth);
  if (isSymmetrical) {
    const View largest =
        reduced(plan, "ReduceMaxD", unary(plan, "Abs", values), axes, true, ACL_FLOAT);
    const View scale = withNumber(plan, "RealDiv", largest, 127);
    plan.write(computed(plan, "Round", combined(plan, "RealDiv", values, scale)), y);
    writeOptional(plan, scale, scales);
    return plan.finish(size, executor);
  }
  const View high = reduced(plan, "ReduceMaxD", values, axes, true, ACL_FLOAT);
  const View low = reduced(plan, "ReduceMinD", values, axes, true, ACL_FLOAT);
  const View scale = withNumber(plan, "RealDiv", combined(plan, "Sub", high, low), 255);
  const View offset =
      combined(plan, "Sub", plan.constant(127, ACL_FLOAT), combined(plan, "RealDiv", high, scale));
  plan.write(computed(plan, "Round",
                      combined(plan, "Add", combined(plan, "RealDiv", values, scale), offset)),
             y);
  writeOptional(plan, scale, scales);
  writeOptional(plan, offset, offsets);
  return plan.finish(size, executor);
}
aclnnStatus aclnnDynamicQuantGetWorkspaceSize(const aclTensor *x,
                                              const aclTensor *smoothScalesOptional,
                                              const aclTensor *yOut, const aclTensor *scaleOut,
                                              uint64_t *size, aclOpExecutor **executor) {
  return quantizeByExtrema(__func__, x, smoothScalesOptional, nullptr, ACL_INT8, true, nullptr,
                           yOut, scaleOut, nullptr, size, executor);
}
ACLNN_RUN(DynamicQuant)

aclnnStatus aclnnDynamicQuantV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional,
    int64_t dstType, const aclTensor *yOut, const aclTensor *scaleOut, const aclTensor *offsetOut,
    uint64_t *size, aclOpExecutor **executor) {
  return quantizeByExtrema(__func__, x, smoothScalesOptional, groupIndexOptional, dstType,
                           !offsetOut, nullptr, yOut, scaleOut, offsetOut, size, executor);
}
ACLNN_RUN(DynamicQuantV2)

aclnnStatus aclnnDynamicQuantV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional,
    int64_t dstType, bool isSymmetrical, const char *quantMode, const aclTensor *yOut,
    const aclTensor *scaleOut, const aclTensor *offsetOut, uint64_t *size,
    aclOpExecutor **executor) {
  return quantizeByExtrema(__func__, x, smoothScalesOptional, groupIndexOptional, dstType,
                           isSymmetrical, quantMode, yOut, scaleOut, offsetOut, size, executor);
}
ACLNN_RUN(DynamicQuantV3)

static aclnnStatus quantizePlan(const char *function, const aclTensor *x, const aclTensor *scale,
                                const aclTensor *offset, bool sqrtMode, const char *roundMode,
                                int32_t dstType, int32_t axis, const aclTensor *y, uint64_t *size,
                                aclOpExecutor **executor) {
  Plan plan(function);
  const View given = plan.input(x, "x"), result = plan.output(y, "y");
  View factor = plan.input(scale, "scale"), added = plan.input(offset, "offset", true);
  const auto rank = static_cast<int64_t>(given.dims.size());
  const int64_t along = plan.isGood() && rank > 0 ? plan.axisOf(axis, given.dims.size()) : -1;
  if (plan.isGood() && rank > 0 && along < rank - 2)
    plan.reject("axis is %d; it must be the last one, or the one before", int(axis));
  // Vectors lie along the axis, which the last dim is without this.
  for (View *vector : {&factor, &added})
    if (plan.isGood() && vector->memory && vector->dims.size() == 1 && along == rank - 2)
      *vector = plan.reshaped(plan.dense(*vector, vector->type), {vector->dims[0], 1});
  static constexpr std::pair<std::string_view, const char *> modes[] = {
      {"round", "Round"}, {"floor", "Floor"}, {"ceil", "Ceil"}, {"trunc", nullptr}};
  const std::string_view mode = roundMode && *roundMode ? roundMode : "round";
  const auto *found = std::find_if(std::begin(modes), std::end(modes),
                                   [&](const auto &row) { return row.first == mode; });
  if (found == std::end(modes))
    plan.reject("roundMode must be round, floor, ceil or trunc");
  if (dstType != ACL_INT8 || (plan.isGood() && result.type != ACL_INT8))
    plan.reject("dstType is %d; it must be 2, and y of int8", int(dstType));
  View values = combined(plan, "Mul", plan.dense(given, ACL_FLOAT), factor);
  if (sqrtMode)
    values = combined(plan, "Mul", values, factor);
  if (added.memory)
    values = combined(plan, "Add", values, added);
  if (plan.isGood() && found->second)
    values = computed(plan, found->second, values);
  // The conversion itself cuts digits and clamps to the type.
  plan.write(values, result);
  return plan.finish(size, executor);
}

aclnnStatus aclnnAscendQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale,
                                             const aclTensor *offset, bool sqrtMode,
                                             const char *roundMode, int32_t dstType,
                                             const aclTensor *y, uint64_t *size,
                                             aclOpExecutor **executor) {
  return quantizePlan(__func__, x, scale, offset, sqrtMode, roundMode, dstType, -1, y, size,
                      executor);
}
ACLNN_RUN(AscendQuant)

aclnnStatus aclnnAscendQuantV3GetWorkspaceSize(const aclTensor *x, const aclTensor *scale,
                                               const aclTensor *offset, bool sqrtMode,
                                               const char *roundMode, int32_t dstType, int32_t axis,
                                               const aclTensor *y, uint64_t *size,
                                               aclOpExecutor **executor) {
  return quantizePlan(__func__, x, scale, offset, sqrtMode, roundMode, dstType, axis, y, size,
                      executor);
}
ACLNN_RUN(AscendQuantV3)
