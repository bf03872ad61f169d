//===-- AttentionCalls.cpp - the aclnn attention functions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"

using namespace atc::ascend;

namespace {

/// Rejects arguments that have no meaning here.
void rejectGiven(Plan &plan, std::initializer_list<const void *> handles, const char *reason) {
  for (const void *handle : handles)
    if (handle)
      plan.reject("%s", reason);
}

constexpr const char *noScales =
    "scales of quantized queries and results must be NULL: they have no functions here";
constexpr const char *noPadding =
    "padding of queries and scales of the rope of integer keys have no functions here";

Dims lengthsOf(Plan &plan, const aclIntArray *handle, const char *name) {
  return handle ? plan.numbers(handle, name) : Dims();
}

/// Returns the one tensor of a list of keys or values.
View onlyOne(Plan &plan, const aclTensorList *handle, const char *name) {
  const std::vector<View> views = plan.inputs(handle, name);
  if (plan.isGood() && views.size() != 1)
    plan.reject("%s must be one tensor", name);
  return plan.isGood() ? views[0] : View();
}

/// Holds arguments that only some of the attention functions have.
struct Further {
  const aclTensor *padding = nullptr;
  const aclTensor *keyPrefix = nullptr, *valuePrefix = nullptr;
  const aclIntArray *prefixLength = nullptr;
  const aclTensor *queryRope = nullptr, *keyRope = nullptr;
};

/// Holds the arguments that all attention functions have.
struct Common {
  const aclTensor *query;
  View key, value;
  const aclTensor *shift, *mask;
  const aclIntArray *rows, *lengths;
  int64_t heads, keyHeads;
  double scale;
  int64_t before, after;
  const char *layout;
  int64_t sparseMode;
  const aclTensor *output, *logarithm;
  // Set only for keys and values that are stored in blocks, or as integers.
  const aclTensor *blockTable = nullptr;
  int64_t blockSize = 0;
  const aclTensor *keyScale = nullptr, *keyOffset = nullptr, *valueScale = nullptr,
                  *valueOffset = nullptr, *bothScale = nullptr, *bothOffset = nullptr;
  int64_t keyMode = -1, valueMode = -1; ///< those of Antiquant
  Further further = {};
};

Prefix prefixOf(Plan &plan, const Further &given) {
  Prefix prefix;
  prefix.key = plan.input(given.keyPrefix, "keySharedPrefix", true);
  prefix.value = plan.input(given.valuePrefix, "valueSharedPrefix", true);
  if (!given.keyPrefix != !given.valuePrefix || (given.prefixLength && !given.keyPrefix))
    plan.reject("a shared prefix is keySharedPrefix and valueSharedPrefix: give both, or none");
  if (given.prefixLength) {
    const Dims lengths = plan.numbers(given.prefixLength, "actualSharedPrefixLen");
    if (plan.isGood() && (lengths.size() != 1 || lengths[0] < 0))
      plan.reject("actualSharedPrefixLen must have one number, which is not negative");
    prefix.length = plan.isGood() ? lengths[0] : -1;
  }
  return prefix;
}

/// Appends the positions that queries and keys have in tensors of their own.
void addRope(Plan &plan, Attention &attention, const Further &given, bool areBlocks) {
  if (!given.queryRope != !given.keyRope)
    plan.reject("queryRope and keyRope belong together: give both, or none");
  if (!plan.isGood() || !given.queryRope)
    return;
  const bool areJoined = attention.layout == "BSH" || attention.layout == "SBH";
  attention.query = withRope(plan, attention.query, plan.input(given.queryRope, "queryRope"),
                             attention.heads, areJoined, "query");
  attention.key =
      withRope(plan, attention.key, plan.input(given.keyRope, "keyRope"), attention.keyHeads,
               areBlocks ? attention.key.dims.size() == 3 : areJoined, "key");
}

/// Turns tensors of NTD into those of TND.
void turnSequences(Plan &plan, Attention &attention, bool areBlocks) {
  const std::string_view shown =
      attention.outputLayout.empty() ? attention.layout : attention.outputLayout;
  const auto turn = [&](View &view, std::string_view layout) {
    if (plan.isGood() && layout == "NTD" && view.dims.size() == 3)
      view = permuted(view, {1, 0, 2});
  };
  turn(attention.query, attention.layout);
  turn(attention.output, shown);
  if (!areBlocks) {
    turn(attention.key, attention.layout);
    turn(attention.value, attention.layout);
  }
  if (attention.layout == "NTD")
    attention.layout = "TND";
  if (attention.layout == "TND")
    attention.outputLayout = "";
}

/// Returns the scale and the offset of keys or values: own ones, or a half of those of both, whose
/// first dim is 2.
Antiquant antiquantOf(Plan &plan, const Common &given, bool isValue) {
  const auto numbersOf = [&](const aclTensor *own, const aclTensor *both, const char *name) {
    if (own && both)
      plan.reject("antiquantScale and antiquantOffset are those of keys and values; give them, or "
                  "one for each");
    if (!both)
      return plan.input(own, name, true);
    const View all = plan.input(both, name);
    if (plan.isGood() && (all.dims.empty() || all.dims[0] != 2))
      plan.reject("%s %s must begin with a dim of 2: keys and values", name,
                  textOf(all.dims).c_str());
    return plan.isGood() ? part(all, 0, isValue, 1) : View();
  };
  Antiquant antiquant;
  antiquant.scale = numbersOf(isValue ? given.valueScale : given.keyScale, given.bothScale,
                              given.bothScale ? "antiquantScale"
                              : isValue       ? "valueAntiquantScale"
                                              : "keyAntiquantScale");
  antiquant.offset = numbersOf(isValue ? given.valueOffset : given.keyOffset, given.bothOffset,
                               given.bothOffset ? "antiquantOffset"
                               : isValue        ? "valueAntiquantOffset"
                                                : "keyAntiquantOffset");
  antiquant.mode = isValue ? given.valueMode : given.keyMode;
  return antiquant;
}

aclnnStatus finishAttention(Plan &plan, const Common &given, uint64_t *size,
                            aclOpExecutor **executor) {
  Attention attention;
  describeAttention(plan, attention, given.layout, given.heads, given.keyHeads, given.sparseMode);
  attention.scale = given.scale;
  attention.before = given.before;
  attention.after = given.after;
  attention.query = plan.input(given.query, "query");
  attention.key = given.key;
  attention.value = given.value;
  attention.shift = plan.input(given.shift, "pseShift", true);
  attention.mask = plan.input(given.mask, "attenMask", true);
  attention.rows = lengthsOf(plan, given.rows, "actualSeqLengths");
  attention.lengths = lengthsOf(plan, given.lengths, "actualSeqLengthsKv");
  attention.output = plan.output(given.output, "attentionOut");
  attention.logarithm = plan.output(given.logarithm, "softmaxLse", true);
  const View table = plan.input(given.blockTable, "blockTable", true);
  const Antiquant ofKey = antiquantOf(plan, given, false), ofValue = antiquantOf(plan, given, true);
  addRope(plan, attention, given.further, bool(table.memory));
  turnSequences(plan, attention, bool(table.memory));
  completeKeys(plan, attention, table, given.blockSize, ofKey, ofValue,
               prefixOf(plan, given.further),
               plan.input(given.further.padding, "kvPaddingSize", true));
  if (plan.isGood())
    attend(plan, attention);
  return plan.finish(size, executor);
}

/// Reads the tensors and the dropout of an attention of a training.
Attention beginTraining(Plan &plan, const aclTensor *query, const aclTensor *key,
                        const aclTensor *value, const aclTensor *dropMask, double keepProb) {
  Attention attention;
  setDropout(plan, attention, dropMask, keepProb);
  attention.hasModeOfOneRow = true;
  attention.query = plan.input(query, "query");
  attention.key = plan.input(key, "key");
  attention.value = plan.input(value, "value");
  return attention;
}

/// Adds the steps of an attention of a training, whose sums its gradients may read.
aclnnStatus finishTraining(Plan &plan, Attention &attention, const aclTensor *mask,
                           const aclTensor *largest, const aclTensor *total,
                           const aclTensor *output, uint64_t *size, aclOpExecutor **executor) {
  checkTrainingLayout(plan, attention);
  attention.mask = plan.input(mask, "attenMask", true);
  attention.largest = plan.output(largest, "softmaxMaxOut", true);
  attention.total = plan.output(total, "softmaxSumOut", true);
  attention.output = plan.output(output, "attentionOutOut");
  if (plan.isGood())
    attend(plan, attention);
  return plan.finish(size, executor);
}

} // namespace

ACLNN_FUNCTION(RotaryPositionEmbedding,
               (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, int64_t mode,
                aclTensor *out),
               out, rotated(plan, IN(x), IN(cos), IN(sin), mode))

/// Rotates queries and keys where they are; `mode` as of RotaryPositionEmbedding.
static aclnnStatus rotateBoth(const char *function, aclTensor *queryRef, aclTensor *keyRef,
                              const aclTensor *cos, const aclTensor *sin, int64_t layout,
                              std::optional<int64_t> mode, uint64_t *size,
                              aclOpExecutor **executor) {
  Plan plan(function);
  if (!mode)
    plan.reject("rotaryMode must be half, interleave or quarter");
  const View c = plan.input(cos, "cos"), s = plan.input(sin, "sin");
  if (layout < 1 || layout > 4)
    plan.reject("layout is %lld; give 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND)", (long long)layout);
  const View q = plan.input(queryRef, "queryRef"), k = plan.input(keyRef, "keyRef");
  const View newQuery = rotated(plan, q, c, s, mode.value_or(0)),
             newKey = rotated(plan, k, c, s, mode.value_or(0));
  plan.write(newQuery, plan.output(queryRef, "queryRef"));
  plan.write(newKey, plan.output(keyRef, "keyRef"));
  return plan.finish(size, executor);
}

aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(aclTensor *queryRef, aclTensor *keyRef,
                                                   const aclTensor *cos, const aclTensor *sin,
                                                   int64_t layout, uint64_t *size,
                                                   aclOpExecutor **executor) {
  return rotateBoth(__func__, queryRef, keyRef, cos, sin, layout, 0, size, executor);
}
ACLNN_RUN(ApplyRotaryPosEmb)

aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(aclTensor *queryRef, aclTensor *keyRef,
                                                     const aclTensor *cos, const aclTensor *sin,
                                                     int64_t layout, char *rotaryMode,
                                                     uint64_t *size, aclOpExecutor **executor) {
  const std::string_view mode = rotaryMode && *rotaryMode ? rotaryMode : "half";
  std::optional<int64_t> number;
  for (auto [name, value] :
       {std::pair<std::string_view, int64_t>{"half", 0}, {"interleave", 1}, {"quarter", 2}})
    if (mode == name)
      number = value;
  return rotateBoth(__func__, queryRef, keyRef, cos, sin, layout, number, size, executor);
}
ACLNN_RUN(ApplyRotaryPosEmbV2)

// The second version says where shifts of the scores are added, and where rows of queries and keys
// begin for shifts that the device makes itself, which have no functions here.
#define ACLNN_TRAINED_ATTENTION(name, starts, type, isKnown, isFirst)                              \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *query, const aclTensor *key, const aclTensor *value,                        \
      const aclTensor *realShift, const aclTensor *dropMask, const aclTensor *paddingMask,         \
      const aclTensor *attenMask, const aclIntArray *prefix,                                       \
      ACLNN_UNPACK starts double scaleValue, double keepProb, int64_t preTokens,                   \
      int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t, int64_t sparseMode,         \
      ACLNN_UNPACK type const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut,            \
      const aclTensor *, const aclTensor *attentionOut, uint64_t *size,                            \
      aclOpExecutor **executor) {                                                                  \
    Plan plan(__func__);                                                                           \
    rejectGiven(plan, {paddingMask, prefix},                                                       \
                "paddingMask and prefix must be NULL: they have no functions here");               \
    if (!(isKnown))                                                                                \
      plan.reject("pseType must be 0 or 1: shifts are those of realShift");                        \
    Attention attention = beginTraining(plan, query, key, value, dropMask, keepProb);              \
    describeAttention(plan, attention, inputLayout, headNum,                                       \
                      keyHeadsOf(plan, attention, inputLayout, headNum), sparseMode);              \
    attention.scale = scaleValue;                                                                  \
    attention.before = preTokens;                                                                  \
    attention.after = nextTokens;                                                                  \
    attention.shift = plan.input(realShift, "realShift", true);                                    \
    attention.shiftsFirst = isFirst;                                                               \
    return finishTraining(plan, attention, attenMask, softmaxMaxOut, softmaxSumOut, attentionOut,  \
                          size, executor);                                                         \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_TRAINED_ATTENTION(FlashAttentionScore, (), (), true, true)
ACLNN_TRAINED_ATTENTION(FlashAttentionScoreV2, (const aclIntArray *, const aclIntArray *, ),
                        (int64_t pseType, ), pseType == 0 || pseType == 1, pseType == 1)

aclnnStatus aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value,
    const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
    const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
    const aclIntArray *actualSeqKvLenOptional, double scaleValueOptional, double keepProbOptional,
    int64_t preTokensOptional, int64_t nextTokensOptional, int64_t headNum, char *inputLayout,
    int64_t, int64_t sparseModeOptional, const aclTensor *softmaxMaxOut,
    const aclTensor *softmaxSumOut, const aclTensor *, const aclTensor *attentionOutOut,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  rejectGiven(plan, {realShiftOptional, paddingMaskOptional, prefixOptional},
              "realShift, paddingMask and prefix must be NULL: they have no functions here");
  Attention attention = beginTraining(plan, query, key, value, dropMaskOptional, keepProbOptional);
  const bool isThree = plan.isGood() && attention.key.dims.size() == 3;
  describeAttention(plan, attention, inputLayout, headNum,
                    isThree ? attention.key.dims[1] : headNum, sparseModeOptional);
  if (attention.layout != "TND")
    plan.reject("inputLayout must be TND");
  attention.scale = scaleValueOptional;
  attention.before = preTokensOptional;
  attention.after = nextTokensOptional;
  attention.rows = lengthsOf(plan, actualSeqQLenOptional, "actualSeqQLen");
  attention.lengths = lengthsOf(plan, actualSeqKvLenOptional, "actualSeqKvLen");
  return finishTraining(plan, attention, attenMaskOptional, softmaxMaxOut, softmaxSumOut,
                        attentionOutOut, size, executor);
}
ACLNN_RUN(FlashAttentionVarLenScore)

// Each version of these functions has the arguments of the one before, and more.
#define ACLNN_PROMPT_ATTENTION(name, kvLengths, lengths, scales, noneGiven, sparse, sparseMode,    \
                               precise)                                                            \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *query, const aclTensor *key, const aclTensor *value,                        \
      const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,  \
      ACLNN_UNPACK kvLengths ACLNN_UNPACK scales int64_t numHeads, double scaleValue,              \
      int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,          \
      ACLNN_UNPACK sparse ACLNN_UNPACK precise const aclTensor *attentionOut, uint64_t *size,      \
      aclOpExecutor **executor) {                                                                  \
    Plan plan(__func__);                                                                           \
    rejectGiven(plan, {ACLNN_UNPACK noneGiven}, noScales);                                         \
    return finishAttention(plan,                                                                   \
                           {query, plan.input(key, "key"), plan.input(value, "value"), pseShift,   \
                            attenMask, actualSeqLengths, lengths, numHeads, numKeyValueHeads,      \
                            scaleValue, preTokens, nextTokens, inputLayout, sparseMode,            \
                            attentionOut, nullptr},                                                \
                           size, executor);                                                        \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_PROMPT_ATTENTION(PromptFlashAttention, (), actualSeqLengths, (), (), (), 0, ())
ACLNN_PROMPT_ATTENTION(PromptFlashAttentionV2, (const aclIntArray *actualSeqLengthsKv, ),
                       actualSeqLengthsKv,
                       (const aclTensor *deqScale1, const aclTensor *quantScale1,
                        const aclTensor *deqScale2, const aclTensor *quantScale2,
                        const aclTensor *quantOffset2, ),
                       (deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2),
                       (int64_t sparseMode, ), sparseMode, ())
ACLNN_PROMPT_ATTENTION(PromptFlashAttentionV3, (const aclIntArray *actualSeqLengthsKv, ),
                       actualSeqLengthsKv,
                       (const aclTensor *deqScale1, const aclTensor *quantScale1,
                        const aclTensor *deqScale2, const aclTensor *quantScale2,
                        const aclTensor *quantOffset2, ),
                       (deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2),
                       (int64_t sparseMode, ), sparseMode, (int64_t, ))

#define ACLNN_INCREMENTAL_ATTENTION(name, scales, noneGiven, pages, blocks, ...)                   \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *query, const aclTensorList *key, const aclTensorList *value,                \
      const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,  \
      ACLNN_UNPACK scales ACLNN_UNPACK pages int64_t numHeads, double scaleValue,                  \
      char *inputLayout, int64_t numKeyValueHeads,                                                 \
      ACLNN_UNPACK blocks const aclTensor *attentionOut, uint64_t *size,                           \
      aclOpExecutor **executor) {                                                                  \
    Plan plan(__func__);                                                                           \
    rejectGiven(plan, {ACLNN_UNPACK noneGiven}, noScales);                                         \
    return finishAttention(plan,                                                                   \
                           {query, onlyOne(plan, key, "key"), onlyOne(plan, value, "value"),       \
                            pseShift, attenMask, nullptr, actualSeqLengths, numHeads,              \
                            numKeyValueHeads, scaleValue, 0, 0, inputLayout, 1, attentionOut,      \
                            nullptr, __VA_ARGS__},                                                 \
                           size, executor);                                                        \
  }                                                                                                \
  ACLNN_RUN(name)
#define ACLNN_FIVE_SCALES                                                                          \
  const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,    \
      const aclTensor *quantScale2, const aclTensor *quantOffset2,
#define ACLNN_SEVEN_SCALES                                                                         \
  ACLNN_FIVE_SCALES const aclTensor *antiquantScale, const aclTensor *antiquantOffset,
#define ACLNN_FIVE_GIVEN dequantScale1, quantScale1, dequantScale2, quantScale2, quantOffset2
#define ACLNN_ANTIQUANT nullptr, nullptr, nullptr, nullptr, antiquantScale, antiquantOffset
ACLNN_INCREMENTAL_ATTENTION(IncreFlashAttention, (), (), (), (), nullptr)
ACLNN_INCREMENTAL_ATTENTION(IncreFlashAttentionV2, (ACLNN_SEVEN_SCALES), (ACLNN_FIVE_GIVEN), (), (),
                            nullptr, 0, ACLNN_ANTIQUANT)
ACLNN_INCREMENTAL_ATTENTION(IncreFlashAttentionV3, (ACLNN_SEVEN_SCALES), (ACLNN_FIVE_GIVEN),
                            (const aclTensor *blocktable, ), (int64_t blockSize, int64_t, ),
                            blocktable, blockSize, ACLNN_ANTIQUANT)
ACLNN_INCREMENTAL_ATTENTION(IncreFlashAttentionV4, (ACLNN_SEVEN_SCALES), (ACLNN_FIVE_GIVEN),
                            (const aclTensor *blocktable, const aclTensor *kvPaddingSize, ),
                            (int64_t blockSize, int64_t, ), blocktable, blockSize, ACLNN_ANTIQUANT,
                            -1, -1, Further{kvPaddingSize})

// Each version has the arguments of the one before, and more in two positions.
#define ACLNN_FUSED_ATTENTION(name, parts, unused, further, modes, check, keyMode, valueMode, ...) \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *query, const aclTensorList *key, const aclTensorList *value,                \
      const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,  \
      const aclIntArray *actualSeqLengthsKv, const aclTensor *deqScale1,                           \
      const aclTensor *quantScale1, const aclTensor *deqScale2, const aclTensor *quantScale2,      \
      const aclTensor *quantOffset2, const aclTensor *antiquantScale,                              \
      const aclTensor *antiquantOffset, const aclTensor *blockTable,                               \
      const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize,                           \
      ACLNN_UNPACK parts int64_t numHeads, double scaleValue, int64_t preTokens,                   \
      int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,         \
      int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,         \
      ACLNN_UNPACK modes const aclTensor *attentionOut, const aclTensor *softmaxLse,               \
      uint64_t *size, aclOpExecutor **executor) {                                                  \
    Plan plan(__func__);                                                                           \
    rejectGiven(plan, {deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2}, noScales);   \
    rejectGiven(plan, {queryPaddingSize, ACLNN_UNPACK unused}, noPadding);                         \
    if (antiquantMode < 0 || antiquantMode > 1 || (check) || innerPrecise < 0 || innerPrecise > 4) \
      plan.reject("the antiquant modes must be 0 or 1, and innerPrecise 0 to 4");                  \
    return finishAttention(plan,                                                                   \
                           {query,                                                                 \
                            onlyOne(plan, key, "key"),                                             \
                            onlyOne(plan, value, "value"),                                         \
                            pseShift,                                                              \
                            attenMask,                                                             \
                            actualSeqLengths,                                                      \
                            actualSeqLengthsKv,                                                    \
                            numHeads,                                                              \
                            numKeyValueHeads,                                                      \
                            scaleValue,                                                            \
                            preTokens,                                                             \
                            nextTokens,                                                            \
                            inputLayout,                                                           \
                            sparseMode,                                                            \
                            attentionOut,                                                          \
                            softmaxLseFlag ? softmaxLse : nullptr,                                 \
                            blockTable,                                                            \
                            blockSize,                                                             \
                            __VA_ARGS__,                                                           \
                            antiquantScale,                                                        \
                            antiquantOffset,                                                       \
                            keyMode,                                                               \
                            valueMode,                                                             \
                            Further{kvPaddingSize, ACLNN_UNPACK further}},                         \
                           size, executor);                                                        \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_FUSED_ATTENTION(FusedInferAttentionScore, (), (), (), (), false, antiquantMode, antiquantMode,
                      nullptr, nullptr, nullptr, nullptr)
#define ACLNN_SPLIT_ATTENTION(name, parts, unused, rope, queryMode)                                \
  ACLNN_FUSED_ATTENTION(                                                                           \
      name,                                                                                        \
      (const aclTensor *keyAntiquantScale, const aclTensor *keyAntiquantOffset,                    \
       const aclTensor *valueAntiquantScale, const aclTensor *valueAntiquantOffset,                \
       const aclTensor *keySharedPrefix, const aclTensor *valueSharedPrefix,                       \
       const aclIntArray *actualSharedPrefixLen, ACLNN_UNPACK parts),                              \
      unused, (keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen ACLNN_UNPACK rope),       \
      (int64_t keyAntiquantMode, int64_t valueAntiquantMode, ACLNN_UNPACK queryMode),              \
      keyAntiquantMode < 0 || keyAntiquantMode > 1 || valueAntiquantMode < 0 ||                    \
          valueAntiquantMode > 1,                                                                  \
      keyAntiquantScale ? keyAntiquantMode : antiquantMode,                                        \
      valueAntiquantScale ? valueAntiquantMode : antiquantMode, keyAntiquantScale,                 \
      keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset)
ACLNN_SPLIT_ATTENTION(FusedInferAttentionScoreV2, (), (), (), ())
ACLNN_SPLIT_ATTENTION(FusedInferAttentionScoreV3,
                      (const aclTensor *queryRope, const aclTensor *keyRope,
                       const aclTensor *keyRopeAntiquantScale, ),
                      (keyRopeAntiquantScale), (, queryRope, keyRope), ())
ACLNN_SPLIT_ATTENTION(FusedInferAttentionScoreV4,
                      (const aclTensor *queryRope, const aclTensor *keyRope,
                       const aclTensor *keyRopeAntiquantScale, const aclTensor *dequantScaleQuery,
                       const aclTensor *learnableSink, ),
                      (keyRopeAntiquantScale, dequantScaleQuery, learnableSink),
                      (, queryRope, keyRope), (int64_t, ))

aclnnStatus aclnnRecurrentGatedDeltaRuleGetWorkspaceSize(
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    float, aclTensor *, uint64_t *, aclOpExecutor **) {
  return fail(aclnnIsInvalid, __func__, "a recurrence over tokens has no functions here");
}
ACLNN_RUN(RecurrentGatedDeltaRule)
aclnnStatus aclnnTriangularSolveGetWorkspaceSize(const aclTensor *, const aclTensor *, bool, bool,
                                                 bool, aclTensor *, aclTensor *, uint64_t *,
                                                 aclOpExecutor **) {
  return fail(aclnnIsInvalid, __func__, "equations have no functions here");
}
ACLNN_RUN(TriangularSolve)
