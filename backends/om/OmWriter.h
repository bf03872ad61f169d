//===-- OmWriter.h - writes .om files -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plain description of a model, with no compiler types, and the function that
// makes a file of it. Bytes are borrowed: weights go from where they are into
// the file without another copy.

#ifndef OPENATC_BACKENDS_OM_OMWRITER_H
#define OPENATC_BACKENDS_OM_OMWRITER_H

#include "openatc/om.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atc::om {

class OmSink;

/// A kernel argument or a tensor's place. `index` is the position in `inputs` or
/// `outputs` for those spaces and 0 for the arena; of weights 0 is OmModel::weights
/// and 1 OmModel::tables.
struct OmBufferRef {
  om_space space = OM_ARENA;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// See the table Tensor in om.fbs. Empty `strides` stand for the dense ones.
struct OmTensor {
  std::string name;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  uint32_t block = 0;
  std::vector<int64_t> strides;
  OmBufferRef place;
};

/// Bytes of a weights segment; the offset is a multiple of 64, gaps are
/// zeros, and the pieces come in any order.
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
  std::vector<uint64_t> entries; ///< one for each kernel
  std::vector<uint64_t> tasks;   ///< one for each kernel; 0 for host kernels and bodies
  uint64_t scratchBytes = 0;     ///< for each thread
};

/// An encoded program of the NPU; see the table NpuProgram.
struct OmNpuProgram {
  std::string name;
  std::vector<uint8_t> code;
  bool vectorCore = false;
  std::vector<uint32_t> grid;
  std::vector<uint64_t> arguments; ///< bytes needed of each buffer
};

/// With `npu`, `kernel` is a program and `cost` two for each multiply-accumulate.
struct OmLaunch {
  uint32_t kernel = 0;
  std::string name;
  std::vector<OmBufferRef> args;
  uint64_t cost = 0; ///< floating-point operations, or bytes moved if more
  std::vector<uint32_t> reads, writes;
  bool npu = false;
  bool chained = false;                   ///< goes on in the task of the launch before it
  std::vector<OmBufferRef> prefetch = {}; ///< weights of later launches
  std::optional<uint64_t> macs = {};      ///< multiply-accumulates of a launch of the CPU
};

/// See the tables of host programs in om.fbs. `dtype` is that of the items of a
/// sequence, or OM_UNDEFINED where any will do; a dim of -1 is not known.
struct OmHostPort {
  std::string name;
  om_kind kind = OM_KIND_TENSOR;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  bool unranked = false; ///< `dims` is empty and says nothing
  bool optional = false; ///< the value may be "none"
  uint32_t slot = 0;
};

/// A tensor in the weights (`place`, at a multiple of 64) or of `strings`; in
/// `slot` from the beginning, or with -1 only used by attributes.
struct OmHostConstant {
  int32_t slot = -1;
  om_dtype dtype = OM_F32;
  std::vector<int64_t> dims;
  OmBufferRef place = {OM_WEIGHTS, 0, 0, 0};
  std::vector<std::string> strings = {};
};

/// A static part: a range of `OmModel::schedule`, and its ranges of
/// `OmModel::inputs` and `outputs`, which have those of all parts. References of
/// spaces input and output count in these whole lists, too.
struct OmHostPart {
  uint32_t firstLaunch = 0, launches = 0;
  uint32_t firstInput = 0, inputs = 0;
  uint32_t firstOutput = 0, outputs = 0;
};

struct OmHostAttribute {
  enum class Kind { Ints, Floats, Strings, Tensors };
  std::string name;
  Kind kind = Kind::Ints;
  std::vector<int64_t> ints = {};
  std::vector<double> floats = {};
  std::vector<std::string> strings = {};
  std::vector<uint32_t> tensors = {}; ///< indices of constants
};

/// Any step; each kind uses the fields that are named with it.
struct OmHostStep {
  enum class Kind {
    Call,   ///< name, kernel, body, inputs, outputs, attributes
    Run,    ///< part, inputs, outputs
    If,     ///< condition, block, otherwise
    Loop,   ///< condition, block: while (condition) block
    Move,   ///< inputs go to outputs, all at once
    Release ///< inputs
  };
  Kind kind = Kind::Call;
  std::string name = {};
  uint32_t kernel = 0;               ///< with no tasks
  int32_t body = -1;                 ///< the kernel that becomes Call.body
  std::vector<int32_t> inputs = {};  ///< slots; -1: left out
  std::vector<int32_t> outputs = {}; ///< slots; -1: not used
  std::vector<OmHostAttribute> attributes = {};
  uint64_t macs = 0; ///< multiply-accumulates of a call, 0 where they are not known
  uint32_t part = 0;
  uint32_t condition = 0;             ///< slot of a bool tensor with one element
  int32_t block = -1, otherwise = -1; ///< -1: nothing to do
};

struct OmHostProgram {
  std::vector<OmHostPort> inputs, outputs;
  std::vector<std::vector<OmHostStep>> blocks; ///< a tree
  uint32_t main = 0;
  uint32_t slots = 0;
  std::vector<OmHostConstant> constants;
  std::vector<OmHostPart> parts; ///< in the order of the schedule
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
};

struct OmGears {
  om_gear_kind kind = OM_GEARS_DIMS;
  std::vector<OmHostPort> inputs, outputs; ///< of the model; slots are of no use
  std::vector<OmGearAxis> axes;
  std::vector<int64_t> min; ///< of OM_GEARS_RANGE only
  std::vector<OmGear> gears;
};

struct OmModel {
  std::string producer, commandLine, name, target = "cpu";
  std::vector<OmTensor> tensors;
  std::vector<uint32_t> inputs, outputs; ///< tensor indices
  std::vector<OmWeights> weights;
  /// Weights that code computes addresses from. They have a segment of their own,
  /// which the loader always checks.
  std::vector<OmWeights> tables;
  std::vector<std::string> kernels; ///< names
  std::vector<OmImage> images;
  std::vector<OmLaunch> schedule;
  uint64_t arenaSize = 0;
  std::string soc, socTable; ///< the NPU; the table of one that is not built in
  std::vector<OmNpuProgram> npuPrograms;
  /// With one, `inputs` and `outputs` are those of its parts.
  std::optional<OmHostProgram> host;
  /// With them, `inputs` and `outputs` are those of all gears, and there is no `host`.
  std::optional<OmGears> gears;
};

/// The element strides of a dense tensor: in the order of the dims, or for
/// blocked ones of [N][ceil(C/c)][D...][c].
std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims, uint32_t block);

/// Writes `model` into a sink, which commits it whole or not at all. On failure
/// returns false and `error` is one coded line.
bool writeOm(const OmModel &model, OmSink &sink, std::string &error);

/// Writes `model` to the file `path`, as above.
bool writeOm(const OmModel &model, const std::string &path, std::string &error);

} // namespace atc::om

#endif
