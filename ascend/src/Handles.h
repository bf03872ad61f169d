//===-- Handles.h - opaque handles that are checked --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_HANDLES_H
#define ASCEND_SRC_HANDLES_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atc::ascend {

/// Each kind of handle, so that one of another kind is recognized.
enum class HandleKind : uint8_t {
  Context = 1,
  Stream,
  Event,
  DataBuffer,
  TensorDesc,
  ModelDesc,
  Dataset,
  Aipp,
  LoadConfig,
  ExecConfig,
  OpAttr,
  OpHandle,
  ProfConfig,
  ProfSubscribeConfig,
  ProfStamp,
  ProfStepInfo,
  GraphDumpOption,
  AllocatorDesc,
  TdtItem,
  TdtDataset,
  TdtChannel,
  TdtBuffer,
  TdtQueueAttr,
  TdtRoute,
  TdtRouteList,
  TdtRouteQuery,
  PhysicalMemory,
  Notify,
  CountNotify,
  ModelInstance,
  RecordedTask,
  TaskGroup,
  Label,
  LabelList,
  MemoryPool,
  MarkDomain,
  Tensor,
  Scalar,
  IntArray,
  FloatArray,
  BoolArray,
  TensorList,
  ScalarList,
  OpExecutor,
  BundleQuery,
  FeatureObject, // the first of six
  FeatureObjectLast = FeatureObject + 5,
  Dvpp // the first of those that the media library has
};

/// Maps handles to objects. A handle is a number that looks like no address, and is never
/// used twice: one that was destroyed, or made up, is not found. Users of an object share
/// it, so that destroying a handle on one thread cannot free what another thread uses.
template <typename T> class HandleTable {
public:
  explicit HandleTable(HandleKind kind) : HandleTable(static_cast<uint8_t>(kind)) {}
  explicit HandleTable(uint8_t kind)
      : next((uint64_t{0x0A} << 56) | (uint64_t{kind} << 44) | 0x10) {}

  /// Stores an object; returns its handle, which is not NULL.
  void *add(std::shared_ptr<T> object) {
    std::unique_lock lock(mutex);
    uint64_t handle = next;
    next += 0x10;
    objects.emplace(handle, std::move(object));
    return reinterpret_cast<void *>(handle);
  }

  /// Returns the object of a handle; null where it is no handle of this table.
  std::shared_ptr<T> find(const void *handle) const {
    std::shared_lock lock(mutex);
    auto found = objects.find(reinterpret_cast<uint64_t>(handle));
    return found == objects.end() ? nullptr : found->second;
  }

  /// Removes a handle and returns its object; null where it is no handle of this table.
  std::shared_ptr<T> remove(const void *handle) {
    std::unique_lock lock(mutex);
    auto found = objects.find(reinterpret_cast<uint64_t>(handle));
    if (found == objects.end())
      return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects.erase(found);
    return object;
  }

  /// Removes the handles whose object fulfils a condition, and returns those objects.
  template <typename Condition>
  std::vector<std::shared_ptr<T>> removeIf(const Condition &condition) {
    std::vector<std::shared_ptr<T>> removed;
    std::unique_lock lock(mutex);
    for (auto each = objects.begin(); each != objects.end();) {
      if (condition(*each->second)) {
        removed.push_back(std::move(each->second));
        each = objects.erase(each);
      } else {
        ++each;
      }
    }
    return removed;
  }

  /// Returns the number of objects.
  size_t size() const {
    std::shared_lock lock(mutex);
    return objects.size();
  }

  /// Returns the objects that fulfil a condition.
  template <typename Condition>
  std::vector<std::shared_ptr<T>> select(const Condition &condition) const {
    std::vector<std::shared_ptr<T>> selected;
    std::shared_lock lock(mutex);
    for (const auto &[handle, object] : objects)
      if (condition(*object))
        selected.push_back(object);
    return selected;
  }

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<T>> objects;
  uint64_t next;
};

} // namespace atc::ascend

/// Declares `name`, the shared object of a handle, or returns from the calling function.
#define ACL_FIND(name, table, handle)                                                              \
  ACL_REQUIRE(handle);                                                                             \
  auto name = (table).find(handle);                                                                \
  if (!name)                                                                                       \
  ACL_FAIL(ACL_ERROR_INVALID_RESOURCE_HANDLE,                                                      \
           #handle " (%p) was destroyed, or is no handle of "                                      \
                   "this kind",                                                                    \
           reinterpret_cast<const void *>(handle))

#endif
