//===-- VerifyHost.cpp - checks that a dynamic schedule is well-formed ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Value.h"
#include "runtime-lite/src/Verify.h"

namespace fb = atc::om::fb;

namespace atc::rt {

static_assert(static_cast<int>(fb::HostKind::none) == OM_KIND_NONE &&
                  static_cast<int>(fb::HostKind::tensor) == OM_KIND_TENSOR &&
                  static_cast<int>(fb::HostKind::sequence) == OM_KIND_SEQUENCE &&
                  static_cast<int>(fb::HostKind::MAX) == OM_KIND_MAP,
              "the schema and om.h number kinds alike");
static_assert(static_cast<int>(fb::HostAttributeKind::ints) ==
                      static_cast<int>(host::AttributeKind::Ints) &&
                  static_cast<int>(fb::HostAttributeKind::floats) ==
                      static_cast<int>(host::AttributeKind::Floats) &&
                  static_cast<int>(fb::HostAttributeKind::strings) ==
                      static_cast<int>(host::AttributeKind::Strings) &&
                  static_cast<int>(fb::HostAttributeKind::MAX) ==
                      static_cast<int>(host::AttributeKind::Tensors),
              "the schema and the kernels' interface number attributes alike");

namespace {
constexpr uint32_t maxEnds = 65536, maxBlockDepth = 64, maxTileSizes = 64;

using Slots = flatbuffers::Vector<int32_t>;

/// Ranges of the schedule, the inputs and the outputs.
struct PartRanges {
  uint32_t firstLaunch, launches, firstInput, inputs, firstOutput, outputs;
};

/// Null is good; else what is wrong.
class HostChecker {
public:
  /// The parts must lie in `whole`.
  HostChecker(const fb::Model &model, const fb::HostProgram &host, const PartRanges &whole)
      : model(model), host(host), whole(whole) {}

  const char *run() {
    const char *errorText = lists();
    errorText = errorText ? errorText : parts();
    for (uint32_t i = 0; !errorText && i < host.constants()->size(); ++i)
      errorText = constant(*host.constants()->Get(i));
    for (const auto *ports : {host.inputs(), host.outputs()})
      for (uint32_t i = 0; !errorText && i < ports->size(); ++i)
        errorText = port(*ports->Get(i));
    for (uint32_t b = 0; !errorText && b < host.blocks()->size(); ++b)
      for (uint32_t s = 0; !errorText && s < host.blocks()->Get(b)->steps()->size(); ++s)
        errorText = step(*host.blocks()->Get(b)->steps()->Get(s));
    return errorText ? errorText : tree();
  }

private:
  const char *lists() const;
  const char *parts() const;
  const char *constant(const fb::HostConstant &constant) const;
  const char *port(const fb::HostPort &port) const;
  const char *step(const fb::HostStep &step) const;
  const char *call(const fb::HostCall &call) const;
  const char *collective(const fb::HostCollective &op) const;
  const char *tiles(const fb::HostTiles &tiles) const;
  const char *tilePort(const fb::HostTiles &tiles, bool isInput, uint32_t index) const;
  const char *attribute(const fb::HostAttribute &attribute) const;
  const char *tree() const;

  /// With `holes`, -1 is a slot too.
  bool slots(const Slots &list, bool holes) const {
    bool good = list.size() <= maxEnds;
    for (int32_t slot : list)
      good = good && slot >= (holes ? -1 : 0) && (slot < 0 || uint32_t(slot) < host.slots());
    return good;
  }
  bool block(int32_t index) const {
    return index >= -1 && (index < 0 || uint32_t(index) < host.blocks()->size());
  }
  /// Returns whether a kernel has code, but no tasks, in all images.
  bool hostKernel(uint32_t kernel) const {
    bool good = kernel < model.kernels()->size();
    for (uint32_t i = 0; good && i < model.images()->size(); ++i)
      good = model.images()->Get(i)->tasks()->Get(kernel) == 0;
    return good;
  }

  const fb::Model &model;
  const fb::HostProgram &host;
  const PartRanges whole;
};

const char *HostChecker::lists() const {
  if (host.inputs()->size() > maxEnds || host.outputs()->size() > maxEnds)
    return "it has too many inputs or outputs";
  return host.main() < host.blocks()->size() ? nullptr : "its main block does not exist";
}

/// Returns whether a range is inside another one.
static bool holds(uint32_t outerFirst, uint32_t outerCount, uint32_t first, uint32_t count) {
  return first >= outerFirst && first - outerFirst <= outerCount &&
         count <= outerCount - (first - outerFirst);
}

const char *HostChecker::parts() const {
  uint64_t end = 0;
  for (const fb::HostPart *part : *host.parts()) {
    if (part->first_launch() < end ||
        !holds(whole.firstLaunch, whole.launches, part->first_launch(), part->launches()))
      return "a part is out of order or outside the schedule";
    end = uint64_t(part->first_launch()) + part->launches();
    if (!holds(whole.firstInput, whole.inputs, part->first_input(), part->inputs()) ||
        !holds(whole.firstOutput, whole.outputs, part->first_output(), part->outputs()))
      return "the inputs or outputs of a part do not exist";
    if (const char *errorText = findPartError(model, *part))
      return errorText;
  }
  return nullptr;
}

const char *HostChecker::constant(const fb::HostConstant &constant) const {
  const auto dtype = static_cast<uint8_t>(constant.dtype());
  uint64_t elements, bytes;
  if (constant.slot() < -1 || (constant.slot() >= 0 && uint32_t(constant.slot()) >= host.slots()))
    return "a constant is in a slot that does not exist";
  if (!isAligned(constant.dims()) ||
      !tensorSize(dtype, constant.dims()->size(), constant.dims()->data(), elements, bytes))
    return "a constant has an unknown element type or impossible dims";
  if (dtype == OM_STRING)
    return (constant.strings() ? constant.strings()->size() : 0) == elements
               ? nullptr
               : "a constant does not have one string for each element";
  const fb::BufferRef &place = *constant.place();
  if (place.size() != bytes)
    return "a constant's bytes are not those of its dims";
  if (!bytes)
    return nullptr;
  if (place.space() != fb::Space::weights || place.index() >= model.segments()->size() ||
      model.segments()->Get(place.index())->kind() != fb::SegmentKind::weights)
    return "a constant is not in the weights";
  const uint64_t all = model.segments()->Get(place.index())->size();
  return place.offset() % OM_ALIGNMENT == 0 && place.offset() <= all &&
                 bytes <= all - place.offset()
             ? nullptr
             : "a constant is not aligned or reaches outside the weights";
}

const char *HostChecker::port(const fb::HostPort &port) const {
  bool good = port.kind() <= fb::HostKind::MAX && port.dtype() <= fb::DataType::MAX &&
              port.slot() < host.slots() && isAligned(port.dims()) &&
              port.dims()->size() <= OM_MAX_RANK && !(port.unranked() && port.dims()->size()) &&
              hasNamePerDim(port);
  for (uint32_t i = 0; good && i < port.dims()->size(); ++i)
    good = port.dims()->Get(i) >= -1;
  return good ? nullptr
              : "an input or output has an impossible kind, type, dims, names of dims or slot";
}

const char *HostChecker::attribute(const fb::HostAttribute &attribute) const {
  if (attribute.kind() > fb::HostAttributeKind::MAX || !isAligned(attribute.ints()) ||
      !isAligned(attribute.floats()))
    return "an attribute is malformed";
  if (attribute.tensors())
    for (uint32_t tensor : *attribute.tensors())
      if (tensor >= host.constants()->size())
        return "an attribute names a constant that does not exist";
  return nullptr;
}

const char *HostChecker::call(const fb::HostCall &call) const {
  if (!hostKernel(call.kernel()) || (call.body() && !hostKernel(call.body() - 1)))
    return "a call runs a kernel that does not exist or is no host kernel";
  if (!slots(*call.inputs(), true) || !slots(*call.outputs(), true))
    return "a call names a slot that does not exist";
  if (call.attributes()->size() > maxEnds)
    return "a call has too many attributes";
  for (const fb::HostAttribute *item : *call.attributes())
    if (const char *errorText = attribute(*item))
      return errorText;
  return nullptr;
}

/// Proves that the tensors of all parts differ in nothing but the dim of the tiles, which is
/// the same multiple of each size: then no tile reaches out of a tensor whose dims the
/// machine has checked.
const char *HostChecker::tilePort(const fb::HostTiles &tiles, bool isInput, uint32_t index) const {
  const int32_t dim = (isInput ? tiles.input_dims() : tiles.output_dims())->Get(index);
  const fb::Tensor *first = nullptr;
  int64_t multiple = 0;
  for (uint32_t i = 0; i < tiles.parts()->size(); ++i) {
    const fb::HostPart &part = *host.parts()->Get(tiles.parts()->Get(i));
    const uint32_t end = (isInput ? part.first_input() : part.first_output()) + index;
    const fb::Tensor &tensor =
        *model.tensors()->Get((isInput ? model.inputs() : model.outputs())->Get(end));
    const uint32_t rank = tensor.dims()->size();
    const int64_t size = tiles.sizes()->Get(i);
    if (dim < (isInput ? -1 : 0) || dim >= int64_t(rank))
      return "a tile loop names a dim that a tensor does not have";
    if (tiles.rows() && dim > 0)
      return "a loop over rows has tiles along another dim than the first";
    if (dim >= 0) {
      const int64_t length = tensor.dims()->Get(uint32_t(dim));
      if (length < size || length % size != 0 || (first && length / size != multiple))
        return "a dim of a tile loop is not the same multiple of each size";
      if (om_dtype_bits(static_cast<om_dtype>(tensor.dtype())) < 8)
        return "a tile loop divides a tensor whose elements are no whole bytes";
      multiple = length / size;
      if (tiles.rows() && multiple != 1)
        return "a loop over rows has more than one row for each index";
    }
    if (!first)
      first = &tensor;
    bool same = tensor.dtype() == first->dtype() && rank == first->dims()->size();
    for (uint32_t d = 0; same && d < rank; ++d)
      same = int64_t(d) == dim || (tensor.dims()->Get(d) == first->dims()->Get(d) &&
                                   (!tiles.rows() || tensor.dims()->Get(d) > 0));
    if (!same)
      return "the parts of a tile loop have tensors that differ";
  }
  return nullptr;
}

const char *HostChecker::tiles(const fb::HostTiles &tiles) const {
  const uint32_t count = tiles.parts()->size(), inputs = tiles.inputs()->size(),
                 outputs = tiles.outputs()->size();
  if (!count || count > maxTileSizes || tiles.sizes()->size() != count ||
      !isAligned(tiles.sizes()) || tiles.sizes()->Get(count - 1) != 1)
    return "a tile loop has too many sizes, or not one for each part with 1 at the end";
  if (tiles.input_dims()->size() != inputs || tiles.output_dims()->size() != outputs ||
      !slots(*tiles.inputs(), false) || !slots(*tiles.outputs(), true))
    return "a tile loop does not have a good slot and a dim for each tensor";
  for (uint32_t i = 0; i < count; ++i) {
    if (tiles.parts()->Get(i) >= host.parts()->size() || tiles.sizes()->Get(i) < 1)
      return "a tile loop runs a part that does not exist, or tiles without elements";
    if (i && tiles.sizes()->Get(i) >= tiles.sizes()->Get(i - 1))
      return "the sizes of a tile loop do not fall";
    const fb::HostPart &part = *host.parts()->Get(tiles.parts()->Get(i));
    if (part.inputs() != inputs || part.outputs() != outputs)
      return "a tile loop does not give a part the slots it needs";
    // Launches are where a run is stopped.
    if (part.launches() == 0)
      return "a tile loop runs a part without launches";
  }
  const char *errorText = nullptr;
  bool counted = false;
  for (uint32_t i = 0; !errorText && i < inputs; ++i) {
    errorText = tilePort(tiles, /*isInput=*/true, i);
    counted |= tiles.input_dims()->Get(i) >= 0;
  }
  for (uint32_t i = 0; !errorText && i < outputs; ++i)
    errorText = tilePort(tiles, /*isInput=*/false, i);
  return errorText || counted ? errorText
                              : "a tile loop has no input that tells how many tiles there are";
}

/// Proves that a collective that gets what it expects writes as many elements as its output has.
const char *HostChecker::collective(const fb::HostCollective &op) const {
  const auto dtype = static_cast<uint8_t>(op.dtype());
  const uint64_t ranks = op.ranks()->size();
  uint64_t elements, bytes;
  if (op.kind() > fb::CollectiveKind::MAX || op.reduction() > fb::Reduction::MAX || !ranks ||
      ranks > maxEnds || !isAligned(op.dims()) || dtype == OM_STRING ||
      !tensorSize(dtype, op.dims()->size(), op.dims()->data(), elements, bytes) ||
      om_dtype_bits(static_cast<om_dtype>(dtype)) < 8)
    return "a collective has an impossible kind, type, group or dims";
  const bool sends = op.kind() == fb::CollectiveKind::send,
             receives = op.kind() == fb::CollectiveKind::receive;
  auto isSlot = [&](int32_t slot) { return slot >= 0 && uint32_t(slot) < host.slots(); };
  if (sends != (op.output() == -1) || receives != (op.input() == -1) ||
      !(sends || isSlot(op.output())) || !(receives || isSlot(op.input())))
    return "a collective names a slot that does not exist";
  const uint64_t in = op.elements();
  const bool gathers = op.kind() == fb::CollectiveKind::all_gather,
             scatters = op.kind() == fb::CollectiveKind::reduce_scatter;
  const bool good = gathers    ? elements % ranks == 0 && elements / ranks == in
                    : scatters ? in % ranks == 0 && in / ranks == elements
                               : elements == in && (op.kind() != fb::CollectiveKind::all_to_all ||
                                                    in % ranks == 0);
  return good ? nullptr : "a collective has another number of elements than its result";
}

const char *HostChecker::step(const fb::HostStep &step) const {
  if (const fb::HostCall *item = step.what_as_HostCall())
    return call(*item);
  if (const fb::HostRun *run = step.what_as_HostRun()) {
    if (run->part() >= host.parts()->size())
      return "a step runs a part that does not exist";
    const fb::HostPart &part = *host.parts()->Get(run->part());
    return run->inputs()->size() == part.inputs() && run->outputs()->size() == part.outputs() &&
                   slots(*run->inputs(), false) && slots(*run->outputs(), true)
               ? nullptr
               : "a step does not give a part the slots it needs";
  }
  if (const fb::HostTiles *item = step.what_as_HostTiles())
    return tiles(*item);
  if (const fb::HostCollective *item = step.what_as_HostCollective())
    return collective(*item);
  if (const fb::HostWait *wait = step.what_as_HostWait())
    return slots(*wait->slots(), false) ? nullptr : "a slot that is waited for does not exist";
  if (const fb::HostIf *branch = step.what_as_HostIf())
    return branch->condition() < host.slots() && block(branch->then_block()) &&
                   block(branch->else_block())
               ? nullptr
               : "a branch names a slot or block that does not exist";
  if (const fb::HostLoop *loop = step.what_as_HostLoop())
    return loop->condition() < host.slots() && block(loop->body())
               ? nullptr
               : "a loop names a slot or block that does not exist";
  if (const fb::HostMove *move = step.what_as_HostMove())
    return move->from()->size() == move->to()->size() && slots(*move->from(), false) &&
                   slots(*move->to(), false)
               ? nullptr
               : "a move does not have as many good slots on both sides";
  if (const fb::HostRelease *release = step.what_as_HostRelease())
    return slots(*release->slots(), false) ? nullptr : "a slot that is released does not exist";
  return "a step is of a kind this runtime does not know";
}

/// Checks that every block is inside at most one other and the main block in none: so the blocks
/// form a tree, and its depth is bounded.
const char *HostChecker::tree() const {
  const uint32_t count = host.blocks()->size();
  Array<uint32_t> depth, queue;
  if (!depth.allocate(count) || !queue.allocate(count))
    return "there is no memory to check its blocks";
  uint32_t end = 0;
  depth[host.main()] = 1;
  queue[end++] = host.main();
  const char *errorText = nullptr;
  auto enter = [&](uint32_t from, int32_t block) {
    if (block < 0)
      return;
    if (depth[uint32_t(block)])
      errorText = "a block is part of two steps, or of itself";
    else if (depth[from] == maxBlockDepth)
      errorText = "its blocks are too deep in each other";
    else {
      depth[uint32_t(block)] = depth[from] + 1;
      queue[end++] = uint32_t(block);
    }
  };
  for (uint32_t next = 0; !errorText && next < end; ++next)
    for (const fb::HostStep *step : *host.blocks()->Get(queue[next])->steps()) {
      // The session keeps one entry per collective that has begun, so each must run at most once.
      if (queue[next] != host.main() && step->what_as_HostCollective())
        errorText = "a collective is in a branch or loop";
      if (const fb::HostIf *branch = step->what_as_HostIf()) {
        enter(queue[next], branch->then_block());
        if (!errorText)
          enter(queue[next], branch->else_block());
      } else if (const fb::HostLoop *loop = step->what_as_HostLoop()) {
        enter(queue[next], loop->body());
      }
      if (errorText)
        break;
    }
  return errorText;
}
} // namespace

// A static region or gear must use only its own inputs and outputs: those of others are not set
// while it runs.
const char *findPartError(const fb::Model &model, const fb::HostPart &part) {
  for (uint32_t i = part.first_launch(); i < part.first_launch() + part.launches(); ++i) {
    const fb::Step &step = *model.schedule()->Get(i);
    const fb::NpuLaunch *npu = step.what_as_NpuLaunch();
    if (npu && npu->chained() && i == part.first_launch())
      return "a part begins with a launch that goes on in the task of the one before it";
    for (const fb::BufferRef *ref : npu ? *npu->args() : *step.what_as_Launch()->args()) {
      const bool input = ref->space() == fb::Space::input;
      if (!input && ref->space() != fb::Space::output)
        continue;
      const uint32_t first = input ? part.first_input() : part.first_output();
      if (ref->index() < first || ref->index() - first >= (input ? part.inputs() : part.outputs()))
        return "a launch reaches into an input or output of another part";
    }
  }
  return nullptr;
}

const char *findHostError(const fb::Model &model, const fb::HostProgram &host,
                          const fb::HostPart &whole) {
  return HostChecker(model, host,
                     {whole.first_launch(), whole.launches(), whole.first_input(), whole.inputs(),
                      whole.first_output(), whole.outputs()})
      .run();
}

bool hasHostProgram(const fb::Model &model) {
  bool found = model.host() != nullptr;
  for (uint32_t i = 0; model.gears() && i < model.gears()->gears()->size(); ++i)
    found |= model.gears()->gears()->Get(i)->host() != nullptr;
  return found;
}

om_status verifyHostProgram(const fb::Model &model, om_error *error) {
  const PartRanges all = {0, model.schedule()->size(), 0, model.inputs()->size(),
                          0, model.outputs()->size()};
  const char *errorText = model.host() ? HostChecker(model, *model.host(), all).run() : nullptr;
  return errorText ? fail(error, OM_ERROR_CORRUPT,
                          "the file is damaged: its host program cannot be used: %s.", errorText)
                   : OM_OK;
}

} // namespace atc::rt
