//===-- Rotations.cpp - aclnn functions of rotated heads and their caches --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace atc::ascend;

ACLNN_FUNCTION(InterleaveRope,
               (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *out),
               out, rotated(plan, IN(x), IN(cos), IN(sin), 3))

aclnnStatus aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(const aclTensor *x, const aclTensor *cos,
                                                           const aclTensor *sin, int64_t mode,
                                                           const aclTensor *rotate, aclTensor *out,
                                                           uint64_t *size,
                                                           aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(x), c = IN(cos), s = IN(sin), matrix = plan.input(rotate, "rotate", true),
             y = plan.output(out, "out");
  if (!matrix.memory) {
    plan.write(rotated(plan, given, c, s, mode), y);
    return plan.finish(size, executor);
  }
  if (plan.isGood() &&
      (given.dims.empty() || matrix.dims != Dims{given.dims.back(), given.dims.back()}))
    plan.reject("rotate is %s; it must be [D, D], where D is the last dim of x %s",
                textOf(matrix.dims).c_str(), textOf(given.dims).c_str());
  const View wide = plan.isGood() ? plan.dense(given, ACL_FLOAT) : View();
  const View turned = product(plan, wide, plan.isGood() ? plan.dense(matrix, ACL_FLOAT) : View());
  plan.write(
      combined(plan, "Add", combined(plan, "Mul", wide, c), combined(plan, "Mul", turned, s)), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(RotaryPositionEmbeddingV2)

namespace {

/// How rows of heads are rotated by angles of a cache.
struct CachedRotation {
  int64_t tokens = 0, headSize = 0, rotary = 0, positions = 0;
  bool hasHalves = false;      ///< pairs are an element of each half, else neighbours
  std::array<int64_t, 2> ends; ///< of the angles of the first two rows of positions

  /// Writes the cosines and sines of a token.
  aclError anglesOf(const int64_t *position, const double *cache, int64_t token,
                    std::vector<double> &cosines, std::vector<double> &sines) const {
    const int64_t half = rotary / 2;
    for (int64_t i = 0; i < half; ++i) {
      const int64_t row = i < ends[0] ? 0 : i < ends[1] ? 1 : 2;
      const int64_t at = position[row * tokens + token];
      if (at < 0 || at >= positions)
        return fail(ACL_ERROR_INVALID_PARAM, "aclnnRopeWithSinCosCache",
                    "positions has %lld; the cache has %lld rows", (long long)at,
                    (long long)positions);
      cosines[size_t(i)] = cache[at * rotary + i];
      sines[size_t(i)] = cache[at * rotary + half + i];
    }
    return ACL_SUCCESS;
  }

  /// Rotates the heads of a row in place.
  void rotate(double *row, int64_t width, const std::vector<double> &cosines,
              const std::vector<double> &sines) const {
    const int64_t half = rotary / 2;
    for (double *head = row; head < row + width; head += headSize)
      for (int64_t i = 0; i < half; ++i) {
        double &a = head[hasHalves ? i : 2 * i], &b = head[hasHalves ? i + half : 2 * i + 1];
        const double left = a * cosines[size_t(i)] - b * sines[size_t(i)];
        b = b * cosines[size_t(i)] + a * sines[size_t(i)];
        a = left;
      }
  }
};

} // namespace

aclnnStatus
aclnnRopeWithSinCosCacheGetWorkspaceSize(const aclTensor *positions, const aclTensor *queryIn,
                                         const aclTensor *keyIn, const aclTensor *cosSinCache,
                                         const aclIntArray *mropeSection, int64_t headSize,
                                         bool isNeoxStyle, aclTensor *queryOut, aclTensor *keyOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View indices = IN(positions), query = IN(queryIn), key = IN(keyIn), cache = IN(cosSinCache),
             newQuery = plan.output(queryOut, "queryOut"), newKey = plan.output(keyOut, "keyOut");
  const Dims sections = mropeSection ? plan.numbers(mropeSection, "mropeSection") : Dims();
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto areHeads = [&](const View &rows) {
    return rows.dims.size() == 2 && rows.dims[0] == query.dims[0] && rows.dims[1] % headSize == 0;
  };
  if (headSize < 2 || query.dims.size() != 2 || !areHeads(query) || !areHeads(key) ||
      cache.dims.size() != 2 || cache.dims[1] < 2 || cache.dims[1] % 2 || cache.dims[1] > headSize)
    plan.reject("query %s and key %s must be [tokens, heads * headSize] with headSize %lld, and "
                "cosSinCache %s have rows of an even number of elements up to headSize",
                textOf(query.dims).c_str(), textOf(key.dims).c_str(), (long long)headSize,
                textOf(cache.dims).c_str());
  const int64_t half = plan.isGood() ? cache.dims[1] / 2 : 0;
  const bool hasSections = mropeSection != nullptr;
  if (plan.isGood() &&
      (isFloat(indices.type) ||
       indices.dims != (hasSections ? Dims{3, query.dims[0]} : Dims{query.dims[0]}) ||
       (hasSections &&
        (sections.size() != 3 || *std::min_element(sections.begin(), sections.end()) < 0 ||
         *std::max_element(sections.begin(), sections.end()) > half ||
         std::accumulate(sections.begin(), sections.end(), int64_t{0}) != half))))
    plan.reject(
        "positions %s must be whole numbers [tokens], or [3, tokens] with a mropeSection of "
        "3 numbers whose sum is %lld",
        textOf(indices.dims).c_str(), (long long)half);
  if (!plan.isGood())
    return plan.finish(size, executor);
  CachedRotation all;
  all.tokens = query.dims[0];
  all.headSize = headSize;
  all.rotary = cache.dims[1];
  all.positions = cache.dims[0];
  all.hasHalves = isNeoxStyle;
  all.ends = hasSections ? std::array<int64_t, 2>{sections[0], sections[0] + sections[1]}
                         : std::array<int64_t, 2>{half, half};
  // Steps change their operands in place: those of the program stay as they are.
  auto copied = [&](const View &view) {
    const View own = plan.make(ACL_DOUBLE, view.dims);
    plan.copy(view, own);
    return own;
  };
  const View q = copied(query), k = copied(key);
  plan.onHost({plan.dense(indices, ACL_INT64), plan.dense(cache, ACL_DOUBLE), q, k},
              [all, queryWidth = query.dims[1],
               keyWidth = key.dims[1]](const std::vector<char *> &at) -> aclError {
                std::vector<double> cosines(size_t(all.rotary / 2)), sines(cosines.size());
                for (int64_t token = 0; token < all.tokens; ++token) {
                  ACL_TRY(all.anglesOf(reinterpret_cast<int64_t *>(at[0]),
                                       reinterpret_cast<double *>(at[1]), token, cosines, sines));
                  all.rotate(reinterpret_cast<double *>(at[2]) + token * queryWidth, queryWidth,
                             cosines, sines);
                  all.rotate(reinterpret_cast<double *>(at[3]) + token * keyWidth, keyWidth,
                             cosines, sines);
                }
                return ACL_SUCCESS;
              });
  plan.write(q, newQuery);
  plan.write(k, newKey);
  return plan.finish(size, executor);
}
ACLNN_RUN(RopeWithSinCosCache)

namespace {

/// Where rows [batch, heads, sequence] go in a cache.
struct CacheLayout {
  int64_t batch, heads, sequence;
  int64_t block, slots; ///< rows of a block, or of a sequence of the cache; rows per head
  bool isPaged;

  /// Copies rows of `bytes` to the slots of `index`.
  aclError scatter(const int64_t *index, const char *rows, char *cache, size_t bytes) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t s = 0; s < sequence; ++s) {
        const int64_t slot = index[b * sequence + s], max = isPaged ? slots : block;
        if (slot >= max || slot < -1)
          return fail(ACL_ERROR_INVALID_PARAM, "aclnnKvRmsNormRopeCache",
                      "index has %lld; the cache has %lld slots", (long long)slot, (long long)max);
        for (int64_t h = 0; slot >= 0 && h < heads; ++h) {
          const int64_t to = isPaged ? slot * heads + h : (b * heads + h) * block + slot;
          memcpy(cache + size_t(to) * bytes, rows + size_t((b * heads + h) * sequence + s) * bytes,
                 bytes);
        }
      }
    return ACL_SUCCESS;
  }
};

/// Writes rows to a cache, whose elements are those of the program.
void writeCache(Plan &plan, const CacheLayout &layout, const View &rows, const View &index,
                const View &cache) {
  if (!plan.isGood())
    return;
  const size_t bytes = size_t(rows.dims.back()) * bitsOf(cache.type) / 8;
  plan.onHost({plan.dense(index, ACL_INT64), plan.dense(rows, cache.type), cache},
              [=](const std::vector<char *> &at) {
                return layout.scatter(reinterpret_cast<int64_t *>(at[0]), at[1], at[2], bytes);
              });
}

} // namespace

aclnnStatus aclnnKvRmsNormRopeCacheGetWorkspaceSize(
    const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos, const aclTensor *sin,
    const aclTensor *index, aclTensor *kCacheRef, aclTensor *ckvCacheRef,
    const aclTensor *kRopeScaleOptional, const aclTensor *ckvScaleOptional,
    const aclTensor *kRopeOffsetOptional, const aclTensor *cKvOffsetOptional, double epsilon,
    char *cacheModeOptional, bool isOutputKv, const aclTensor *kRopeOut, const aclTensor *cKvOut,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(kv), factors = IN(gamma), c = IN(cos), s = IN(sin), slots = IN(index),
             keys = plan.output(kCacheRef, "kCacheRef"),
             latents = plan.output(ckvCacheRef, "ckvCacheRef"),
             keyOut = isOutputKv ? plan.output(kRopeOut, "kRopeOut") : View(),
             latentOut = isOutputKv ? plan.output(cKvOut, "cKvOut") : View();
  const std::string_view mode =
      cacheModeOptional && *cacheModeOptional ? cacheModeOptional : "Norm";
  const bool isPaged = mode == "PA" || mode == "PA_BNSD";
  if (!isPaged && mode != "Norm")
    plan.reject("cacheMode must be Norm, PA or PA_BNSD here");
  if (kRopeScaleOptional || ckvScaleOptional || kRopeOffsetOptional || cKvOffsetOptional)
    plan.reject("scales and offsets must be NULL: caches have the type of kv here");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Dims &dims = given.dims;
  const int64_t width = countOf(factors.dims), rest = dims.empty() ? 0 : dims.back() - width;
  if (dims.size() != 4 || factors.dims.size() != 1 || width < 1 || rest < 2 || rest % 2 ||
      c.dims != s.dims || c.dims.size() != 4 || c.dims[0] != dims[0] || c.dims[1] != 1 ||
      (c.dims[2] != 1 && c.dims[2] != dims[2]) || c.dims[3] != rest)
    plan.reject("kv %s must have 4 dims, gamma %s the first elements of its last one, and cos and "
                "sin %s the other ones, an even number: [batch, 1, sequence or 1, elements]",
                textOf(dims).c_str(), textOf(factors.dims).c_str(), textOf(c.dims).c_str());
  if (plan.isGood() && (isFloat(slots.type) ||
                        slots.dims != (isPaged ? Dims{dims[0] * dims[2]} : Dims{dims[0], dims[2]})))
    plan.reject("index %s must be whole numbers, one for each row of kv %s",
                textOf(slots.dims).c_str(), textOf(dims).c_str());
  for (const auto &[cache, elements] : {std::pair{&keys, rest}, {&latents, width}})
    if (plan.isGood() &&
        (cache->dims.size() != 4 || !cache->isDense() || cache->type != given.type ||
         cache->dims[3] != elements || cache->dims[isPaged ? 2 : 1] != dims[1] ||
         (!isPaged && cache->dims[0] < dims[0])))
      plan.reject("caches must be dense and of the type of kv: [batch, heads, slots, elements], or "
                  "[blocks, slots, heads, elements] with cacheMode PA; this one is %s for %lld "
                  "elements",
                  textOf(cache->dims).c_str(), (long long)elements);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View turned = rotated(plan, part(given, 3, width, rest), c, s, 3);
  const View wide = plan.dense(part(given, 3, 0, width), ACL_FLOAT);
  const View mean = reduced(plan, "ReduceMeanD", times(plan, wide, wide), {3}, true, ACL_FLOAT);
  const View root = unary(plan, "Sqrt", withNumber(plan, "Add", mean, epsilon));
  const View normed = times(plan, combined(plan, "RealDiv", wide, root), factors);
  for (const auto &[rows, cache] : {std::pair{&turned, &keys}, {&normed, &latents}})
    writeCache(plan,
               {dims[0], dims[1], dims[2], isPaged ? cache->dims[1] : cache->dims[2],
                cache->dims[0] * cache->dims[1], isPaged},
               *rows, slots, *cache);
  if (isOutputKv) {
    plan.write(turned, keyOut);
    plan.write(normed, latentOut);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(KvRmsNormRopeCache)
