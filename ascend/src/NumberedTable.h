//===-- NumberedTable.h - what programs name by numbers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_ASCEND_NUMBEREDTABLE_H
#define OPENATC_ASCEND_NUMBEREDTABLE_H

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace atc::ascend {

/// Gives items the numbers 1, 2, ...; no number is given twice. Several threads may use
/// it at a time.
template <typename Id, typename Item> class NumberedTable {
public:
  /// Returns the number of the item.
  Id add(Item item) {
    std::lock_guard lock(mutex);
    items.emplace(next, std::move(item));
    return next++;
  }

  /// Returns a copy of the item with a number; nothing where there is none.
  std::optional<Item> find(Id id) {
    std::lock_guard lock(mutex);
    auto found = items.find(id);
    return found == items.end() ? std::nullopt : std::optional<Item>(found->second);
  }

  /// Removes the item with a number and returns it; nothing where there is none, or `accepts`
  /// (called with the table locked) returns false for it.
  template <typename Accepts> std::optional<Item> take(Id id, Accepts accepts) {
    std::lock_guard lock(mutex);
    auto found = items.find(id);
    if (found == items.end() || !accepts(found->second))
      return std::nullopt;
    std::optional<Item> item(std::move(found->second));
    items.erase(found);
    return item;
  }
  std::optional<Item> take(Id id) {
    return take(id, [](const Item &) { return true; });
  }

private:
  std::mutex mutex;
  std::map<Id, Item> items;
  Id next = 1;
};

} // namespace atc::ascend

#endif // OPENATC_ASCEND_NUMBEREDTABLE_H
