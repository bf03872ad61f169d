//===-- Fifo.h - a queue that takes no memory until it is used --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_FIFO_H
#define OPENATC_NPU_SIMULATOR_FIFO_H

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace atc::npu {

/// First in, first out. A core has hundreds of them, of which a program uses a few: an
/// empty std::deque allocates 576 bytes, this one nothing. Elements are moved when it
/// grows, so references last until the next push_back.
template <typename T> class Fifo {
public:
  /// Returns whether there are no items.
  bool empty() const { return head == std::ptrdiff_t(items.size()); }
  /// Returns the oldest item, which must exist; valid until the next change.
  T &front() {
    assert(!empty() && "front of an empty queue");
    return items[head];
  }
  const T &front() const {
    assert(!empty() && "front of an empty queue");
    return items[head];
  }
  /// Iterates over the items, the oldest one first.
  auto begin() const { return items.begin() + head; }
  auto end() const { return items.end(); }

  /// Appends an item; invalidates references.
  void push_back(T item) {
    // Half of the room is of what has gone: that is enough for the rest.
    if (items.size() == items.capacity() && head > std::ptrdiff_t(items.size() / 2)) {
      items.erase(items.begin(), items.begin() + head);
      head = 0;
    }
    items.push_back(std::move(item));
  }

  /// Removes the oldest item, which must exist, and releases it.
  void pop_front() {
    assert(!empty() && "nothing to take");
    items[head++] = T();
    if (empty()) {
      items.clear();
      head = 0;
    }
  }

private:
  std::vector<T> items;
  std::ptrdiff_t head = 0; ///< of the elements that are left
};

} // namespace atc::npu

#endif
