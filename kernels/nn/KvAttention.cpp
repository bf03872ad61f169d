//===-- KvAttention.cpp - Attention of ONNX over a cache ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of ONNX in f32 without its rarer outputs. The past may be f16 or bf16, and so is the
// cache then. With mask_broadcast the mask is the addend of an Add: one column stands for all keys.

#include "kernels/core/Math.h"
#include "kernels/nn/CachedAttention.h"

namespace atc::kernels {

namespace {
/// Parts of the attribute "swapped": queries, keys and values, and the result, are [batch,
/// positions, heads, size]. host-fuse-attention sets them.
constexpr int64_t kSwappedQueries = 1, kSwappedKeys = 2, kSwappedResult = 4;

/// Reads the sizes of an operand, which is [batch, positions, heads, size] where `isSwapped` and it
/// has rank 4. Returns false where the call has failed.
bool findHeads(Context &c, Heads &heads, Tensor x, const char *count, bool isSwapped) {
  if (!isSwapped || x.rank() != 4)
    return heads.find(c, x, count);
  heads.batch = x.dim(0);
  heads.heads = x.dim(1);
  heads.length = x.dim(2);
  heads.size = x.dim(3);
  heads.swapMiddle();
  return heads.heads >= 1 || (c.fail("% heads of % elements", heads.heads, heads.size), false);
}

/// Reads the sizes, the attributes and the mask. Returns false where the call has failed.
bool findOperands(Context &c, CachedAttention &p) {
  const int64_t swapped = c.integer("swapped", 0);
  const bool swapsKeys = swapped & kSwappedKeys && c.in(1).rank() == c.in(2).rank();
  if (!findHeads(c, p.q, c.in(0), "q_num_heads", swapped & kSwappedQueries) ||
      !findHeads(c, p.k, c.in(1), "kv_num_heads", swapsKeys) ||
      !findHeads(c, p.v, c.in(2), "kv_num_heads", swapsKeys))
    return false;
  if (p.q.batch != p.k.batch || p.k.batch != p.v.batch || p.k.heads != p.v.heads ||
      p.q.heads % p.k.heads || p.k.length != p.v.length || p.q.size != p.k.size)
    return c.fail("queries (batch %, % heads of %), keys (batch %, % heads of %) and values do not "
                  "fit",
                  p.q.batch, p.q.heads, p.q.size, p.k.batch, p.k.heads, p.k.size),
           false;
  const Tensor pastK = c.in(4), pastV = c.in(5);
  if (bool(pastK) != bool(pastV))
    return c.fail("past_key and past_value go together"), false;
  if (pastK) {
    p.before = pastK.dim(2);
    if (!(pastK.dims() == Dims(p.k.batch, p.k.heads, p.before, p.k.size)) ||
        !(pastV.dims() == Dims(p.k.batch, p.k.heads, p.before, p.v.size)))
      return c.fail("past_key or past_value do not fit a batch of %, % heads of %, % positions",
                    p.k.batch, p.k.heads, p.k.size, p.before),
             false;
    if (pastK.dtype() != pastV.dtype())
      return c.fail("past_key and past_value have different types"), false;
  }
  p.total = p.before + p.k.length;
  p.scale = float(c.number("scale", p.q.size ? 1 / math::sqrt(double(p.q.size)) : 1));
  p.softcap = float(c.number("softcap", 0));
  p.causal = c.integer("is_causal", 0);
  if (!p.mask.find(c, Dims(p.q.batch, p.q.heads, p.q.length, p.total)))
    return false;
  // A mask with one column adds the same number to all scores of a row, which does not change their
  // softmax.
  if (p.mask.tensor && c.integer("mask_broadcast", 0) && p.mask.columns == 1 && p.total != 1)
    p.mask.tensor = Tensor();
  return !p.mask.tensor || !c.integer("mask_broadcast", 0) || p.mask.columns == p.total ||
         (c.fail("a mask of % columns for % keys", p.mask.columns, p.total), false);
}
} // namespace

ATC_KERNEL(KvAttention) {
  CachedAttention p;
  if (!findOperands(*this, p))
    return;
  const Tensor q = in(0), k = in(1), v = in(2);
  Heads result = p.q;
  result.size = p.v.size;
  const bool isSwapped = q.rank() == 4 && integer("swapped", 0) & kSwappedResult;
  result.packed = q.rank() == 3 || isSwapped;
  const Dims shape = q.rank() == 3 ? Dims(p.q.batch, p.q.length, p.q.heads * p.v.size)
                     : isSwapped   ? Dims(p.q.batch, p.q.length, p.q.heads, p.v.size)
                                   : Dims(p.q.batch, p.q.heads, p.q.length, p.v.size);
  float *y = make<float>(0, F32, shape);
  // Where only shapes are inferred, all outputs are asked for before any is written, and any input
  // may have no elements.
  if (!q.known() || !k.known() || !v.known() || (in(3) && !in(3).known()) ||
      (p.before && (!in(4).known() || !in(5).known()))) {
    const uint8_t type = in(4) ? in(4).dtype() : uint8_t(F32);
    if (y && wants(1) && !makeBytes(1, type, Dims(p.k.batch, p.k.heads, p.total, p.k.size)))
      return;
    if (y && wants(2))
      makeBytes(2, type, Dims(p.k.batch, p.k.heads, p.total, p.v.size));
    return;
  }
  if (!y || !p.keys.make(*this, call, 1, in(4), k, p.k, p.before) ||
      !p.values.make(*this, call, 2, in(5), v, p.v, p.before))
    return;
  p.keys.fill(*this, call, in(4), k, p.k, p.before);
  p.values.fill(*this, call, in(5), v, p.v, p.before);
  if (p.q.length * p.q.batch == 0 || p.v.size == 0)
    return;
  if (const Tensor mask = p.mask.tensor; mask && mask.dtype() == Bool)
    p.allowed = mask.as<uint8_t>();
  else if (mask)
    p.bias = mask.as<float>();
  p.run(*this, q.as<float>(), y, result);
}

} // namespace atc::kernels
