//===-- Mpi.cpp - ranks that are processes of MPI -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "collectives/Engine.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <map>

using namespace atc::collectives;

namespace {

/// Messages over MPI. All calls of MPI come from the engine's thread, which has initialized it.
class MpiTransport : public Transport {
public:
  MpiTransport() {
    int number;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    own = static_cast<uint32_t>(number);
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    count = static_cast<uint32_t>(number);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~MpiTransport() override {
    // A message that is not complete would keep MPI_Finalize from returning.
    if (requests.empty())
      MPI_Finalize();
    else
      stop(1);
  }

  uint32_t rank() const override { return own; }
  uint32_t ranks() const override { return count; }

  Handle send(uint32_t to, uint32_t tag, const void *data, size_t bytes) override {
    return begin(static_cast<char *>(const_cast<void *>(data)), bytes, to, tag, /*sends=*/true);
  }
  Handle receive(uint32_t from, uint32_t tag, void *data, size_t bytes) override {
    return begin(static_cast<char *>(data), bytes, from, tag, /*sends=*/false);
  }

  bool test(Handle handle, std::string &error) override {
    Message &message = requests.at(handle);
    for (;;) {
      int done = 0;
      MPI_Status status;
      if (message.code == MPI_SUCCESS)
        message.code = MPI_Test(&message.request, &done, &status);
      if (message.code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(message.code, text, &length);
        error = "a message between rank " + std::to_string(own) + " and rank " +
                std::to_string(message.peer) + " failed: " + std::string(text, length) + ".";
        return false;
      }
      if (!done)
        return false;
      int received = static_cast<int>(message.piece);
      if (!message.sends)
        MPI_Get_count(&status, MPI_BYTE, &received);
      if (static_cast<size_t>(received) != message.piece) {
        error = "rank " + std::to_string(message.peer) + " has sent " + std::to_string(received) +
                " bytes where rank " + std::to_string(own) + " expects " +
                std::to_string(message.piece) + ": it runs another model.";
        return false;
      }
      message.data += message.piece;
      message.left -= message.piece;
      if (message.left == 0) {
        requests.erase(handle);
        return true;
      }
      post(message);
    }
  }

  void abort(const std::string &) override { stop(1); }

private:
  /// A message in pieces: MPI counts in int.
  struct Message {
    MPI_Request request;
    char *data;
    size_t left, piece;
    uint32_t peer, tag;
    bool sends;
    /// The error that a call has returned. It stays, for MPI forgets the request with it, and then
    /// calls it complete.
    int code;
  };
  static constexpr size_t maxPiece = size_t(1) << 30;

  Handle begin(char *data, size_t bytes, uint32_t peer, uint32_t tag, bool sends) {
    Message &message = requests[++last];
    message = {MPI_REQUEST_NULL, data, bytes, 0, peer, tag, sends, MPI_SUCCESS};
    post(message);
    return last;
  }

  void post(Message &message) {
    message.piece = message.left < maxPiece ? message.left : maxPiece;
    const int size = static_cast<int>(message.piece), peer = static_cast<int>(message.peer),
              tag = static_cast<int>(message.tag);
    message.code =
        message.sends
            ? MPI_Isend(message.data, size, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &message.request)
            : MPI_Irecv(message.data, size, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &message.request);
  }

  /// Ends all processes.
  [[noreturn]] void stop(int code) {
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

  uint32_t own = 0, count = 1;
  Handle last = 0;
  std::map<Handle, Message> requests;
};

} // namespace

extern "C" __attribute__((visibility("default"))) om_status om_mpi_open(double timeout,
                                                                        om_ranks **ranks,
                                                                        om_error *error) {
  auto engine = std::make_unique<Engine>(timeout);
  auto open = [](std::string &sentence) -> std::unique_ptr<Transport> {
    int provided = 0;
    // The thread that initializes MPI is the only one that calls it.
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
      sentence = "MPI cannot be initialized for a process of several threads.";
      return nullptr;
    }
    return std::make_unique<MpiTransport>();
  };
  std::string sentence;
  if (!engine->open(open, sentence)) {
    error->code = OM_ERROR_RUN;
    std::snprintf(error->message, sizeof(error->message), "%s", sentence.c_str());
    return OM_ERROR_RUN;
  }
  *ranks = engine.release();
  return OM_OK;
}
