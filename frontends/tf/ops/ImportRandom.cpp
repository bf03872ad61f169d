//===-- ImportRandom.cpp - random tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of a seed that is an input are those of TensorFlow. Where the state is TensorFlow's own,
// each run draws new ones of the same distribution.

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

//===----------------------------------------------------------------------===//
// Of a state
//===----------------------------------------------------------------------===//

/// Returns a tensor of type `element` of the shape that input 0 states.
Value shapedLike(NodeContext &n, Type element) {
  Value shape = n.input(0);
  if (n.failed())
    return {};
  ElementsAttr known;
  if (matchPattern(shape, m_Constant(&known)))
    return n.fill(readInts(known), n.scalar(0, element));
  Value like = n.callHost("Expand", {n.scalar(0, element), indexVector(n, shape)});
  if (NodeContext::isStatic(shape) && n.rank(shape) == 1)
    return withKnownDims(n, like, SmallVector<int64_t>(n.shape(shape)[0], ShapedType::kDynamic), 0);
  return like;
}

Value drawn(NodeContext &n, Value like, bool isNormal) {
  return n.callHost(isNormal ? "RandomNormalLike" : "RandomUniformLike", {like});
}

template <int isNormal> void importDrawn(NodeContext &n) {
  const Type element = n.typeAttr("dtype", pb::DT_FLOAT);
  n.setOutput(drawn(n, shapedLike(n, element), isNormal));
}

/// A number of the part of the normal distribution within two deviations is the quantile of a
/// uniform one.
void importTruncated(NodeContext &n) {
  constexpr double below = 0.022750131948179207; // the normal distribution up to -2
  const Type element = n.typeAttr("dtype", pb::DT_FLOAT);
  TensorMath m(n);
  Value like = shapedLike(n, n.builder().getF32Type());
  Value part = m.add(m.mul(drawn(n, like, false), m.real(1 - 2 * below)), m.real(below));
  if (!n.failed())
    n.setOutput(n.cast(n.callHost("Ndtri", {part}), element));
}

void importIntegers(NodeContext &n) {
  Value min = n.input(1), max = n.input(2);
  if (n.failed())
    return;
  const Type wide = n.builder().getF64Type(), element = NodeContext::elementType(min);
  TensorMath m(n);
  Value low = n.cast(min, wide), range = m.sub(n.cast(max, wide), low);
  Value number = m.floor(m.mul(drawn(n, shapedLike(n, wide), false), range));
  n.setOutput(m.add(min, n.cast(m.min(number, m.sub(range, n.scalar(1, wide))), element)));
}

void importShuffle(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  TensorMath m(n);
  Value count = m.shapeOf({m.dim(input, 0)});
  Value keys =
      drawn(n, n.callHost("Expand", {n.scalar(0, n.builder().getF64Type()), count}), false);
  SmallVector<Value> ordered =
      n.callHost(graph::HostCall{"TopK", {keys, count}, n.builder().getDictionaryAttr({}), 2});
  if (ordered.empty())
    return;
  Value result = m.gather(input, ordered[1], 0);
  if (NodeContext::hasRank(input))
    result = withKnownDims(n, result, n.shape(input), 1);
  n.setOutput(result);
}

void importMultinomial(NodeContext &n) {
  Value logits = n.input(0);
  const int64_t samples = n.constantInt(1);
  const Type element = n.typeAttr("output_dtype", pb::DT_INT64);
  if (!n.failed())
    n.setOutput(n.callHost(
        "Multinomial", {logits},
        {n.hostInts("sample_size", {samples}), n.hostInts("dtype", {graph::dtypeOf(element)})}));
}

//===----------------------------------------------------------------------===//
// Of a seed
//===----------------------------------------------------------------------===//

enum class Form { Uniform, Normal, Truncated, Integers, AnyIntegers };

/// Returns the key and the counter of the seed that input `index` holds.
SmallVector<Value> keyOf(NodeContext &n, unsigned index) {
  Value seed = n.input(index);
  if (n.failed())
    return {};
  return n.callHost(graph::HostCall{"PhiloxKey", {seed}, n.builder().getDictionaryAttr({}), 2});
}

/// Inputs are the shape and the seed, or with `hasKey` key, counter and algorithm, and then the
/// bounds of integers.
template <Form form, bool hasKey> void importSeeded(NodeContext &n) {
  Value shape = n.input(0);
  const Type element = n.typeAttr("dtype", form == Form::AnyIntegers ? pb::DT_UINT64
                                           : form == Form::Integers  ? pb::DT_INT32
                                                                     : pb::DT_FLOAT);
  SmallVector<Value> keys;
  if (hasKey) {
    // 1 is Philox, 3 is what TensorFlow selects, on a CPU the same.
    const int64_t algorithm = n.constantInt(3);
    if (!n.failed() && algorithm != 1 && algorithm != 3)
      return n.failInput(3, "is " + Twine(algorithm) + ", expected 1 (Philox) or 3");
    keys = {n.input(1), n.input(2)};
  } else {
    keys = keyOf(n, 1);
  }
  if (n.failed() || keys.empty())
    return;
  SmallVector<Value> inputs{indexVector(n, shape), keys[0], keys[1]};
  if (form == Form::Integers)
    for (unsigned bound : {0u, 1u})
      inputs.push_back(n.input((hasKey ? 4 : 2) + bound));
  const StringRef name = form == Form::Normal      ? "normal"
                         : form == Form::Truncated ? "truncated"
                                                   : "uniform";
  Value result = n.callHost(
      "PhiloxRandom", inputs,
      {n.hostText("distribution", name), n.hostInts("dtype", {graph::dtypeOf(element)})});
  if (NodeContext::isStatic(shape) && n.rank(shape) == 1)
    result =
        withKnownDims(n, result, SmallVector<int64_t>(n.shape(shape)[0], ShapedType::kDynamic), 0);
  n.setOutput(result);
}

/// Outputs: the key, the counter and, where it is asked for, the algorithm.
template <bool withAlgorithm> void importKeyCounter(NodeContext &n) {
  for (auto [index, value] : llvm::enumerate(keyOf(n, 0)))
    n.setOutput(index, value);
  if (withAlgorithm)
    n.setOutput(2, n.scalar(1, n.builder().getI32Type()));
}

void importAlgorithm(NodeContext &n) { n.setOutput(n.scalar(1, n.builder().getI32Type())); }

} // namespace

ArrayRef<OpRow> randomRows() {
  static constexpr llvm::StringLiteral ofState = "new numbers in each run";
  static const OpRow rows[] = {
      {"Multinomial", importMultinomial, ofState},
      {"RandomShuffle", importShuffle, ofState},
      {"RandomStandardNormal", importDrawn<1>, ofState},
      {"RandomUniform", importDrawn<0>, ofState},
      {"RandomUniformInt", importIntegers, ofState},
      {"StatelessRandomGetAlg", importAlgorithm},
      {"StatelessRandomGetKeyCounter", importKeyCounter<false>},
      {"StatelessRandomGetKeyCounterAlg", importKeyCounter<true>},
      {"StatelessRandomNormal", importSeeded<Form::Normal, false>},
      {"StatelessRandomNormalV2", importSeeded<Form::Normal, true>},
      {"StatelessRandomUniform", importSeeded<Form::Uniform, false>},
      {"StatelessRandomUniformFullInt", importSeeded<Form::AnyIntegers, false>},
      {"StatelessRandomUniformFullIntV2", importSeeded<Form::AnyIntegers, true>},
      {"StatelessRandomUniformInt", importSeeded<Form::Integers, false>},
      {"StatelessRandomUniformIntV2", importSeeded<Form::Integers, true>},
      {"StatelessRandomUniformV2", importSeeded<Form::Uniform, true>},
      {"StatelessTruncatedNormal", importSeeded<Form::Truncated, false>},
      {"StatelessTruncatedNormalV2", importSeeded<Form::Truncated, true>},
      {"TruncatedNormal", importTruncated, ofState},
  };
  return rows;
}

} // namespace atc::tf_import
