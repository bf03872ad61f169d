//===-- Recurrent.cpp - aclnn functions of recurrent networks -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine, in float64: each step reads the one before.
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace {

/// The values of each step that a layer keeps for the gradient, in the order of LSTM's arguments.
enum KeptGate { kInput, kCell, kForget, kOutput, kHidden, kState, kTanhState, kNumKept };
/// Where the addresses of a run are: these, then the parameters, then what is kept.
enum RunAddress {
  kGiven,
  kFirstHidden,
  kFirstState,
  kSizes,
  kResult,
  kLastHidden,
  kLastState,
  kParams
};

struct LstmShape {
  int64_t steps = 0, batch = 0, width = 0, hidden = 0, layers = 0, directions = 1;
  bool hasBias = false, isPacked = false, keeps = false;

  int64_t runs() const { return layers * directions; }
  size_t paramsPerRun() const { return hasBias ? 4 : 2; }
  size_t params() const { return size_t(runs()) * paramsPerRun(); }
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Runs one direction of a layer: reads `given`, [steps, batch, width], and writes its part of
/// `result`, [steps, batch, directions * hidden].
void runLayer(const LstmShape &shape, int64_t layer, int64_t direction, const double *given,
              int64_t width, const std::vector<char *> &at, double *result) {
  const int64_t run = layer * shape.directions + direction, hidden = shape.hidden;
  auto doubles = [&](size_t index) { return reinterpret_cast<double *>(at[index]); };
  const size_t param = kParams + size_t(run) * shape.paramsPerRun();
  const double *ofInput = doubles(param), *ofHidden = doubles(param + 1);
  const double *biases[] = {shape.hasBias ? doubles(param + 2) : nullptr,
                            shape.hasBias ? doubles(param + 3) : nullptr};
  auto *sizes = reinterpret_cast<const int64_t *>(at[kSizes]);
  double *kept[kNumKept] = {};
  for (size_t k = 0; shape.keeps && k < kNumKept; ++k)
    kept[k] = doubles(kParams + shape.params() + k * size_t(shape.runs()) + size_t(run));
  const int64_t first = run * shape.batch * hidden;
  double *h = doubles(kLastHidden) + first, *c = doubles(kLastState) + first;
  std::copy_n(doubles(kFirstHidden) + first, shape.batch * hidden, h);
  std::copy_n(doubles(kFirstState) + first, shape.batch * hidden, c);
  std::vector<double> sums(size_t(4 * hidden));
  for (int64_t i = 0; i < shape.steps; ++i) {
    const int64_t step = direction ? shape.steps - 1 - i : i;
    // Shorter sequences are at the end of the batch.
    for (int64_t b = 0; b < (shape.isPacked ? sizes[step] : shape.batch); ++b) {
      const double *x = given + (step * shape.batch + b) * width;
      double *state = c + b * hidden, *last = h + b * hidden;
      for (int64_t j = 0; j < 4 * hidden; ++j) {
        double sum = shape.hasBias ? biases[0][j] + biases[1][j] : 0;
        for (int64_t k = 0; k < width; ++k)
          sum += ofInput[j * width + k] * x[k];
        for (int64_t k = 0; k < hidden; ++k)
          sum += ofHidden[j * hidden + k] * last[k];
        sums[size_t(j)] = sum;
      }
      for (int64_t j = 0; j < hidden; ++j) {
        const double in = logistic(sums[size_t(j)]), forget = logistic(sums[size_t(hidden + j)]),
                     cell = std::tanh(sums[size_t(2 * hidden + j)]),
                     out = logistic(sums[size_t(3 * hidden + j)]);
        state[j] = forget * state[j] + in * cell;
        const double curved = std::tanh(state[j]);
        last[j] = out * curved;
        result[((step * shape.batch + b) * shape.directions + direction) * hidden + j] = last[j];
        const double values[kNumKept] = {in, cell, forget, out, last[j], state[j], curved};
        for (size_t k = 0; shape.keeps && k < kNumKept; ++k)
          kept[k][(step * shape.batch + b) * hidden + j] = values[k];
      }
    }
  }
}

aclError runLstm(const LstmShape &shape, const std::vector<char *> &at) {
  auto *sizes = reinterpret_cast<const int64_t *>(at[kSizes]);
  for (int64_t i = 0; shape.isPacked && i < shape.steps; ++i)
    if (sizes[i] < 1 || sizes[i] > (i ? sizes[i - 1] : shape.batch) ||
        (i == 0 && sizes[i] != shape.batch))
      return ACL_ERROR_INVALID_PARAM;
  for (size_t i = kParams + shape.params(); i < at.size(); ++i)
    std::fill_n(reinterpret_cast<double *>(at[i]), shape.steps * shape.batch * shape.hidden, 0.);
  const size_t count = size_t(shape.steps * shape.batch * shape.directions * shape.hidden);
  std::vector<double> given, result;
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    result.assign(count, 0);
    for (int64_t direction = 0; direction < shape.directions; ++direction)
      runLayer(shape, layer, direction,
               layer ? given.data() : reinterpret_cast<const double *>(at[kGiven]),
               layer ? shape.directions * shape.hidden : shape.width, at, result.data());
    given = result;
  }
  std::copy(result.begin(), result.end(), reinterpret_cast<double *>(at[kResult]));
  return ACL_SUCCESS;
}

/// Checks the parameters, whose second one says how many hidden elements there are.
bool areLstmParams(Plan &plan, LstmShape &shape, const std::vector<View> &params) {
  if (plan.isGood() && params.size() != shape.params())
    plan.reject("params has %zu tensors; %lld layers have %zu here", params.size(),
                (long long)shape.layers, shape.params());
  if (plan.isGood() && (params[1].dims.size() != 2 || params[1].dims[1] == 0))
    plan.reject("params[1] %s must be [4 * hidden, hidden]", textOf(params[1].dims).c_str());
  if (!plan.isGood())
    return false;
  shape.hidden = params[1].dims[1];
  for (size_t i = 0; i < params.size(); ++i) {
    const size_t kind = i % shape.paramsPerRun(), run = i / shape.paramsPerRun();
    Dims want = {4 * shape.hidden};
    if (kind == 0)
      want.push_back(run < size_t(shape.directions) ? shape.width
                                                    : shape.directions * shape.hidden);
    else if (kind == 1)
      want.push_back(shape.hidden);
    if (params[i].dims != want)
      plan.reject("params[%zu] %s must be %s", i, textOf(params[i].dims).c_str(),
                  textOf(want).c_str());
  }
  return plan.isGood();
}

} // namespace

aclnnStatus aclnnLSTMGetWorkspaceSize(const aclTensor *input, const aclTensorList *params,
                                      const aclTensorList *hx, const aclTensor *batchSizes,
                                      bool hasBias, int64_t numLayers, double dropout, bool train,
                                      bool bidirectional, bool batchFirst, aclTensor *output,
                                      aclTensor *hy, aclTensor *cy, aclTensorList *iOut,
                                      aclTensorList *jOut, aclTensorList *fOut, aclTensorList *oOut,
                                      aclTensorList *hOut, aclTensorList *cOut,
                                      aclTensorList *tanhCOut, uint64_t *size,
                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  View x = IN(input), sizes = plan.input(batchSizes, "batchSizes", true);
  const std::vector<View> weights = plan.inputs(params, "params"),
                          first = hx ? plan.inputs(hx, "hx") : std::vector<View>();
  const View y = plan.output(output, "output"), lastHidden = plan.output(hy, "hy"),
             lastState = plan.output(cy, "cy");
  LstmShape shape;
  shape.layers = numLayers;
  shape.directions = bidirectional ? 2 : 1;
  shape.hasBias = hasBias;
  shape.isPacked = bool(sizes.memory);
  shape.keeps = train;
  plan.checkCount(numLayers, "numLayers");
  if (plan.isGood() && (numLayers < 1 || (dropout != 0 && train && numLayers > 1)))
    plan.reject("numLayers %lld must be positive, and dropout %g be 0", (long long)numLayers,
                dropout);
  const bool turns = batchFirst && !shape.isPacked;
  if (plan.isGood() && shape.isPacked && x.dims.size() == 2 && countOf(sizes.dims) > 0 &&
      x.dims[0] % countOf(sizes.dims) == 0)
    x = plan.reshaped(plan.dense(x, x.type),
                      {countOf(sizes.dims), x.dims[0] / countOf(sizes.dims), x.dims[1]});
  if (plan.isGood() && (x.dims.size() != 3 || countOf(x.dims) == 0 || !isFloat(x.type) ||
                        (shape.isPacked && (sizes.dims.size() != 1 || isFloat(sizes.type) ||
                                            sizes.dims[0] != x.dims[0]))))
    plan.reject("input %s must be floats of 3 dims, none of them 0, or [steps * batch, width] with "
                "batchSizes %s [steps]",
                textOf(x.dims).c_str(), textOf(sizes.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  if (turns)
    x = permuted(x, {1, 0, 2});
  shape.steps = x.dims[0];
  shape.batch = x.dims[1];
  shape.width = x.dims[2];
  if (!areLstmParams(plan, shape, weights))
    return plan.finish(size, executor);
  const Dims states = {shape.runs(), shape.batch, shape.hidden};
  if (!first.empty() && (first.size() != 2 || first[0].dims != states || first[1].dims != states))
    plan.reject("hx must be 2 tensors of %s", textOf(states).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View zero = plan.dense(plan.broadcast(plan.constant(0, ACL_DOUBLE), states), ACL_DOUBLE),
             result =
                 plan.make(ACL_DOUBLE, {shape.steps, shape.batch, shape.directions * shape.hidden}),
             hidden = plan.make(ACL_DOUBLE, states), state = plan.make(ACL_DOUBLE, states);
  auto given = [&](size_t i) { return first.empty() ? zero : plan.dense(first[i], ACL_DOUBLE); };
  std::vector<View> views = {plan.dense(x, ACL_DOUBLE),
                             given(0),
                             given(1),
                             shape.isPacked ? plan.dense(sizes, ACL_INT64) : zero,
                             result,
                             hidden,
                             state};
  for (const View &weight : weights)
    views.push_back(plan.dense(weight, ACL_DOUBLE));
  const std::pair<aclTensorList *, const char *> lists[kNumKept] = {
      {iOut, "iOut"}, {jOut, "jOut"}, {fOut, "fOut"},        {oOut, "oOut"},
      {hOut, "hOut"}, {cOut, "cOut"}, {tanhCOut, "tanhCOut"}};
  std::vector<std::pair<View, View>> kept;
  if (train)
    for (const auto &[list, name] : lists) {
      const std::vector<View> items = plan.outputs(list, name);
      if (plan.isGood() && items.size() != size_t(shape.runs()))
        plan.reject("%s has %zu tensors, and must have %lld: one per layer and direction", name,
                    items.size(), (long long)shape.runs());
      if (!plan.isGood())
        return plan.finish(size, executor);
      for (const View &item : items) {
        views.push_back(plan.make(ACL_DOUBLE, {shape.steps, shape.batch, shape.hidden}));
        kept.emplace_back(views.back(), item);
      }
    }
  if (!plan.isGood())
    return plan.finish(size, executor);
  plan.onHost(views, [shape](const std::vector<char *> &at) { return runLstm(shape, at); });
  plan.write(turns ? permuted(result, {1, 0, 2}) : result, y);
  plan.write(hidden, lastHidden);
  plan.write(state, lastState);
  for (const auto &[from, to] : kept)
    plan.write(from, to);
  return plan.finish(size, executor);
}
ACLNN_RUN(LSTM)
