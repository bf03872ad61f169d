//===-- Loopback.cpp - the ranks of one process ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "collectives/Engine.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace atc::collectives;

namespace {

/// The messages between the ranks of a process.
struct Hub {
  explicit Hub(uint32_t ranks) : ranks(ranks) {}
  const uint32_t ranks;
  std::mutex mutex;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<std::vector<char>>> messages;
  std::string failure;
};

class Loopback : public Transport {
public:
  Loopback(std::shared_ptr<Hub> hub, uint32_t own) : hub(std::move(hub)), own(own) {}

  uint32_t rank() const override { return own; }
  uint32_t ranks() const override { return hub->ranks; }

  Handle send(uint32_t to, uint32_t tag, const void *data, size_t bytes) override {
    const char *begin = static_cast<const char *>(data);
    std::lock_guard lock(hub->mutex);
    hub->messages[{own, to, tag}].emplace_back(begin, begin + bytes);
    return sent;
  }

  Handle receive(uint32_t from, uint32_t tag, void *data, size_t bytes) override {
    receiving[++last] = {from, tag, static_cast<char *>(data), bytes};
    return last;
  }

  bool test(Handle handle, std::string &error) override {
    if (handle == sent)
      return true;
    const Receiving &wanted = receiving.at(handle);
    std::lock_guard lock(hub->mutex);
    auto &queue = hub->messages[{wanted.from, own, wanted.tag}];
    if (queue.empty()) {
      error = hub->failure;
      return false;
    }
    if (queue.front().size() != wanted.bytes) {
      error = "rank " + std::to_string(wanted.from) + " has sent " +
              std::to_string(queue.front().size()) + " bytes where rank " + std::to_string(own) +
              " expects " + std::to_string(wanted.bytes) + ": it runs another model.";
      return false;
    }
    std::copy_n(queue.front().data(), wanted.bytes, static_cast<char *>(wanted.data));
    queue.pop_front();
    receiving.erase(handle);
    return true;
  }

  void abort(const std::string &sentence) override {
    std::lock_guard lock(hub->mutex);
    if (hub->failure.empty())
      hub->failure = sentence;
  }

private:
  static constexpr Handle sent = 1;
  struct Receiving {
    uint32_t from, tag;
    char *data;
    size_t bytes;
  };

  std::shared_ptr<Hub> hub;
  const uint32_t own;
  Handle last = sent;
  std::map<Handle, Receiving> receiving;
};

} // namespace

om_status om_loopback_open(uint32_t count, double timeout, om_ranks **ranks, om_error *error) {
  auto hub = std::make_shared<Hub>(count);
  for (uint32_t rank = 0; rank < count; ++rank) {
    auto engine = std::make_unique<Engine>(timeout);
    std::string sentence;
    if (!engine->open([&](std::string &) { return std::make_unique<Loopback>(hub, rank); },
                      sentence)) {
      while (rank-- > 0)
        ranks[rank]->close(ranks[rank]);
      error->code = OM_ERROR_RUN;
      std::snprintf(error->message, sizeof(error->message), "%s", sentence.c_str());
      return OM_ERROR_RUN;
    }
    ranks[rank] = engine.release();
  }
  return OM_OK;
}
