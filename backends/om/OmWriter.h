//===-- OmWriter.h - writes .om files -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A description of a model without compiler types, and the function that writes a file of it. Bytes
// are borrowed: weights are written to the file without another copy.

#ifndef OPENATC_BACKENDS_OM_OMWRITER_H
#define OPENATC_BACKENDS_OM_OMWRITER_H

#include "openatc/collectives.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atc::om {

/// Returns `value` rounded up to a multiple of `to`, which is not 0.
inline uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

class OmSink;

/// A kernel argument or the location of a tensor, in bytes. `index` is the position in `inputs` or
/// `outputs` for those spaces and 0 for the arena; for weights 0 is OmModel::weights and 1
/// OmModel::tables.
struct OmBufferRef {
  om_space space = OM_ARENA;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// A tensor; see the table Tensor in om.fbs. Empty `strides` mean dense.
struct OmTensor {
  std::string name;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  uint32_t block = 0;
  std::vector<int64_t> strides;
  OmBufferRef place;
  /// The model's name per dim of an input or output (OmHostPort), for gears. Not written.
  std::vector<std::string> dimNames = {};
  /// The dims that the elements of an input index; see the table Tensor.
  std::vector<int64_t> indexSizes = {};
  bool indexWraps = false;
};

/// Bytes of a weights segment. The offset is a multiple of 64, gaps are zeros, and the order is
/// arbitrary.
struct OmWeights {
  const void *data = nullptr;
  uint64_t size = 0;
  uint64_t offset = 0;
};

/// The code of all kernels for one CPU level; see the table CodeImage.
struct OmImage {
  std::string arch = "x86-64";
  std::string level;
  std::vector<std::string> features;
  const void *code = nullptr;
  uint64_t codeSize = 0;
  std::vector<uint64_t> entries; ///< one per kernel, in bytes
  std::vector<uint64_t> tasks;   ///< one per kernel; 0 for host kernels and bodies
  uint64_t scratchBytes = 0;     ///< per thread
};

/// An encoded program of the NPU; see the table NpuProgram.
struct OmNpuProgram {
  std::string name;
  std::vector<uint8_t> code;
  bool vectorCore = false;
  std::vector<uint32_t> grid;
  std::vector<uint64_t> arguments; ///< minimum bytes of each buffer
  bool isExtended = false;         ///< has a section on vector cores as well, or layers
};

/// A launch. With `npu`, `kernel` is a program and `cost` is two per multiply-accumulate.
struct OmLaunch {
  uint32_t kernel = 0;
  std::string name;
  std::vector<OmBufferRef> args;
  uint64_t cost = 0; ///< floating-point operations, or bytes moved where that is larger
  std::vector<uint32_t> reads, writes;
  bool npu = false;
  bool chained = false;                   ///< continues the task of the launch before it
  std::vector<OmBufferRef> prefetch = {}; ///< weights of later launches
  std::optional<uint64_t> macs = {};      ///< multiply-accumulates of a launch of the CPU
};

/// An input or output of a dynamic schedule; see om.fbs. `dtype` is that of the items of a
/// sequence, or OM_UNDEFINED where any type is accepted; a dim of -1 is dynamic.
struct OmHostPort {
  std::string name;
  om_kind kind = OM_KIND_TENSOR;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  bool unranked = false; ///< `dims` is empty and means nothing
  bool optional = false; ///< the value may be "none"
  uint32_t slot = 0;
  /// The model's name per dim, "" for a dim without one; empty where none has a name. Only those
  /// of dynamic dims are written.
  std::vector<std::string> dimNames = {};

  /// Returns whether a dynamic dim has a name.
  bool namesDynamicDims() const;
};

/// A tensor in the weights (`place`, at a multiple of 64) or of `strings`; in `slot` from the
/// beginning, or with -1 only used by attributes.
struct OmHostConstant {
  int32_t slot = -1;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  OmBufferRef place = {OM_WEIGHTS, 0, 0, 0};
  std::vector<std::string> strings = {};
};

/// A static region: a range of `OmModel::schedule`, and its ranges of `OmModel::inputs` and
/// `outputs`, which contain those of all regions. References to the spaces input and output use
/// indices into these whole lists, too.
struct OmHostPart {
  uint32_t firstLaunch = 0, launches = 0;
  uint32_t firstInput = 0, inputs = 0;
  uint32_t firstOutput = 0, outputs = 0;
};

/// An attribute of a call; only the list of its kind is used.
struct OmHostAttribute {
  enum class Kind { Ints, Floats, Strings, Tensors };
  std::string name;
  Kind kind = Kind::Ints;
  std::vector<int64_t> ints = {};
  std::vector<double> floats = {};
  std::vector<std::string> strings = {};
  std::vector<uint32_t> tensors = {}; ///< indices of constants
};

/// A step; each kind uses the fields that are listed with it.
struct OmHostStep {
  enum class Kind {
    Call,       ///< name, kernel, body, inputs, outputs, attributes
    Run,        ///< part, inputs, outputs
    Tiles,      ///< parts, sizes, inputs, outputs, inputDims, outputDims, rows
    If,         ///< condition, block, otherwise
    Loop,       ///< condition, block: while (condition) block
    Move,       ///< outputs become what inputs were, all at once
    Release,    ///< inputs
    Collective, ///< name, collective, reduction, inputs, outputs (a slot each, or -1), dtype,
                ///< elements, dims, ranks, root, tag
    Wait        ///< outputs
  };
  Kind kind = Kind::Call;
  std::string name = {};
  std::string tensor = {};           ///< the name of output 0 of a call
  uint32_t kernel = 0;               ///< a kernel without tasks
  int32_t body = -1;                 ///< the kernel that becomes Call.body
  std::vector<int32_t> inputs = {};  ///< slots; -1: omitted
  std::vector<int32_t> outputs = {}; ///< slots; -1: not used
  std::vector<OmHostAttribute> attributes = {};
  uint64_t macs = 0; ///< multiply-accumulates of a call, 0 where they are not known
  uint32_t part = 0;
  std::vector<uint32_t> parts = {}; ///< one for each tile size
  std::vector<int64_t> sizes = {};  ///< of tiles, falling, the last one 1
  /// The dim of each input and output that tiles are made of; -1: none.
  std::vector<int32_t> inputDims = {}, outputDims = {};
  bool rows = false;      ///< dim 0 of tiles is all dims of the values in front of the others
  uint32_t condition = 0; ///< slot of a bool tensor with one element
  int32_t block = -1, otherwise = -1; ///< -1: nothing to do
  om_collective_kind collective = OM_ALL_REDUCE;
  om_reduction reduction = OM_REDUCE_SUM;
  om_dtype dtype = OM_F32;
  uint64_t elements = 0;            ///< of the input
  std::vector<int64_t> dims = {};   ///< of the output, or of what is sent
  std::vector<uint32_t> ranks = {}; ///< the group, or the other rank of a message
  uint32_t root = 0, tag = 0;
};

/// A dynamic schedule.
struct OmHostProgram {
  std::vector<OmHostPort> inputs, outputs;
  std::vector<std::vector<OmHostStep>> blocks; ///< a tree with `main` at its root
  uint32_t main = 0;
  uint32_t slots = 0;
  std::vector<OmHostConstant> constants;
  std::vector<OmHostPart> parts; ///< in the order of the schedule
  uint32_t rank = 0, ranks = 0;  ///< of a model that was split over ranks; 0 ranks: it was not
};

/// See the tables of gears in om.fbs.
struct OmGearAxis {
  bool output = false;
  uint32_t index = 0, dim = 0;
  uint32_t value = 0; ///< which of the gear's
};

struct OmGear {
  std::vector<int64_t> values;
  OmHostPart part;
  uint64_t arenaSize = 0; ///< bytes of the arena that it uses
  /// The dynamic schedule of this gear, if any. `part` then covers all of its static regions
  /// together.
  std::optional<OmHostProgram> host = std::nullopt;
};

struct OmGears {
  om_gear_kind kind = OM_GEARS_DIMS;
  std::vector<OmHostPort> inputs, outputs; ///< of the model; slots are of no use
  std::vector<OmGearAxis> axes;
  std::vector<int64_t> min; ///< of OM_GEARS_RANGE only
  std::vector<OmGear> gears;
};

/// An output that is the next value of an input; see the table State.
struct OmState {
  struct Dim {
    uint32_t dim = 0, input = 0, inputDim = 0;
  };
  uint32_t input = 0, output = 0;
  std::vector<Dim> dims;
  uint32_t initial = 0; ///< 1 + the tensor among the weights with the first value; 0: zeros
};

/// A model file.
struct OmModel {
  std::string producer, commandLine, name, target = "cpu";
  std::vector<OmTensor> tensors;
  std::vector<uint32_t> inputs, outputs; ///< tensor indices
  std::vector<OmWeights> weights;
  /// Weights from which code computes addresses. They have a segment of their own, which the loader
  /// always checks.
  std::vector<OmWeights> tables;
  std::vector<std::string> kernels; ///< names
  std::vector<OmImage> images;
  std::vector<OmLaunch> schedule;
  uint64_t arenaSize = 0;
  std::string soc, socTable; ///< the NPU; the table of an NPU that is not built in
  std::vector<OmNpuProgram> npuPrograms;
  /// The dynamic schedule, if any. With it, `inputs` and `outputs` are those of its static regions.
  std::optional<OmHostProgram> host;
  /// The gears, if any. `inputs` and `outputs` are then those of all gears, and `host` is empty.
  std::optional<OmGears> gears;
  std::vector<OmState> states; ///< by findStates
  /// Facts that the author of the model has stated, by their keys.
  std::map<std::string, std::string> metadata = {};
};

/// Returns the element strides of a dense tensor: per dim, or where blocked, per physical dim of
/// [N][ceil(C/c)][D...][c].
std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims, uint32_t block);

/// Writes `model` into a sink, which is committed as a whole or not at all. On failure returns
/// false and sets `error` to one line with an error code.
bool writeOm(const OmModel &model, OmSink &sink, std::string &error);

/// Writes `model` to the file `path`. On failure returns false and sets `error` to one line with an
/// error code.
bool writeOm(const OmModel &model, const std::string &path, std::string &error);

} // namespace atc::om

#endif
