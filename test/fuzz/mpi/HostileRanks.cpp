//===-- HostileRanks.cpp - ranks that send what an input says -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/mpi/HostileRanks.h"

#include "test/fuzz/mpi/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace atc::fuzz {

HostileRanks &hostileRanks() {
  static HostileRanks ranks;
  return ranks;
}

namespace {

/// Lists the fates of a message.
enum class Fate { Arrives, Short, Long, Fails, Never, Late };

/// A message that was posted.
struct Posted {
  Fate fate;
  unsigned tests; ///< so many times it is not complete yet
  char *target;   ///< null: a message that leaves
  int bytes;      ///< that it has, or that fit
};

std::vector<Posted> &posted() {
  static std::vector<Posted> messages;
  return messages;
}

/// Fills the memory of messages that come when nobody waits for them any more.
void deliverLate() {
  for (const Posted &message : posted())
    if (message.fate == Fate::Late && message.target)
      std::memset(message.target, 0xEE, size_t(message.bytes));
}

int post(char *target, int bytes, MPI_Request *request) {
  deliverLate();
  HostileRanks &ranks = hostileRanks();
  const uint8_t fate = ranks.script.next();
  // Most messages arrive, so that those behind them are reached as well.
  constexpr uint8_t kHonest = 200, kRefused = 250;
  ranks.isAnyDamaged |= fate >= kHonest;
  if (fate >= kRefused)
    return MPI_ERR_RANK;
  static constexpr Fate fates[] = {Fate::Short, Fate::Long, Fate::Fails, Fate::Never, Fate::Late};
  Posted message = {Fate::Arrives, fate % 4u, target, bytes};
  if (fate >= kHonest)
    message.fate = fates[(fate - kHonest) % 5];
  // What leaves is as long as it is.
  if (!target && (message.fate == Fate::Short || message.fate == Fate::Long))
    message.fate = Fate::Fails;
  posted().push_back(message);
  *request = int(posted().size());
  return MPI_SUCCESS;
}

} // namespace

} // namespace atc::fuzz

using namespace atc::fuzz;

int MPI_Init_thread(int *, char ***, int, int *provided) {
  *provided = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}

int MPI_Finalize() {
  // Memory of messages that are not complete must not be given back before this.
  deliverLate();
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm, int) {
  deliverLate();
  _exit(kAborted);
}

int MPI_Comm_rank(MPI_Comm, int *rank) {
  *rank = hostileRanks().own;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm, int *size) {
  *size = hostileRanks().ranks;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }

int MPI_Error_string(int code, char *text, int *length) {
  *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "error %d", code);
  return MPI_SUCCESS;
}

int MPI_Isend(const void *, int count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *request) {
  return post(nullptr, count, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *request) {
  return post(static_cast<char *>(data), count, request);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  deliverLate();
  *done = *request == MPI_REQUEST_NULL;
  status->bytes = 0;
  if (*done)
    return MPI_SUCCESS;
  Posted &message = posted().at(size_t(*request) - 1);
  if (message.fate == Fate::Never || message.fate == Fate::Late)
    return MPI_SUCCESS;
  if (message.tests) {
    --message.tests;
    return MPI_SUCCESS;
  }
  // As MPI does: a request that has ended, well or not, is no request any more.
  *request = MPI_REQUEST_NULL;
  if (message.fate == Fate::Fails)
    return MPI_ERR_OTHER;
  status->bytes = message.fate == Fate::Short ? message.bytes / 2 : message.bytes;
  if (message.target)
    std::memset(message.target, kHonestByte, size_t(status->bytes));
  if (message.fate == Fate::Long)
    return MPI_ERR_TRUNCATE;
  *done = 1;
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype, int *count) {
  *count = status->bytes;
  return MPI_SUCCESS;
}
