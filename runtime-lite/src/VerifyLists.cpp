//===-- VerifyLists.cpp - checks that no list of a header is shared --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a FlatBuffer many tables may point to one vector: a megabyte could hold 10,000 launches that
// share 20,000 arguments, for which a session would then need gigabytes and the loader hours. The
// writer makes one vector per table, so that all of them together fit into the header; a file in
// which they do not fit is refused. So the memory that is allocated for a file, and the time to
// check it, are proportional to the file's size.

#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Verify.h"

namespace fb = atc::om::fb;

namespace atc::rt {

namespace {

/// Counts what the header has room for. All functions return false when it is too
/// little.
class ListRoom {
public:
  explicit ListRoom(uint64_t bytes) : left(bytes), slots(bytes / 4) {}

  /// Takes a vector, which may not be there, with items of `bytes` bytes.
  template <typename Vector> bool has(const Vector *list, uint64_t bytes) {
    const uint64_t used = list ? list->size() * bytes : 0; // at most 2^32 items
    if (used > left)
      return false;
    left -= used;
    return true;
  }
  bool has(const fb::Tensor &tensor) {
    return has(tensor.dims(), 8) && has(tensor.strides(), 8) && has(tensor.index_sizes(), 8);
  }
  bool has(const fb::CodeImage &image) {
    return has(image.features(), 4) && has(image.entries(), 8) && has(image.tasks(), 8);
  }
  bool has(const fb::NpuProgram &program) {
    return has(program.grid(), 4) && has(program.arguments(), 8);
  }
  template <typename Launch> bool hasLaunch(const Launch &launch) {
    return has(launch.args(), sizeof(fb::BufferRef)) && has(launch.reads(), 4) &&
           has(launch.writes(), 4);
  }
  bool has(const fb::Step &step) {
    if (const fb::Launch *launch = step.what_as_Launch())
      return hasLaunch(*launch);
    const fb::NpuLaunch *npu = step.what_as_NpuLaunch();
    return !npu || (hasLaunch(*npu) && has(npu->prefetch(), sizeof(fb::BufferRef)));
  }
  bool has(const fb::State &state) { return has(state.dims(), sizeof(fb::StateDim)); }
  bool has(const fb::HostPort &port) { return has(port.dims(), 8) && has(port.dim_names(), 4); }
  bool has(const fb::HostProgram &host) {
    // Some list or port names each slot, in four bytes.
    if (host.slots() > slots)
      return false;
    slots -= host.slots();
    return all(host.inputs()) && all(host.outputs()) && all(host.constants()) && all(host.blocks());
  }
  bool has(const fb::Gear &gear) {
    return has(gear.values(), 8) && (!gear.host() || has(*gear.host()));
  }
  bool has(const fb::HostConstant &constant) {
    return has(constant.dims(), 8) && has(constant.strings(), 4);
  }
  bool has(const fb::HostAttribute &attribute) {
    return has(attribute.ints(), 8) && has(attribute.floats(), 8) && has(attribute.strings(), 4) &&
           has(attribute.tensors(), 4);
  }
  bool has(const fb::HostCall &call) {
    bool good = has(call.inputs(), 4) && has(call.outputs(), 4) && has(call.attributes(), 4);
    for (uint32_t i = 0; good && i < call.attributes()->size(); ++i)
      good = has(*call.attributes()->Get(i));
    return good;
  }
  bool has(const fb::HostStep &step) {
    if (const fb::HostCall *call = step.what_as_HostCall())
      return has(*call);
    if (const fb::HostRun *run = step.what_as_HostRun())
      return has(run->inputs(), 4) && has(run->outputs(), 4);
    if (const fb::HostTiles *tiles = step.what_as_HostTiles())
      return has(tiles->parts(), 4) && has(tiles->sizes(), 8) && has(tiles->inputs(), 4) &&
             has(tiles->outputs(), 4) && has(tiles->input_dims(), 4) &&
             has(tiles->output_dims(), 4);
    if (const fb::HostMove *move = step.what_as_HostMove())
      return has(move->from(), 4) && has(move->to(), 4);
    if (const fb::HostWait *wait = step.what_as_HostWait())
      return has(wait->slots(), 4);
    const fb::HostRelease *release = step.what_as_HostRelease();
    return !release || has(release->slots(), 4);
  }
  bool has(const fb::HostBlock &block) { return has(block.steps(), 4) && all(block.steps()); }

  /// Takes the vectors of all tables of a list.
  template <typename Tables> bool all(const Tables *tables) {
    for (uint32_t i = 0; tables && i < tables->size(); ++i)
      if (!has(*tables->Get(i))) {
        at = i;
        return false;
      }
    return true;
  }
  uint32_t at = 0; ///< which table of the last list was too much

private:
  uint64_t left, slots;
};

} // namespace

om_status verifyLists(const fb::Model &model, uint64_t headerBytes, om_error *error) {
  ListRoom room(headerBytes);
  const char *what = nullptr;
  if (!room.all(model.tensors()))
    what = "tensor";
  else if (!room.all(model.images()))
    what = "code image";
  else if (!room.all(model.npu_programs()))
    what = "NPU program";
  else if (!room.all(model.schedule()))
    what = "launch";
  else if (const fb::HostProgram *host = model.host())
    what = room.has(*host) ? nullptr : "host item";
  else if (const fb::GearTable *gears = model.gears())
    what = !room.all(gears->inputs())    ? "gears' input"
           : !room.all(gears->outputs()) ? "gears' output"
           : !room.all(gears->gears())   ? "gear"
                                         : nullptr;
  if (!what && !room.all(model.states()))
    what = "state";
  if (!what)
    return OM_OK;
  return fail(error, OM_ERROR_CORRUPT,
              "the file is damaged: the lists up to those of %s %u have more than the %llu bytes "
              "of the header: some are used more than once.",
              what, room.at, static_cast<unsigned long long>(headerBytes));
}

} // namespace atc::rt
