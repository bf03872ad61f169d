//===-- HostCollectives.cpp - the collectives of a dynamic schedule -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/host/HostMachine.h"

#include "runtime-lite/src/Session.h"

namespace fb = atc::om::fb;

namespace atc::rt {

static_assert(static_cast<int>(fb::CollectiveKind::MAX) == OM_RECEIVE &&
                  static_cast<int>(fb::Reduction::MAX) == OM_REDUCE_MIN,
              "the schema and collectives.h number collectives alike");

om_status HostMachine::startCollective(const fb::HostCollective &op) {
  const om_collectives *peers = session.collectives;
  if (!peers)
    return fail(error, OM_ERROR_NO_DEVICE,
                "the model is the program of rank %u of %u, and its session is not connected to "
                "the others: run them together (om-run with the manifest).",
                program.rank(), program.ranks());
  const om_value *input = op.input() < 0 ? nullptr : slots[static_cast<uint32_t>(op.input())];
  const auto dtype = static_cast<uint8_t>(op.dtype());
  uint64_t elements = 0, bytes = 0;
  if (op.input() >= 0 &&
      (!input || input->kind != host::Kind::Tensor || input->dtype != dtype || input->room ||
       !tensorSize(dtype, input->rank, input->dims, elements, bytes) || elements != op.elements()))
    return fail(error, OM_ERROR_RUN,
                "node '%s' failed: its input is no dense tensor of %llu elements of its type.",
                op.name()->c_str(), static_cast<unsigned long long>(op.elements()));
  Pending next = {nullptr, nullptr, op.output()};
  om_collective call = {};
  if (op.output() >= 0) {
    om_status status;
    uint64_t count;
    next.output = makeTensor(&memory, dtype, op.dims()->size(), op.dims()->data(), Elements::Fresh,
                             nullptr, status);
    if (!next.output)
      return noMemory(op.name()->c_str(), 0);
    call.output = next.output->data;
    tensorSize(dtype, op.dims()->size(), op.dims()->data(), count, call.output_bytes);
  }
  call.name = op.name()->c_str();
  call.kind = static_cast<om_collective_kind>(op.kind());
  call.reduction = static_cast<om_reduction>(op.reduction());
  call.dtype = static_cast<om_dtype>(dtype);
  call.ranks = op.ranks()->data();
  call.rank_count = op.ranks()->size();
  call.root = op.root();
  call.tag = op.tag();
  call.input = input ? input->data : nullptr;
  call.input_bytes = bytes;
  const om_status status = peers->start(peers->user, &call, &next.request, error);
  if (status != OM_OK) {
    Memory::release(&memory, next.output);
    return status;
  }
  // The slot of the input may be emptied before the collective is complete.
  next.input = const_cast<om_value *>(input);
  retain(input);
  pending[pendingCount++] = next;
  return OM_OK;
}

om_status HostMachine::finish(Pending &done) {
  const om_status status =
      session.collectives->wait(session.collectives->user, done.request, error);
  Memory::release(&memory, done.input);
  if (status == OM_OK && done.slot >= 0)
    setSlot(static_cast<uint32_t>(done.slot), done.output);
  else
    Memory::release(&memory, done.output);
  return status;
}

om_status HostMachine::waitFor(const flatbuffers::Vector<int32_t> &awaited) {
  for (uint32_t i = 0; i < pendingCount;) {
    bool found = false;
    for (const int32_t slot : awaited)
      found |= pending[i].slot == slot;
    if (!found) {
      ++i;
      continue;
    }
    Pending done = pending[i];
    for (uint32_t next = i + 1; next < pendingCount; ++next)
      pending[next - 1] = pending[next];
    --pendingCount;
    if (om_status status = finish(done); status != OM_OK)
      return status;
  }
  return OM_OK;
}

om_status HostMachine::waitForAll() {
  om_status status = OM_OK;
  for (; pendingCount; --pendingCount) {
    // The first failure is the one to report.
    om_error other, *first = error;
    if (status != OM_OK)
      error = &other;
    const om_status own = finish(pending[0]);
    error = first;
    status = status == OM_OK ? own : status;
    for (uint32_t next = 1; next < pendingCount; ++next)
      pending[next - 1] = pending[next];
  }
  return status;
}

} // namespace atc::rt

using namespace atc::rt;

om_status om_session_set_collectives(om_session *session, const om_collectives *collectives,
                                     om_error *error) {
  uint32_t ranks;
  const uint32_t rank = om_model_get_rank(&session->model, &ranks);
  if (collectives && (collectives->rank != rank || collectives->ranks != ranks))
    return fail(error, OM_ERROR_ARGUMENT,
                "the model is the program of rank %u of %u, but this is rank %u of %u.", rank,
                ranks, collectives->rank, collectives->ranks);
  session->collectives = collectives;
  return OM_OK;
}

uint32_t om_model_get_rank(const om_model *model, uint32_t *ranks) {
  const fb::HostProgram *host = model->header->host();
  const bool isSplit = host && host->ranks();
  if (ranks)
    *ranks = isSplit ? host->ranks() : 1;
  return isSplit ? host->rank() : 0;
}
