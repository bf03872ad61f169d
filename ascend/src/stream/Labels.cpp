//===-- Labels.cpp - tasks of built models that choose the next ones -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <atomic>

namespace atc::ascend {
namespace {

/// A position between the tasks of a stream that is bound to a model: behind the task that
/// aclrtSetLabel has queued there.
struct Label {
  std::mutex mutex;
  std::weak_ptr<RecordedModel> model;
  std::shared_ptr<RecordedTask> position; ///< null: not set
};

using LabelList = std::vector<std::shared_ptr<Label>>;

constexpr size_t maxLabels = 65535;

HandleTable<Label> &knownLabels() {
  static auto &table = *new HandleTable<Label>(HandleKind::Label);
  return table;
}

HandleTable<LabelList> &labelLists() {
  static auto &table = *new HandleTable<LabelList>(HandleKind::LabelList);
  return table;
}

/// Writes a stream that is bound to a model that is built still, and the model;
/// ACL_ERROR_RT_STREAM_MODEL for another stream.
aclError findBound(const char *function, aclrtStream handle, std::shared_ptr<Stream> &stream,
                   std::shared_ptr<RecordedModel> &model) {
  ACL_TRY(findStream(function, handle, stream));
  model = stream->capture();
  if (model && model->isBuilt)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_STREAM_MODEL, function,
              "the stream is not bound to a model; call aclmdlRIBindStream first");
}

/// Does that with a stream that must be bound to `model` as another one is.
aclError findOther(const char *function, aclrtStream handle, const RecordedModel &model,
                   int32_t &id) {
  std::shared_ptr<Stream> stream;
  std::shared_ptr<RecordedModel> own;
  ACL_TRY(findBound(function, handle, stream, own));
  if (own.get() != &model)
    return fail(ACL_ERROR_RT_STREAM_MODEL, function, "the streams belong to different models");
  id = stream->id;
  return ACL_SUCCESS;
}

/// Queues a task that decides what runs next.
aclError decide(const char *function, RecordedModel &model, const Stream &stream,
                StreamDecision decision) {
  auto task = std::make_shared<RecordedTask>(stream.id, nullptr, nullptr, aclmdlRITaskParams{});
  task->decision = std::move(decision);
  if (model.add(std::move(task)))
    return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_STREAM_MODEL, function, "the model is complete already");
}

template <typename T> bool holds(aclrtCondition condition, const void *left, const void *right) {
  const T first = __atomic_load_n(static_cast<const T *>(left), __ATOMIC_ACQUIRE);
  const T second = __atomic_load_n(static_cast<const T *>(right), __ATOMIC_ACQUIRE);
  switch (condition) {
  case ACL_RT_EQUAL:
    return first == second;
  case ACL_RT_NOT_EQUAL:
    return first != second;
  case ACL_RT_GREATER:
    return first > second;
  case ACL_RT_GREATER_OR_EQUAL:
    return first >= second;
  case ACL_RT_LESS:
    return first < second;
  case ACL_RT_LESS_OR_EQUAL:
    return first <= second;
  }
  return false;
}

/// Writes the device memory of a number of `size` bytes that a task reads when it runs.
aclError findNumber(const char *function, const char *name, void *address, size_t size,
                    std::shared_ptr<Block> &block) {
  ACL_TRY(requireDevice(function, name, address, size, block));
  if (reinterpret_cast<uintptr_t>(address) % size != 0)
    return fail(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, function, "%s (%p) is not a multiple of %zu",
                name, address, size);
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtCreateLabel(aclrtLabel *label) {
  ACL_REQUIRE(label);
  ACL_REQUIRE_CONTEXT(context);
  if (knownLabels().size() >= maxLabels)
    ACL_FAIL(ACL_ERROR_RT_OVER_LIMIT, "there are %zu labels already, the most", maxLabels);
  *label = knownLabels().add(std::make_shared<Label>());
  return ACL_SUCCESS;
}

aclError aclrtDestroyLabel(aclrtLabel label) {
  ACL_REQUIRE(label);
  if (!knownLabels().remove(label))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "label (%p) was destroyed, or is no label", label);
  return ACL_SUCCESS;
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
  ACL_FIND(found, knownLabels(), label);
  std::shared_ptr<Stream> bound;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBound(__func__, stream, bound, model));
  std::lock_guard lock(found->mutex);
  if (found->position)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the label is set already; create one per position");
  auto position = std::make_shared<RecordedTask>(bound->id, nullptr, nullptr, aclmdlRITaskParams{});
  position->decision = [](Branch &) { return ACL_SUCCESS; };
  if (!model->add(position))
    ACL_FAIL(ACL_ERROR_RT_STREAM_MODEL, "the model is complete already");
  found->position = std::move(position);
  found->model = model;
  return ACL_SUCCESS;
}

aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList) {
  ACL_REQUIRE(labels);
  ACL_REQUIRE(labelList);
  if (num == 0 || num > maxLabels)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "num is %zu; give 1 to %zu", num, maxLabels);
  auto list = std::make_shared<LabelList>();
  for (size_t i = 0; i < num; ++i) {
    ACL_FIND(label, knownLabels(), labels[i]);
    list->push_back(std::move(label));
  }
  *labelList = labelLists().add(std::move(list));
  return ACL_SUCCESS;
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
  ACL_REQUIRE(labelList);
  if (!labelLists().remove(labelList))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "labelList (%p) was destroyed, or is no list", labelList);
  return ACL_SUCCESS;
}

aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList,
                                 aclrtStream stream) {
  ACL_REQUIRE(ptr);
  ACL_FIND(list, labelLists(), labelList);
  if (maxValue == 0 || maxValue > list->size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "maxValue is %u; the list has %zu labels", maxValue,
             list->size());
  std::shared_ptr<Block> block;
  ACL_TRY(findNumber(__func__, "ptr", ptr, sizeof(uint32_t), block));
  std::shared_ptr<Stream> bound;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBound(__func__, stream, bound, model));
  const auto jump = [=, owner = model.get()](Branch &branch) -> aclError {
    const uint32_t index = __atomic_load_n(static_cast<uint32_t *>(ptr), __ATOMIC_ACQUIRE);
    Label &label = *(*list)[std::min(index, maxValue - 1)];
    std::lock_guard lock(label.mutex);
    if (!label.position || label.model.lock().get() != owner)
      return fail(ACL_ERROR_RT_STREAM_MODEL, "aclrtSwitchLabelByIndex",
                  "label %u of the list is not set on a stream of this model", index);
    branch = {label.position->stream, label.position->number, true};
    return ACL_SUCCESS;
  };
  return decide(__func__, *model, *bound, [jump, block](Branch &branch) { return jump(branch); });
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  std::shared_ptr<Stream> bound;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBound(__func__, stream, bound, model));
  int32_t other = 0;
  ACL_TRY(findOther(__func__, activeStream, *model, other));
  return decide(__func__, *model, *bound, [other](Branch &branch) {
    branch = {other, 0, false};
    return ACL_SUCCESS;
  });
}

aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue,
                           aclrtCompareDataType dataType, aclrtStream trueStream,
                           aclrtStream falseStream, aclrtStream stream) {
  if (cond > ACL_RT_LESS_OR_EQUAL)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "cond is %d; give 0 to 5", int(cond));
  if (dataType != ACL_RT_SWITCH_INT32 && dataType != ACL_RT_SWITCH_INT64)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dataType is %d; give 0 or 1", int(dataType));
  if (falseStream)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "falseStream is not NULL");
  const bool wide = dataType == ACL_RT_SWITCH_INT64;
  std::shared_ptr<Block> left, right;
  ACL_TRY(findNumber(__func__, "leftValue", leftValue, wide ? 8 : 4, left));
  ACL_TRY(findNumber(__func__, "rightValue", rightValue, wide ? 8 : 4, right));
  std::shared_ptr<Stream> bound;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBound(__func__, stream, bound, model));
  int32_t other = 0;
  ACL_TRY(findOther(__func__, trueStream, *model, other));
  return decide(__func__, *model, *bound, [=, kept = std::pair(left, right)](Branch &branch) {
    if (wide ? holds<int64_t>(cond, leftValue, rightValue)
             : holds<int32_t>(cond, leftValue, rightValue))
      branch = {other, 0, true};
    return ACL_SUCCESS;
  });
}
