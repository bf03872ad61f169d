//===-- AttentionKeys.cpp - keys in blocks or integers, sequences -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cstring>

using namespace atc::ascend;

namespace {

/// Returns a cache as [blocks, heads, block size, width]. A cache of 3 dims is [blocks, block size,
/// heads * width], one of 4 dims has the heads in front of the elements of a block or behind.
View blocksOf(Plan &plan, const View &cache, const Attention &given, int64_t blockSize,
              const char *name) {
  View view = cache;
  const int64_t heads = given.keyHeads;
  const size_t rank = cache.dims.size();
  if (plan.isGood() && rank == 3 && cache.dims[1] == blockSize && cache.dims[2] % heads == 0) {
    const int64_t width = cache.dims[2] / heads;
    view.dims = {cache.dims[0], blockSize, heads, width};
    view.strides = {cache.strides[0], cache.strides[1], width * cache.strides[2], cache.strides[2]};
    return permuted(view, {0, 2, 1, 3});
  }
  const bool isBehind = rank == 4 && cache.dims[1] == blockSize && cache.dims[2] == heads;
  const bool isFront = rank == 4 && cache.dims[1] == heads && cache.dims[2] == blockSize;
  // Where both fit, the query tells.
  if (isBehind && (!isFront || given.layout == "BSND"))
    return permuted(view, {0, 2, 1, 3});
  if (plan.isGood() && !isFront)
    plan.reject("%s %s must be [blocks, %lld, heads * width], [blocks, heads, %lld, width] or "
                "[blocks, %lld, heads, width] with %lld heads",
                name, textOf(cache.dims).c_str(), (long long)blockSize, (long long)blockSize,
                (long long)blockSize, (long long)heads);
  return view;
}

/// Puts the blocks of each batch together: [batch, heads, tokens, width]. What no length covers is
/// 0.
View joinedBlocks(Plan &plan, const View &blocks, const View &table, const Dims &lengths) {
  if (!plan.isGood())
    return {};
  const int64_t count = blocks.dims[0], heads = blocks.dims[1], size = blocks.dims[2],
                width = blocks.dims[3], batches = table.dims[0], columns = table.dims[1];
  const View from = plan.dense(blocks, blocks.type), positions = plan.dense(table, ACL_INT64),
             result = plan.make(blocks.type, {batches, heads, columns * size, width});
  const int64_t row = width * int64_t(bitsOf(blocks.type) / 8);
  plan.onHost({from, positions, result}, [=](const std::vector<char *> &at) -> aclError {
    memset(at[2], 0, size_t(batches * heads * columns * size * row));
    for (int64_t batch = 0; batch < batches; ++batch) {
      const int64_t length = lengths[lengths.size() == 1 ? 0 : size_t(batch)];
      for (int64_t start = 0; start < length; start += size) {
        const int64_t column = start / size;
        const int64_t block = reinterpret_cast<const int64_t *>(at[1])[batch * columns + column];
        if (block < 0 || block >= count)
          return fail(ACL_ERROR_INVALID_PARAM, "aclnn attention",
                      "blockTable has %lld for block %lld of batch %lld; there are %lld blocks",
                      (long long)block, (long long)column, (long long)batch, (long long)count);
        for (int64_t head = 0; head < heads; ++head)
          memcpy(at[2] + ((batch * heads + head) * columns * size + start) * row,
                 at[0] + (block * heads + head) * size * row,
                 size_t(std::min(size, length - start) * row));
      }
    }
    return ACL_SUCCESS;
  });
  return result;
}

/// Returns a scale or an offset as floats that combine with [batch, heads, tokens, width]. As many
/// numbers may be those of channels or of tokens; then the mode tells.
View factorsOf(Plan &plan, const View &factors, const View &x, int64_t mode, const char *name) {
  if (!plan.isGood())
    return {};
  const int64_t count = countOf(factors.dims), batch = x.dims[0], heads = x.dims[1],
                tokens = x.dims[2], width = x.dims[3];
  const View numbers = plan.dense(factors, ACL_FLOAT);
  if (count == 1)
    return plan.reshaped(numbers, {1, 1, 1, 1});
  if (mode != 1 && count == heads * width)
    return plan.reshaped(numbers, {1, heads, 1, width});
  if (mode != 0 && factors.dims.back() >= tokens && count == batch * factors.dims.back()) {
    View own = plan.reshaped(numbers, {batch, 1, factors.dims.back(), 1});
    return part(own, 2, 0, tokens);
  }
  plan.reject("%s %s must have 1 element, %lld of heads and width (antiquant mode 0), or "
              "[%lld, %lld] of tokens (mode 1)",
              name, textOf(factors.dims).c_str(), (long long)(heads * width), (long long)batch,
              (long long)tokens);
  return {};
}

/// Returns a key or value as [batch, heads, tokens, width] of floats.
View scaledKeys(Plan &plan, const View &x, const Antiquant &antiquant, aclDataType type,
                const char *name) {
  const bool isWhole = plan.isGood() && !isFloat(x.type);
  if (isWhole && !antiquant.scale.memory)
    plan.reject("%s is of integers: give an antiquant scale", name);
  if (plan.isGood() && !isWhole && antiquant.isGiven())
    plan.reject("%s is not of integers: its antiquant scale and offset must be NULL", name);
  if (!plan.isGood() || !isWhole)
    return x;
  View result = plan.dense(x, ACL_FLOAT);
  if (antiquant.offset.memory)
    result = combined(plan, "Add", result,
                      factorsOf(plan, antiquant.offset, x, antiquant.mode, "the antiquant offset"));
  result = combined(plan, "Mul", result,
                    factorsOf(plan, antiquant.scale, x, antiquant.mode, "the antiquant scale"));
  return plan.isGood() ? plan.dense(result, type) : View();
}

/// Returns [batch, heads, tokens, width] with the tokens of a prefix, [1, heads, tokens, width], in
/// front of those of each batch.
View behindPrefix(Plan &plan, const View &x, const View &prefix, const Attention &given,
                  int64_t length, const char *name) {
  const View front = headsOf(plan, prefix, given.layout, given.keyHeads, name);
  if (plan.isGood() && (front.dims[0] != 1 || front.dims[3] != x.dims[3] || front.type != x.type ||
                        length < 0 || length > front.dims[2]))
    plan.reject("%s %s must have one batch, the width and the type of the keys, and "
                "actualSharedPrefixLen be at most its %lld rows",
                name, textOf(prefix.dims).c_str(), (long long)front.dims[2]);
  if (!plan.isGood())
    return {};
  const View whole = plan.make(x.type, {x.dims[0], x.dims[1], length + x.dims[2], x.dims[3]});
  plan.copy(plan.broadcast(part(front, 2, 0, length), {x.dims[0], x.dims[1], length, x.dims[3]}),
            part(whole, 2, 0, length));
  plan.copy(x, part(whole, 2, length, x.dims[2]));
  return whole;
}

/// Moves the tokens of each batch, behind which `padding` others lie, to the begin.
View withoutPadding(Plan &plan, const View &x, const Dims &lengths, int64_t padding) {
  if (!plan.isGood())
    return {};
  const View moved = plan.make(x.type, x.dims), zero = plan.constant(0, x.type);
  for (int64_t batch = 0; plan.isGood() && batch < x.dims[0]; ++batch) {
    const int64_t length = lengths[size_t(batch)];
    const View from = part(x, 0, batch, 1), to = part(moved, 0, batch, 1);
    if (length > 0)
      plan.copy(part(from, 2, x.dims[2] - padding - length, length), part(to, 2, 0, length));
    // What is behind them is hidden, and must be a number.
    if (length < x.dims[2])
      plan.copy(plan.broadcast(zero, {1, x.dims[1], x.dims[2] - length, x.dims[3]}),
                part(to, 2, length, x.dims[2] - length));
  }
  return moved;
}

/// Sets the lengths of keys behind which `padding` others lie, one per batch: where they do not
/// fit, there are none.
void setPaddedLengths(Plan &plan, Attention &attention, const View &key, int64_t padding) {
  if (!plan.isGood())
    return;
  const int64_t batches = key.dims[0], tokens = key.dims[2];
  Dims &lengths = attention.lengths;
  if (attention.mask.memory || attention.shift.memory)
    plan.reject("attenMask and pseShift must be NULL with kvPaddingSize");
  if (lengths.size() == 1)
    lengths.assign(size_t(batches), lengths[0]);
  if (int64_t(lengths.size()) != batches)
    plan.reject("actualSeqLengthsKv must have 1 or %lld numbers", (long long)batches);
  for (int64_t &length : lengths)
    if (length < 0 || length > tokens)
      plan.reject("actualSeqLengthsKv has %lld; there are %lld rows", (long long)length,
                  (long long)tokens);
    else if (padding > tokens - length)
      length = 0;
}

void checkEnds(Plan &plan, const Dims &ends, int64_t count, const char *name) {
  if (plan.isGood() && (ends.empty() || !std::is_sorted(ends.begin(), ends.end()) || ends[0] < 0 ||
                        ends.back() != count))
    plan.reject("%s must say where each sequence ends: rising numbers, the last of which is %lld",
                name, (long long)count);
}

} // namespace

namespace atc::ascend {

View withRope(Plan &plan, const View &x, const View &rope, int64_t heads, bool areJoined,
              const char *name) {
  if (!plan.isGood())
    return {};
  if (x.dims.size() != rope.dims.size() || x.dims.size() < 3 || x.type != rope.type ||
      !isFloat(x.type) || !std::equal(x.dims.begin(), x.dims.end() - 1, rope.dims.begin()) ||
      (areJoined && (heads < 1 || x.dims.back() % heads || rope.dims.back() % heads))) {
    plan.reject("%s %s and its rope %s must be of one float type and differ in their last dim only",
                name, textOf(x.dims).c_str(), textOf(rope.dims).c_str());
    return {};
  }
  const auto headed = [&](const View &view) {
    const View whole = plan.dense(view, view.type);
    Dims dims = view.dims;
    dims.back() /= heads;
    dims.insert(dims.end() - 1, heads);
    return areJoined ? plan.reshaped(whole, dims) : whole;
  };
  const View left = headed(x), right = headed(rope);
  Dims dims = left.dims;
  const size_t last = dims.size() - 1;
  dims[last] += right.dims[last];
  const View both = plan.make(x.type, dims);
  plan.copy(left, part(both, last, 0, left.dims[last]));
  plan.copy(right, part(both, last, left.dims[last], right.dims[last]));
  Dims shown = x.dims;
  shown.back() += rope.dims.back();
  return plan.reshaped(both, shown);
}

void completeKeys(Plan &plan, Attention &attention, const View &blockTable, int64_t blockSize,
                  const Antiquant &ofKey, const Antiquant &ofValue, const Prefix &prefix,
                  const View &padding) {
  const bool isWhole = plan.isGood() && !isFloat(attention.key.type);
  if (!plan.isGood() ||
      (!blockTable.memory && !isWhole && isFloat(attention.value.type) && !ofKey.isGiven() &&
       !ofValue.isGiven() && !prefix.key.memory && !padding.memory))
    return;
  if ((attention.layout == "TND" && !blockTable.memory) ||
      (blockTable.memory && (prefix.key.memory || padding.memory)))
    return plan.reject(
        "keys of integers need another layout than TND, or lie in blocks; a shared prefix and "
        "padding need another layout than TND, and keys that do not lie in blocks");
  View key = attention.key, value = attention.value;
  if (blockTable.memory) {
    const Dims &dims = blockTable.dims;
    if (blockSize < 1 || dims.size() != 2 || isFloat(blockTable.type) ||
        (attention.lengths.size() != 1 && int64_t(attention.lengths.size()) != dims[0]))
      plan.reject("blockTable %s must be [batch, blocks] of whole numbers, blockSize %lld be "
                  "positive, and the lengths of the keys be given",
                  textOf(dims).c_str(), (long long)blockSize);
    for (int64_t length : attention.lengths)
      if (plan.isGood() && (length < 0 || length / blockSize + (length % blockSize > 0) > dims[1]))
        plan.reject("a length of the keys is %lld; blockTable has %lld blocks of %lld",
                    (long long)length, (long long)dims[1], (long long)blockSize);
    key = joinedBlocks(plan, blocksOf(plan, key, attention, blockSize, "key"), blockTable,
                       attention.lengths);
    value = joinedBlocks(plan, blocksOf(plan, value, attention, blockSize, "value"), blockTable,
                         attention.lengths);
  } else {
    key = headsOf(plan, key, attention.layout, attention.keyHeads, "key");
    value = headsOf(plan, value, attention.layout, attention.keyHeads, "value");
    // Without lengths, padding has no meaning.
    if (padding.memory && !attention.lengths.empty()) {
      const auto behind = int64_t(std::max(0.0, plan.elementOf(padding, "kvPaddingSize")));
      setPaddedLengths(plan, attention, key, behind);
      key = withoutPadding(plan, key, attention.lengths, behind);
      value = withoutPadding(plan, value, attention.lengths, behind);
    }
    if (prefix.key.memory) {
      // Whether its triangle begins with the prefix or behind it is not documented.
      if (attention.sparseMode == 2)
        plan.reject("sparseMode 2 has no functions with a shared prefix; give 0, 1, 3 or 4");
      int64_t length = prefix.length;
      if (length < 0) {
        const View front =
            headsOf(plan, prefix.key, attention.layout, attention.keyHeads, "keySharedPrefix");
        length = plan.isGood() ? front.dims[2] : 0;
      }
      key = behindPrefix(plan, key, prefix.key, attention, length, "keySharedPrefix");
      value = behindPrefix(plan, value, prefix.value, attention, length, "valueSharedPrefix");
      for (int64_t &own : attention.lengths)
        own += length;
    }
  }
  attention.key = scaledKeys(plan, key, ofKey, attention.query.type, "key");
  attention.value = scaledKeys(plan, value, ofValue, attention.query.type, "value");
  attention.keyLayout = "BNSD";
}

View sequenceOf(const View &tokens, int64_t start, int64_t end) {
  View view = part(tokens, 0, start, end - start);
  view.dims.insert(view.dims.begin(), 1);
  view.strides.insert(view.strides.begin(), 0);
  return permuted(view, {0, 2, 1, 3});
}

void forEachSequence(Plan &plan, const Attention &given,
                     const std::function<void(const Sequence &)> &visit) {
  // Keys that lay in blocks are those of each sequence, and the lengths theirs.
  const bool areApart = given.keyLayout == "BNSD";
  for (const View *view : {&given.query, &given.key, &given.value, &given.output})
    if (plan.isGood() &&
        view->dims.size() != (areApart && (view == &given.key || view == &given.value) ? 4 : 3))
      plan.reject("query, key, value and the output must have 3 dims with TND");
  if (plan.isGood() && (given.shift.memory || given.logarithm.memory))
    plan.reject("pseShift and softmaxLse have no functions with TND");
  if (plan.isGood() && given.mask.memory && given.mask.dims.size() < 2)
    plan.reject("attenMask %s must have 2 dims or more with TND", textOf(given.mask.dims).c_str());
  if (!plan.isGood())
    return;
  checkEnds(plan, given.rows, given.query.dims[0], "actualSeqLengths");
  if (!areApart)
    checkEnds(plan, given.lengths, given.key.dims[0], "actualSeqLengthsKv");
  if (plan.isGood() && given.rows.size() != given.lengths.size())
    plan.reject("actualSeqLengths has %zu sequences, actualSeqLengthsKv %zu", given.rows.size(),
                given.lengths.size());
  if (plan.isGood() && areApart && given.rows.size() != size_t(given.key.dims[0]))
    plan.reject("actualSeqLengths has %zu sequences, blockTable %lld", given.rows.size(),
                (long long)given.key.dims[0]);
  int64_t dropBit = given.dropBit;
  for (size_t i = 0; plan.isGood() && i < given.rows.size(); ++i) {
    Sequence sequence{given, i ? given.rows[i - 1] : 0, given.rows[i],
                      i && !areApart ? given.lengths[i - 1] : 0, given.lengths[i]};
    Attention &own = sequence.own;
    own.layout = "BNSD";
    own.dropBit = dropBit;
    dropBit += given.heads * (sequence.rowsEnd - sequence.row) * (sequence.keysEnd - sequence.key);
    own.hasModeOfOneRow = true;
    own.rows.clear();
    own.lengths.clear();
    own.query = sequenceOf(given.query, sequence.row, sequence.rowsEnd);
    own.output = sequenceOf(given.output, sequence.row, sequence.rowsEnd);
    auto keysOf = [&](const View &view) {
      return areApart ? part(part(view, 0, int64_t(i), 1), 2, 0, sequence.keysEnd)
                      : sequenceOf(view, sequence.key, sequence.keysEnd);
    };
    own.key = keysOf(given.key);
    own.value = keysOf(given.value);
    own.keyLayout = "";
    for (View Attention::*numbers : {&Attention::largest, &Attention::total})
      if ((given.*numbers).memory)
        own.*numbers = sequenceOf(given.*numbers, sequence.row, sequence.rowsEnd);
    if (given.mask.memory && given.sparseMode < 2)
      for (size_t axis : {given.mask.dims.size() - 2, given.mask.dims.size() - 1}) {
        const int64_t count =
            axis + 2 == given.mask.dims.size() ? own.query.dims[2] : own.key.dims[2];
        own.mask = part(own.mask, axis, 0, std::min(count, own.mask.dims[axis]));
      }
    visit(sequence);
  }
}

void attendSequences(Plan &plan, const Attention &given) {
  forEachSequence(plan, given, [&](const Sequence &sequence) {
    if (sequence.rowsEnd > sequence.row)
      attend(plan, sequence.own);
  });
}

} // namespace atc::ascend

namespace {

/// Writes rows of tokens to the positions of a cache that slots number: block * size of a block +
/// position in it. Slots below 0 are of no token.
void scatterRows(Plan &plan, const View &rows, const View &slots, const View &cache,
                 const char *name) {
  // [tokens, heads, width] and [blocks, tokens of a block, heads, width].
  const bool fits = plan.isGood() && rows.dims.size() == 3 && cache.dims.size() == 4 &&
                    slots.dims == Dims{rows.dims[0]} && !isFloat(slots.type) &&
                    cache.dims[2] == rows.dims[1] && cache.dims[3] == rows.dims[2] &&
                    cache.type == rows.type && cache.isDense();
  if (plan.isGood() && !fits)
    plan.reject(
        "%s %s must be [tokens, heads, width], its cache %s dense, of its type and [blocks, "
        "tokens, heads, width], and slotMapping %s have a number for each token",
        name, textOf(rows.dims).c_str(), textOf(cache.dims).c_str(), textOf(slots.dims).c_str());
  if (!plan.isGood())
    return;
  const int64_t tokens = rows.dims[0], positions = cache.dims[0] * cache.dims[1];
  const size_t bytes = size_t(rows.dims[1] * rows.dims[2]) * size_t(bitsOf(rows.type)) / 8;
  plan.onHost({plan.dense(rows, rows.type), plan.dense(slots, ACL_INT64), cache},
              [=](const std::vector<char *> &at) -> aclError {
                auto *slot = reinterpret_cast<const int64_t *>(at[1]);
                for (int64_t i = 0; i < tokens; ++i)
                  if (slot[i] >= positions)
                    return fail(ACL_ERROR_INVALID_PARAM, "aclnnScatterPaKvCache",
                                "slotMapping has %lld; the cache has %lld slots",
                                (long long)slot[i], (long long)positions);
                for (int64_t i = 0; i < tokens; ++i)
                  if (slot[i] >= 0)
                    memcpy(at[2] + size_t(slot[i]) * bytes, at[0] + size_t(i) * bytes, bytes);
                return ACL_SUCCESS;
              });
}

/// Returns whether a text is missing or one of two that mean the same.
bool isPlain(const char *text, std::string_view name) {
  const std::string_view given = text ? text : "";
  return given.empty() || given == name;
}

} // namespace

aclnnStatus aclnnScatterPaKvCacheGetWorkspaceSize(
    const aclTensor *key, aclTensor *keyCacheRef, const aclTensor *slotMapping,
    const aclTensor *value, aclTensor *valueCacheRef, const aclTensor *compressLensOptional,
    const aclTensor *compressSeqOffsetOptional, const aclTensor *seqLensOptional,
    char *cacheModeOptional, char *scatterModeOptional, const aclIntArray *, const aclIntArray *,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View keys = plan.input(key, "key"), values = plan.input(value, "value"),
             slots = plan.input(slotMapping, "slotMapping"),
             keyCache = plan.output(keyCacheRef, "keyCacheRef"),
             valueCache = plan.output(valueCacheRef, "valueCacheRef");
  if (compressLensOptional || compressSeqOffsetOptional || seqLensOptional ||
      !isPlain(cacheModeOptional, "Norm") || !isPlain(scatterModeOptional, "None"))
    plan.reject("cacheMode must be Norm, scatterMode None, and compressLens, compressSeqOffset and "
                "seqLens NULL: keys that are compressed have no functions here");
  scatterRows(plan, keys, slots, keyCache, "key");
  scatterRows(plan, values, slots, valueCache, "value");
  return plan.finish(size, executor);
}
ACLNN_RUN(ScatterPaKvCache)
