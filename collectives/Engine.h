//===-- Engine.h - runs the collectives of a rank on a thread ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_COLLECTIVES_ENGINE_H
#define OPENATC_COLLECTIVES_ENGINE_H

#include "collectives/Transport.h"
#include "openatc/ranks.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace atc::collectives {

/// Makes the transport, on the thread that will use it. Returns null and sets a sentence on
/// failure.
using OpenTransport = std::function<std::unique_ptr<Transport>(std::string &error)>;

/// An om_ranks over a transport: collectives run one after the other, in the order in which they
/// were begun, on a thread of their own. A send is complete, for the caller, at once: its bytes are
/// copied and leave while others run.
class Engine : public om_ranks {
public:
  explicit Engine(double timeoutSeconds) : timeout(timeoutSeconds) {}
  /// Waits for sends, then ends the thread.
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Starts the thread and connects. Returns false and sets a sentence on failure.
  bool open(const OpenTransport &openTransport, std::string &error);

private:
  struct Request {
    om_collective op;
    std::vector<char> result;
    std::string error;
    bool done = false;
  };
  /// A send on its way.
  struct Sending {
    Transport::Handle handle;
    std::vector<char> data;
    uint32_t to;
    std::string name;
  };
  using Clock = std::chrono::steady_clock;

  static om_status start(void *user, const om_collective *op, void **request, om_error *error);
  static om_status wait(void *user, void *request, om_error *error);

  void loop(const OpenTransport &openTransport);
  void run(Request &request);
  void send(Request &request);
  /// Tests the sends on their way; returns whether there are some left. One that failed fails all
  /// that comes behind it.
  bool progress();
  /// Yields to other threads, for a time that grows while nothing happens.
  void pause(Clock::time_point since);

  const double timeout;
  om_collectives table = {};
  std::unique_ptr<Transport> transport; ///< of the thread
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Request *> queue;
  bool opened = false, ending = false;
  std::string failure;  ///< of the first collective that failed: the others fail with it
  std::string aborting; ///< the sentence of abort()
  om_traffic counts = {};
  std::list<Sending> sends;                 ///< of the thread
  std::vector<std::vector<char>> abandoned; ///< buffers of messages that never completed
};

} // namespace atc::collectives

#endif // OPENATC_COLLECTIVES_ENGINE_H
