//===-- Elementwise.cpp - aclnn functions of each element ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/operators/Cast.h"

#include "aclnnop/aclnn_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace atc::ascend;

namespace atc::ascend {

/// Returns the order of types from narrow to wide; 0 for what is none of numbers.
static int widthOf(aclDataType type) {
  static constexpr aclDataType order[] = {ACL_BOOL,  ACL_UINT8,  ACL_INT8,  ACL_INT16,  ACL_UINT16,
                                          ACL_INT32, ACL_UINT32, ACL_INT64, ACL_UINT64, ACL_FLOAT16,
                                          ACL_BF16,  ACL_FLOAT,  ACL_DOUBLE};
  auto *found = std::find(std::begin(order), std::end(order), type);
  return found == std::end(order) ? 0 : int(found - std::begin(order)) + 1;
}

aclDataType promoted(aclDataType left, aclDataType right) {
  if (left == right)
    return left;
  // Neither of these two holds the values of the other.
  if (std::min(left, right) == ACL_FLOAT16 && std::max(left, right) == ACL_BF16)
    return ACL_FLOAT;
  if (std::min(left, right) == ACL_INT8 && std::max(left, right) == ACL_UINT8)
    return ACL_INT16;
  return widthOf(left) < widthOf(right) ? right : left;
}

bool isFloat(aclDataType type) {
  return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16 || type == ACL_DOUBLE;
}

aclDataType floatOf(aclDataType type) { return isFloat(type) ? type : ACL_FLOAT; }

std::optional<Dims> broadcastDims(const Dims &left, const Dims &right) {
  Dims dims(std::max(left.size(), right.size()), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t l = i < left.size() ? left[left.size() - 1 - i] : 1;
    const int64_t r = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (l != r && l != 1 && r != 1)
      return std::nullopt;
    dims[dims.size() - 1 - i] = l == 1 ? r : l;
  }
  return dims;
}

View added(Plan &plan, const char *op, const View &self, const View &first, const View &second,
           double value) {
  return sum(plan, "Add", self, combined(plan, op, first, second), value);
}

View computed(Plan &plan, const char *op, const View &self, const Json &attributes) {
  if (!plan.isGood())
    return {};
  const aclDataType type = floatOf(self.type);
  const View given = plan.dense(self, type);
  return plan.apply(op, {given}, {{type, self.dims}}, attributes)[0];
}

View unary(Plan &plan, std::string_view name, const View &self) {
  if (!plan.isGood())
    return {};
  if (name == "Abs" && self.type == ACL_COMPLEX64) {
    // Neither of the squares leaves float32: the larger part is taken out of the root.
    const View a = unary(plan, "Abs", partOfComplex(plan, self, false, "self")),
               b = unary(plan, "Abs", partOfComplex(plan, self, true, "self"));
    const View large = combined(plan, "Maximum", a, b);
    const View divisor = combined(plan, "Maximum", large, plan.constant(1e-45, ACL_FLOAT));
    const View ratio = combined(plan, "RealDiv", combined(plan, "Minimum", a, b), divisor);
    const View root = combined(
        plan, "Mul", large,
        computed(plan, "Sqrt", withNumber(plan, "Add", combined(plan, "Mul", ratio, ratio), 1)));
    if (!plan.isGood())
      return {};
    // An infinite part decides, whatever the other one is; else one that is NaN does.
    const View infinite = plan.constant(INFINITY, ACL_FLOAT), both = combined(plan, "Add", a, b);
    const View known =
        chosen(plan, comparison(plan, "Ge", both, plan.constant(0, ACL_FLOAT)), root, both);
    return chosen(plan, comparison(plan, "Eq", a, infinite), infinite,
                  chosen(plan, comparison(plan, "Eq", b, infinite), infinite, known));
  }
  // Exact for integers, too; the other functions of integers are floats.
  const bool keepsType =
      name == "Abs" || name == "Neg" || name == "Relu" || name == "Sign" || name == "LogicalNot";
  if (name == "LogicalNot") {
    const View truth = plan.dense(self, ACL_BOOL);
    return plan.apply("LogicalNot", {truth}, {{ACL_BOOL, self.dims}})[0];
  }
  if (keepsType && !isFloat(self.type))
    return plan.apply(std::string(name).c_str(), {plan.dense(self, self.type)},
                      {{self.type, self.dims}})[0];
  if (!isFloat(self.type) && (name == "Ceil" || name == "Floor" || name == "Round"))
    return self;
  if (name == "Hardswish")
    return computed(plan, "HardSwish", self);
  if (name == "Silu")
    return computed(plan, "Swish", self, Json::array({floatAttribute("scale", 1)}));
  if (name == "Log2" || name == "Log10") {
    const View logs = computed(plan, "Log", self);
    return plan.map("Mul",
                    {logs, plan.constant(1 / std::log(name == "Log2" ? 2.0 : 10.0), logs.type)});
  }
  if (name == "Gelu") { // x * (1 + erf(x / sqrt 2)) / 2
    const View x = plan.dense(self, floatOf(self.type));
    auto times = [&](const View &left, double right) {
      return plan.map("Mul", {left, plan.constant(right, x.type)});
    };
    const View erf = computed(plan, "Erf", times(x, std::sqrt(0.5)));
    return plan.map("Mul", {times(x, 0.5), plan.map("Add", {erf, plan.constant(1, x.type)})});
  }
  if (name == "Hardsigmoid") { // clamp(x / 6 + 1 / 2, 0, 1)
    View x = plan.dense(self, floatOf(self.type));
    x = plan.map("Mul", {x, plan.constant(1 / 6.0, x.type)});
    x = plan.map("Add", {x, plan.constant(0.5, x.type)});
    x = plan.map("Maximum", {x, plan.constant(0, x.type)});
    return plan.map("Minimum", {x, plan.constant(1, x.type)});
  }
  return computed(plan, std::string(name).c_str(), self);
}

View sum(Plan &plan, const char *op, const View &left, const View &right, double alpha) {
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(left.type, right.type);
  View scaled = plan.dense(right, type);
  if (alpha != 1)
    scaled = plan.map("Mul", {scaled, plan.constant(alpha, type)});
  return plan.map(op, {plan.dense(left, type), scaled});
}

View times(Plan &plan, const View &left, const View &right) {
  return combined(plan, "Mul", left, right, true);
}

View constantLike(Plan &plan, double value, const View &like) {
  return plan.isGood() ? plan.constant(value, floatOf(like.type)) : View();
}

View combined(Plan &plan, const char *op, const View &left, const View &right, bool asFloat) {
  if (!plan.isGood())
    return {};
  aclDataType type = promoted(left.type, right.type);
  if (asFloat)
    type = floatOf(type);
  return plan.map(op, {plan.dense(left, type), plan.dense(right, type)});
}

View withNumber(Plan &plan, const char *op, const View &self, double number) {
  if (!plan.isGood())
    return {};
  const View x = plan.dense(self, floatOf(self.type));
  return plan.map(op, {x, plan.constant(number, x.type)});
}

/// Returns whether a type has the value of a scalar: floats round it, but must not make it
/// infinite.
static bool holds(aclDataType type, const Scalar &scalar) {
  Scalar kept{type};
  CastPlan{scalar.type, type, 1}.run(scalar.bytes, kept.bytes);
  if (isFloat(type))
    return !std::isinf(kept.value()) || std::isinf(scalar.value());
  Scalar back{scalar.type};
  CastPlan{type, scalar.type, 1}.run(kept.bytes, back.bytes);
  // -1 comes back from an unsigned type of its width.
  return memcmp(back.bytes, scalar.bytes, sizeof(back.bytes)) == 0 &&
         (scalar.value() < 0) == (kept.value() < 0);
}

View scalarLike(Plan &plan, const aclScalar *handle, const char *name, const View &like) {
  const auto scalar = plan.scalar(handle, name);
  return plan.isGood() ? scalarLike(plan, *scalar, like) : View();
}

View scalarLike(Plan &plan, const Scalar &scalar, const View &like) {
  if (isFloat(like.type))
    return plan.constant(scalar, holds(like.type, scalar) ? like.type : ACL_FLOAT);
  const double value = scalar.value();
  if (value != std::trunc(value))
    return plan.constant(value, ACL_FLOAT);
  // The number 1 makes a number of a truth: true + 1 is 2.
  const bool isOfTruth = like.type == ACL_BOOL && scalar.type != ACL_BOOL;
  for (aclDataType type : {like.type, ACL_INT32, ACL_INT64}) {
    const bool isWide = promoted(like.type, type) == type && !(isOfTruth && type == ACL_BOOL);
    if (isWide && holds(type, scalar))
      return plan.constant(scalar, type);
  }
  return plan.constant(value, ACL_DOUBLE);
}

View scalarOf(Plan &plan, const aclScalar *handle, const char *name, aclDataType type) {
  const auto scalar = plan.scalar(handle, name);
  return plan.isGood() ? plan.constant(*scalar, type) : View();
}

View comparison(Plan &plan, std::string_view name, const View &left, const View &right) {
  static constexpr std::pair<std::string_view, const char *> operators[] = {
      {"Eq", "Equal"},     {"Ne", "NotEqual"}, {"Lt", "Less"},
      {"Le", "LessEqual"}, {"Gt", "Greater"},  {"Ge", "GreaterEqual"}};
  if (!plan.isGood())
    return {};
  const char *op = operators[0].second;
  for (auto [known, own] : operators)
    if (known == name)
      op = own;
  const aclDataType type = promoted(left.type, right.type);
  auto dims = broadcastDims(left.dims, right.dims);
  if (!dims) {
    plan.reject("self and other have dims that cannot be combined");
    return {};
  }
  return plan.apply(op, {plan.dense(left, type), plan.dense(right, type)}, {{ACL_BOOL, *dims}})[0];
}

View chosen(Plan &plan, const View &condition, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(left.type, right.type);
  auto both = broadcastDims(left.dims, right.dims);
  auto dims = both ? broadcastDims(condition.dims, *both) : both;
  if (!dims) {
    plan.reject("condition, self and other have dims that cannot be combined");
    return {};
  }
  auto wide = [&](const View &view, aclDataType own) {
    return plan.dense(plan.broadcast(view, *dims), own);
  };
  return plan.apply("SelectV2", {wide(condition, ACL_BOOL), wide(left, type), wide(right, type)},
                    {{type, *dims}})[0];
}

} // namespace atc::ascend

namespace {

aclnnStatus unaryPlan(const char *function, const char *name, const aclTensor *self,
                      const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  plan.write(unary(plan, name, x), y);
  return plan.finish(size, executor);
}

/// Computes the truth of both, or of one of two tensors.
View logical(Plan &plan, const char *op, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  return plan.map(op, {plan.dense(left, ACL_BOOL), plan.dense(right, ACL_BOOL)});
}

View clamped(Plan &plan, View x, const aclScalar *low, const aclScalar *high) {
  if (low)
    x = combined(plan, "Maximum", x, scalarLike(plan, low, "clipValueMin", x));
  if (high)
    x = combined(plan, "Minimum", x, scalarLike(plan, high, "clipValueMax", x));
  return x;
}

} // namespace

#define ACLNN_UNARY(name)                                                                          \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *size, \
                                            aclOpExecutor **executor) {                            \
    return unaryPlan(__func__, #name, self, out, size, executor);                                  \
  }                                                                                                \
  ACLNN_RUN(name)
#define ACLNN_INPLACE(name)                                                                        \
  aclnnStatus aclnnInplace##name##GetWorkspaceSize(aclTensor *selfRef, uint64_t *size,             \
                                                   aclOpExecutor **executor) {                     \
    return unaryPlan(__func__, #name, selfRef, selfRef, size, executor);                           \
  }                                                                                                \
  ACLNN_RUN(Inplace##name)
OPENATC_ACLNN_UNARIES(ACLNN_UNARY)
OPENATC_ACLNN_UNARIES(ACLNN_INPLACE)
ACLNN_UNARY(Gelu)
ACLNN_UNARY(LogicalNot)
ACLNN_INPLACE(LogicalNot)
ACLNN_UNARY(Sign)
ACLNN_UNARY(Silu)

ACLNN_FUNCTION(LeakyRelu, (const aclTensor *self, const aclScalar *negativeSlope, aclTensor *out),
               out,
               computed(plan, "LeakyRelu", IN(self),
                        Json::array({floatAttribute("negative_slope",
                                                    plan.number(negativeSlope, "negativeSlope"))})))

ACLNN_FUNCTION(Clamp,
               (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
                aclTensor *out),
               out, clamped(plan, IN(self), clipValueMin, clipValueMax))
ACLNN_FUNCTION(ClampMin, (const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out),
               out, clamped(plan, IN(self), clipValueMin, nullptr))
ACLNN_FUNCTION(ClampMax, (const aclTensor *self, const aclScalar *clipValueMax, aclTensor *out),
               out, clamped(plan, IN(self), nullptr, clipValueMax))

#define ACLNN_SUM(name, op)                                                                        \
  ACLNN_FUNCTION(                                                                                  \
      name,                                                                                        \
      (const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out),     \
      out, sum(plan, op, IN(self), IN(other), plan.number(alpha, "alpha")))                        \
  ACLNN_FUNCTION(Inplace##name,                                                                    \
                 (aclTensor * selfRef, const aclTensor *other, const aclScalar *alpha), selfRef,   \
                 sum(plan, op, IN(selfRef), IN(other), plan.number(alpha, "alpha")))
#define ACLNN_SUM_SCALAR(name, op)                                                                 \
  ACLNN_FUNCTION(                                                                                  \
      name,                                                                                        \
      (const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out),     \
      out, sumScalar(plan, op, IN(self), other, alpha))                                            \
  ACLNN_FUNCTION(Inplace##name,                                                                    \
                 (aclTensor * selfRef, const aclScalar *other, const aclScalar *alpha), selfRef,   \
                 sumScalar(plan, op, IN(selfRef), other, alpha))
static View sumScalar(Plan &plan, const char *op, const View &self, const aclScalar *other,
                      const aclScalar *alpha) {
  return sum(plan, op, self, scalarLike(plan, other, "other", self), plan.number(alpha, "alpha"));
}
ACLNN_SUM(Add, "Add")
ACLNN_SUM_SCALAR(Adds, "Add")
ACLNN_SUM(Sub, "Sub")
ACLNN_SUM_SCALAR(Subs, "Sub")

#define ACLNN_BINARY(name, op, asFloat)                                                            \
  ACLNN_FUNCTION(name, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,       \
                 combined(plan, op, IN(self), IN(other), asFloat))
#define ACLNN_INPLACE_BINARY(name, op, asFloat)                                                    \
  ACLNN_FUNCTION(Inplace##name, (aclTensor * selfRef, const aclTensor *other), selfRef,            \
                 combined(plan, op, IN(selfRef), IN(other), asFloat))
#define ACLNN_SCALAR(name, op, asFloat)                                                            \
  ACLNN_FUNCTION(name, (const aclTensor *self, const aclScalar *other, aclTensor *out), out,       \
                 withScalar(plan, op, IN(self), other, asFloat))                                   \
  ACLNN_FUNCTION(Inplace##name, (aclTensor * selfRef, const aclScalar *other), selfRef,            \
                 withScalar(plan, op, IN(selfRef), other, asFloat))
static View withScalar(Plan &plan, const char *op, const View &self, const aclScalar *other,
                       bool asFloat) {
  return combined(plan, op, self, scalarLike(plan, other, "other", self), asFloat);
}
ACLNN_BINARY(Mul, "Mul", false)
ACLNN_INPLACE_BINARY(Mul, "Mul", false)
ACLNN_SCALAR(Muls, "Mul", false)
ACLNN_BINARY(Div, "RealDiv", true)
ACLNN_INPLACE_BINARY(Div, "RealDiv", true)
ACLNN_SCALAR(Divs, "RealDiv", true)
ACLNN_BINARY(Maximum, "Maximum", false)
ACLNN_BINARY(Minimum, "Minimum", false)

ACLNN_FUNCTION(LogicalAnd, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               logical(plan, "LogicalAnd", IN(self), IN(other)))
ACLNN_FUNCTION(LogicalOr, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               logical(plan, "LogicalOr", IN(self), IN(other)))
ACLNN_FUNCTION(InplaceLogicalAnd, (aclTensor * selfRef, const aclTensor *other), selfRef,
               logical(plan, "LogicalAnd", IN(selfRef), IN(other)))
ACLNN_FUNCTION(InplaceLogicalOr, (aclTensor * selfRef, const aclTensor *other), selfRef,
               logical(plan, "LogicalOr", IN(selfRef), IN(other)))

static View compareScalar(Plan &plan, const char *name, const View &self, const aclScalar *other) {
  return comparison(plan, name, self, scalarLike(plan, other, "other", self));
}
#define ACLNN_COMPARISON(name)                                                                     \
  ACLNN_FUNCTION(name##Tensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),    \
                 out, comparison(plan, #name, IN(self), IN(other)))                                \
  ACLNN_FUNCTION(name##Scalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),    \
                 out, compareScalar(plan, #name, IN(self), other))                                 \
  ACLNN_FUNCTION(Inplace##name##Tensor, (aclTensor * selfRef, const aclTensor *other), selfRef,    \
                 comparison(plan, #name, IN(selfRef), IN(other)))                                  \
  ACLNN_FUNCTION(Inplace##name##Scalar, (aclTensor * selfRef, const aclScalar *other), selfRef,    \
                 compareScalar(plan, #name, IN(selfRef), other))
OPENATC_ACLNN_COMPARISONS(ACLNN_COMPARISON)

ACLNN_FUNCTION(SWhere,
               (const aclTensor *condition, const aclTensor *self, const aclTensor *other,
                aclTensor *out),
               out, chosen(plan, IN(condition), IN(self), IN(other)))

ACLNN_FUNCTION(Addcmul,
               (const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2,
                const aclScalar *value, aclTensor *out),
               out,
               added(plan, "Mul", IN(self), IN(tensor1), IN(tensor2), plan.number(value, "value")))
ACLNN_FUNCTION(Addcdiv,
               (const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2,
                const aclScalar *value, aclTensor *out),
               out,
               added(plan, "RealDiv", IN(self), IN(tensor1), IN(tensor2),
                     plan.number(value, "value")))
static View lerp(Plan &plan, const View &self, const View &end, double weight) {
  return sum(plan, "Add", self, sum(plan, "Sub", end, self, 1), weight);
}
ACLNN_FUNCTION(Lerps,
               (const aclTensor *self, const aclTensor *end, const aclScalar *weight,
                aclTensor *out),
               out, lerp(plan, IN(self), IN(end), plan.number(weight, "weight")))
ACLNN_FUNCTION(InplaceLerps, (aclTensor * selfRef, const aclTensor *end, const aclScalar *weight),
               selfRef, lerp(plan, IN(selfRef), IN(end), plan.number(weight, "weight")))
