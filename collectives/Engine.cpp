//===-- Engine.cpp - runs the collectives of a rank on a thread -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "collectives/Engine.h"

#include "collectives/Algorithms.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace atc::collectives {

namespace {

const char *nameOf(om_collective_kind kind) {
  static const char *const names[OM_COLLECTIVE_KINDS] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send", "receive"};
  return names[kind];
}

om_status fail(om_error *error, const std::string &sentence) {
  error->code = OM_ERROR_RUN;
  std::snprintf(error->message, sizeof(error->message), "%s", sentence.c_str());
  return OM_ERROR_RUN;
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
}

} // namespace

Engine::~Engine() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

bool Engine::open(const OpenTransport &openTransport, std::string &error) {
  collectives = &table;
  table = {sizeof(om_collectives), this, 0, 0, start, wait};
  om_ranks::traffic = [](om_ranks *ranks, om_traffic *result) {
    auto *engine = static_cast<Engine *>(ranks);
    std::lock_guard lock(engine->mutex);
    *result = engine->counts;
  };
  om_ranks::abort = [](om_ranks *ranks, const char *sentence) {
    auto *engine = static_cast<Engine *>(ranks);
    std::unique_lock lock(engine->mutex);
    engine->aborting = sentence;
    engine->changed.notify_all();
    engine->changed.wait(lock, [&] { return engine->aborting.empty(); });
  };
  om_ranks::close = [](om_ranks *ranks) { delete static_cast<Engine *>(ranks); };
  try {
    thread = std::thread([this, openTransport] { loop(openTransport); });
  } catch (const std::system_error &problem) {
    error = std::string("no thread can be started for a rank: ") + problem.what();
    return false;
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return opened; });
  error = failure;
  return failure.empty();
}

om_status Engine::start(void *user, const om_collective *op, void **request, om_error *) {
  auto *engine = static_cast<Engine *>(user);
  auto *made = new Request{*op, {}, {}};
  *request = made;
  std::lock_guard lock(engine->mutex);
  engine->queue.push_back(made);
  engine->changed.notify_all();
  return OM_OK;
}

om_status Engine::wait(void *user, void *given, om_error *error) {
  auto *engine = static_cast<Engine *>(user);
  std::unique_ptr<Request> request(static_cast<Request *>(given));
  const auto begin = Clock::now();
  std::unique_lock lock(engine->mutex);
  engine->changed.wait(lock, [&] { return request->done; });
  engine->counts.waited_nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  if (!request->error.empty())
    return fail(error, request->error);
  if (request->op.output && !request->result.empty())
    std::copy(request->result.begin(), request->result.end(),
              static_cast<char *>(request->op.output));
  return OM_OK;
}

void Engine::pause(Clock::time_point since) {
  // Ranks of one machine may share its processors.
  const auto waited = Clock::now() - since;
  if (waited < std::chrono::microseconds(50))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(
        std::chrono::microseconds(waited < std::chrono::milliseconds(5) ? 20 : 200));
}

bool Engine::progress() {
  std::string error;
  if (failure.empty())
    sends.remove_if([&](const Sending &sending) {
      return error.empty() && transport->test(sending.handle, error);
    });
  if (!error.empty()) {
    std::lock_guard lock(mutex);
    failure = error;
  }
  return failure.empty() && !sends.empty();
}

void Engine::send(Request &request) {
  const char *input = static_cast<const char *>(request.op.input);
  Sending &sending = sends.emplace_back();
  sending.data.assign(input, input + request.op.input_bytes);
  sending.to = request.op.ranks[0];
  sending.handle =
      transport->send(sending.to, request.op.tag, sending.data.data(), sending.data.size());
}

void Engine::run(Request &request) {
  const om_collective &op = request.op;
  if (!failure.empty()) {
    request.error = failure;
    return;
  }
  const auto begin = Clock::now();
  Moved moved;
  if (op.kind == OM_SEND) {
    if (op.input_bytes)
      send(request);
    moved.sent = op.input_bytes;
  } else {
    auto last = begin;
    uint32_t awaited = 0;
    bool gaveUp = false;
    uint64_t tests = 0;
    Algorithm algorithm(*transport, op, [&](uint32_t peer) {
      // A message has come since the last call where the algorithm asks for another one.
      if (tests++ == 0 || peer != awaited)
        last = Clock::now();
      awaited = peer;
      progress();
      bool isAborting;
      {
        std::lock_guard lock(mutex);
        isAborting = !aborting.empty();
      }
      gaveUp = isAborting || !failure.empty() ||
               std::chrono::duration<double>(Clock::now() - last).count() > timeout;
      if (!gaveUp)
        pause(last);
      return !gaveUp;
    });
    if (!algorithm.run(request.result, request.error)) {
      for (std::vector<char> &buffer : algorithm.takeBuffers())
        abandoned.push_back(std::move(buffer));
      if (request.error.empty())
        request.error = failure;
      if (request.error.empty())
        request.error = "rank " + std::to_string(transport->rank()) + " has waited " +
                        secondsText(timeout) + " s in " + nameOf(op.kind) + " '" + op.name +
                        "' for rank " + std::to_string(awaited) +
                        ", which has sent nothing: it has ended, hangs, or runs another model.";
    }
    moved = algorithm.moved();
  }
  std::lock_guard lock(mutex);
  if (!request.error.empty())
    failure = request.error;
  ++counts.calls[op.kind];
  counts.sent_bytes[op.kind] += moved.sent;
  counts.received_bytes[op.kind] += moved.received;
  counts.busy_nanoseconds[op.kind] +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

void Engine::loop(const OpenTransport &openTransport) {
  std::string error;
  transport = openTransport(error);
  std::unique_lock lock(mutex);
  opened = true;
  failure = error;
  if (transport) {
    table.rank = transport->rank();
    table.ranks = transport->ranks();
  }
  changed.notify_all();
  auto ended = Clock::now();
  while (transport) {
    if (!aborting.empty()) {
      lock.unlock();
      transport->abort(aborting);
      lock.lock();
      failure = aborting;
      aborting.clear();
      changed.notify_all();
    } else if (!queue.empty()) {
      Request *request = queue.front();
      queue.pop_front();
      lock.unlock();
      run(*request);
      lock.lock();
      request->done = true;
      ended = Clock::now();
      changed.notify_all();
    } else {
      lock.unlock();
      const bool sending = progress();
      lock.lock();
      const double waited = std::chrono::duration<double>(Clock::now() - ended).count();
      if (ending && queue.empty() && (!sending || !failure.empty() || waited > timeout))
        break;
      if (queue.empty() && !ending && aborting.empty()) {
        if (sending)
          changed.wait_for(lock, std::chrono::microseconds(200));
        else
          changed.wait(lock);
      } else if (ending) {
        changed.wait_for(lock, std::chrono::microseconds(200));
      }
    }
  }
  lock.unlock();
  // Messages that never completed refer to their buffers as long as the transport lives.
  transport.reset();
  sends.clear();
}

} // namespace atc::collectives
