//===-- ExpandAttention.cpp - attention as products and a softmax ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host kernel of attention keeps the scores in its cache. A target without host kernels has code
// for the products between which they are, and for the rotation of queries and keys.

#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/AttentionOps.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDATTENTION
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Replaces a call of static shapes by graph ops. Returns the reason why it stays; empty: it was
/// replaced.
class AttentionExpander {
public:
  explicit AttentionExpander(HostCallOp call) : call(call), ops(call), inputs(inputsOf(call, 9)) {}

  StringRef run() {
    const StringRef kernel = call.getKernel();
    return kernel == "Attention"             ? standard()
           : kernel == "GroupQueryAttention" ? expandGroupQuery(call)
           : kernel == "MultiHeadAttention"  ? multiHead()
           : kernel == "MsAttention"         ? projected()
           : kernel == "RotaryEmbedding"     ? rotary()
                                             : cachedRotary();
  }

private:
  bool isUsed(unsigned result) {
    return result < call.getNumResults() && !call.getResult(result).use_empty();
  }
  double scaleOf(Value q) {
    const double asked = numberOf(call, "scale", 0);
    return asked != 0 ? asked : 1 / std::sqrt(double(shapeOf(q).back()));
  }

  /// Appends new positions to those of the past, if there is one.
  Value appended(Value past, Value x) {
    return past && shapeOf(past)[2] ? ops.concat({past, x}, 2) : x;
  }

  StringRef standard() {
    Value q = inputs[0], k = inputs[1], v = inputs[2], mask = inputs[3];
    if (inputs[6] || isUsed(3))
      return "lengths of sequences are an input, or its scores are read";
    if (integerOf(call, "left_window_size", -1) >= 0 ||
        integerOf(call, "right_window_size", -1) >= 0)
      return "it has a window";
    const bool packed = shapeOf(q).size() == 3;
    if ((shapeOf(k).size() == 3) != packed || (shapeOf(v).size() == 3) != packed)
      return "its inputs have several layouts";
    if (packed) {
      q = splitHeads(ops, q, integerOf(call, "q_num_heads", 1));
      k = splitHeads(ops, k, integerOf(call, "kv_num_heads", 1));
      v = splitHeads(ops, v, integerOf(call, "kv_num_heads", 1));
    }
    Scores s;
    s.q = q;
    s.scale = call.getParameters().get("scale") ? numberOf(call, "scale", 1) : scaleOf(q);
    s.softcap = numberOf(call, "softcap", 0);
    s.k = appended(inputs[4], k);
    s.v = appended(inputs[5], v);
    s.causal = integerOf(call, "is_causal", 0);
    s.before = inputs[4] ? shapeOf(inputs[4])[2] : 0;
    if (mask && shapeOf(mask).back() != shapeOf(s.k)[2])
      return "its mask is shorter than the keys";
    if (mask)
      (graph::getTensorType(mask).getElementType().isInteger(1) ? s.allowed : s.added) = mask;
    Value result = attend(ops, s);
    ops.replace(1, s.k);
    ops.replace(2, s.v);
    ops.replace(0, packed ? joinHeads(ops, result) : result);
    return {};
  }

  StringRef multiHead() {
    Value q = inputs[0], k = inputs[1], v = inputs[2], bias = inputs[3];
    const int64_t heads = integerOf(call, "num_heads", 1);
    if (shapeOf(q).size() != 3 || !k || !v || shapeOf(k).size() == 5)
      return "its projections are packed";
    if (inputs[4])
      return "its padding is an input";
    const bool isSplit = shapeOf(k).size() == 4;
    if (bias) {
      const int64_t hidden = shapeOf(q)[2], width = shapeOf(bias)[0];
      q = ops.add(q, ops.slice(bias, 0, 0, hidden));
      k = ops.add(k, ops.slice(bias, 0, hidden, hidden));
      v = ops.add(v, ops.slice(bias, 0, 2 * hidden, width - 2 * hidden));
    }
    Scores s;
    s.q = splitHeads(ops, q, heads);
    s.k = appended(inputs[6], isSplit ? k : splitHeads(ops, k, heads));
    s.v = appended(inputs[7], isSplit ? v : splitHeads(ops, v, heads));
    if (StringRef why = finish(s, inputs[5]); !why.empty())
      return why;
    ops.replace(1, s.k);
    ops.replace(2, s.v);
    return {};
  }

  /// Finishes an attention of com.microsoft.
  StringRef finish(Scores &s, Value added) {
    const int64_t queries = shapeOf(s.q)[2], keys = shapeOf(s.k)[2];
    Value past = call.getKernel() == "MultiHeadAttention" ? inputs[6] : Value();
    s.scale = scaleOf(s.q);
    s.added = s.added && added ? ops.add(s.added, added) : s.added ? s.added : added;
    s.causal = integerOf(call, "unidirectional", 0);
    s.before = past ? shapeOf(past)[2] : 0;
    if (s.causal && keys != s.before + queries)
      return "its queries and keys are not the same positions";
    if (added && shapeOf(added).back() != keys)
      return "its addend is longer than the keys";
    ops.replace(0, joinHeads(ops, attend(ops, s)));
    return {};
  }

  /// Queries, keys and values are columns of one projection.
  StringRef projected() {
    Value x = inputs[0], weights = inputs[1], bias = inputs[2], mask = inputs[3];
    if (inputs[4] || isUsed(1))
      return "it has a cache";
    const int64_t heads = integerOf(call, "num_heads", 1), columns = shapeOf(weights)[1],
                  batch = shapeOf(x)[0], length = shapeOf(x)[1];
    ArrayRef<int64_t> sizes = integersOf(call, "qkv_hidden_sizes");
    const int64_t hidden = sizes.empty() ? columns / 3 : sizes[0];
    const size_t maskRank = mask ? shapeOf(mask).size() : 0;
    if (maskRank > 3 || (maskRank == 1 && shapeOf(mask)[0] != batch))
      return "its mask has a form without an op";
    Value all = ops.product(x, weights);
    if (bias)
      all = ops.add(all, bias);
    Scores s;
    s.q = splitHeads(ops, ops.slice(all, 2, 0, hidden), heads);
    s.k = splitHeads(ops, ops.slice(all, 2, hidden, hidden), heads);
    s.v = splitHeads(ops, ops.slice(all, 2, 2 * hidden, columns - 2 * hidden), heads);
    if (mask) {
      Type integer = graph::getTensorType(mask).getElementType();
      SmallVector<double> positions;
      for (int64_t i = 0; i < length; ++i)
        positions.push_back(double(i));
      Value seen =
          maskRank == 1 // lengths of sequences
              ? ops.isGreater(ops.reshape(mask, {batch, 1, 1, 1}),
                              ops.constant({1, 1, 1, length}, integer, positions))
              : ops.isGreater(ops.reshape(mask, {batch, 1, maskRank == 3 ? length : 1, length}),
                              ops.number(0, mask));
      s.added = ops.where(seen, ops.number(0, x),
                          ops.number(numberOf(call, "mask_filter_value", -10000), x));
    }
    return finish(s, inputs[5]);
  }

  StringRef rotate(int64_t heads, Value cosines, Value sines, bool interleaved) {
    Value x = inputs[0];
    const bool packed = shapeOf(x).size() == 3;
    const int64_t half = shapeOf(cosines).back();
    Value result =
        turnPairs(ops, packed ? splitHeads(ops, x, heads) : x, cosines, sines, half, interleaved);
    ops.replace(0, packed ? joinHeads(ops, result) : result);
    return {};
  }

  StringRef rotary() {
    if (inputs[3])
      return "its tables are read by positions";
    SmallVector<int64_t> shape(shapeOf(inputs[1]));
    shape.insert(shape.begin() + 1, 1);
    return rotate(integerOf(call, "num_heads", 1), ops.reshape(inputs[1], shape),
                  ops.reshape(inputs[2], shape), integerOf(call, "interleaved", 0));
  }

  /// Rows of the tables, which begin at a known position.
  StringRef cachedRotary() {
    std::optional<double> first = graph::getScalarConstant(inputs[1]);
    if (shapeOf(inputs[1]).size() != 1 || !first || *first < 0)
      return "its positions are not known";
    const bool packed = shapeOf(inputs[0]).size() == 3;
    const int64_t length = shapeOf(inputs[0])[packed ? 1 : 2], half = shapeOf(inputs[2])[1],
                  stated = integerOf(call, "num_heads", 0),
                  asked = integerOf(call, "rotary_embedding_dim", 0);
    const int64_t heads = stated ? stated : packed ? shapeOf(inputs[0])[2] / (2 * half) : 1;
    const int64_t size = packed ? shapeOf(inputs[0])[2] / heads : shapeOf(inputs[0])[3];
    const int64_t rotated = asked ? asked : size;
    if (int64_t(*first) + length > shapeOf(inputs[2])[0] || rotated / 2 > half)
      return "its tables are too short";
    auto rows = [&](Value table) {
      Value own = ops.slice(ops.slice(table, 0, int64_t(*first), length), 1, 0, rotated / 2);
      return ops.reshape(own, {1, 1, length, rotated / 2});
    };
    return rotate(heads, rows(inputs[2]), rows(inputs[3]), integerOf(call, "interleaved", 0));
  }

  HostCallOp call;
  CallOps ops;
  SmallVector<Value> inputs;
};

struct HostExpandAttention : impl::HostExpandAttentionBase<HostExpandAttention> {
  using HostExpandAttentionBase::HostExpandAttentionBase;

  void runOnOperation() override {
    static constexpr StringLiteral kernels[] = {"Attention",          "GroupQueryAttention",
                                                "MsAttention",        "MsRotaryEmbedding",
                                                "MultiHeadAttention", "RotaryEmbedding"};
    // A cache holds nothing before the first step.
    numExpanded += expandCalls(
        getOperation(), getArgument(), kernels, "products and maps",
        [](HostCallOp call) { return AttentionExpander(call).run(); }, /*emptyInputs=*/true);
  }
};

} // namespace
} // namespace atc::host
