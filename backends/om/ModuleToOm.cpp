//===-- ModuleToOm.cpp - a schedule becomes the description of an .om file -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/ModuleToOm.h"

#include "backends/om/HostProgram.h"
#include "backends/om/Names.h"
#include "backends/om/NpuPrograms.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/IndexBound.h"
#include "passes/host/Passes.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace atc::om {

namespace {

/// OM_UNDEFINED for types that a file cannot hold.
om_dtype dtypeOf(Type type) { return static_cast<om_dtype>(graph::dtypeOf(type)); }

class Builder {
public:
  Builder(ModuleOp module, ArrayRef<cpu::CompiledLevel> levels) : module(module), levels(levels) {}

  llvm::Expected<OmDescription> build() {
    func::FuncOp main = findMain(module);
    if (!main)
      return llvm::createStringError("the module has no function @main");
    const bool isHost = main->hasAttr(host::kProgramAttr);
    if (!isHost)
      if (llvm::Error error = addArguments(main))
        return error;
    addKernels(main);
    if (llvm::Error error = addPrograms(module, model()))
      return error;
    for (auto [index, program] : llvm::enumerate(model().npuPrograms))
      programIndex[StringAttr::get(module.getContext(), program.name)] = index;
    if (auto size = module->getAttrOfType<IntegerAttr>(kArenaSizeAttr))
      model().arenaSize = size.getInt();
    if (llvm::Error error = isHost ? addHostProgram(main) : addSchedule(main))
      return error;
    return std::move(result);
  }

private:
  /// The state of a weights segment while it is filled.
  struct WeightsSegment {
    WeightsSegment(std::vector<OmWeights> &pieces, uint32_t index) : pieces(pieces), index(index) {}

    std::vector<OmWeights> &pieces;
    uint32_t index;
    DenseMap<uint64_t, SmallVector<size_t>> byHash;
    uint64_t end = 0;
  };

  /// A part of a buffer: the type of the view that it was written through, and its offset in bytes.
  using HeldPart = std::pair<Type, int64_t>;
  using HeldTensors = llvm::MapVector<HeldPart, uint32_t>;

  OmModel &model() { return result.model; }

  llvm::Error addSchedule(func::FuncOp function) {
    llvm::Error error = llvm::Error::success();
    function.walk([&](LaunchOp launch) {
      if (!error)
        error = addLaunch(launch);
    });
    return error;
  }

  llvm::Error addHostProgram(func::FuncOp main) {
    std::vector<OmHostPart> parts;
    for (func::FuncOp function : host::partsOf(module)) {
      OmHostPart part;
      part.firstLaunch = model().schedule.size();
      part.firstInput = model().inputs.size();
      part.firstOutput = model().outputs.size();
      if (llvm::Error error = addArguments(function))
        return error;
      if (llvm::Error error = addSchedule(function))
        return error;
      part.launches = model().schedule.size() - part.firstLaunch;
      part.inputs = model().inputs.size() - part.firstInput;
      part.outputs = model().outputs.size() - part.firstOutput;
      parts.push_back(part);
    }
    auto program = describeHostProgram(main, firstHostKernel, kernelIndex, [&](ElementsAttr value) {
      return addConstant(value, /*packed=*/true, weights);
    });
    if (!program)
      return program.takeError();
    program->parts = std::move(parts);
    model().host = std::move(*program);
    return llvm::Error::success();
  }

  llvm::Error addArguments(func::FuncOp main) {
    for (BlockArgument argument : main.getArguments()) {
      auto type = cast<MemRefType>(argument.getType());
      bool output = isOutput(argument);
      std::vector<uint32_t> &list = output ? model().outputs : model().inputs;
      OmTensor tensor;
      tensor.name = (output ? "output" : "input") + std::to_string(list.size());
      if (auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
        tensor.name = name.str();
      tensor.dimNames =
          dimNamesOf(main.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimNamesAttr));
      tensor.dtype = dtypeOf(type.getElementType());
      tensor.dims = type.getShape().vec();
      if (auto range = graph::IndexRange::of(argument);
          range && !output && (tensor.dtype == OM_I32 || tensor.dtype == OM_I64)) {
        tensor.indexSizes.assign(range->sizes.begin(), range->sizes.end());
        tensor.indexWraps = range->wraps;
      }
      if (tensor.dtype == OM_UNDEFINED || !type.hasStaticShape() || !type.getLayout().isIdentity())
        return llvm::createStringError("'" + tensor.name + "' has a type that a file cannot state");
      uint64_t bytes = spanInBytes(type);
      // No kernel reads the input, so only the form of the caller's counts, which packs elements
      // that are smaller than a byte.
      if (const uint32_t bits = om_dtype_bits(tensor.dtype); bits < 8 && argument.use_empty())
        bytes = llvm::divideCeil(uint64_t(type.getNumElements()) * bits, 8);
      tensor.place = {output ? OM_OUTPUT : OM_INPUT, uint32_t(list.size()), 0, bytes};
      uint32_t index = addTensor(std::move(tensor));
      spaces[argument] = model().tensors[index].place;
      if (output)
        outputTensors[argument] = index;
      else
        holders[argument].insert({{type, 0}, index});
      list.push_back(index);
    }
    return llvm::Error::success();
  }

  void addKernels(func::FuncOp main) {
    for (func::FuncOp kernel : cpu::kernelsOf(module)) {
      kernelIndex[kernel.getSymNameAttr()] = model().kernels.size();
      model().kernels.push_back(kernel.getSymName().str());
    }
    firstHostKernel = model().kernels.size();
    for (const cpu::HostKernel &kernel : hostKernelsOf(main))
      model().kernels.push_back(kernel.name);
    for (const cpu::CompiledLevel &level : levels) {
      OmImage image;
      image.arch = level.level.arch;
      image.level = level.level.name;
      image.features = level.level.required;
      image.code = level.image.data();
      image.codeSize = level.image.size();
      image.entries = level.entries;
      image.tasks = level.tasks;
      image.scratchBytes = level.scratchBytes;
      model().images.push_back(std::move(image));
    }
  }

  llvm::Error addLaunch(LaunchOp op) {
    OmLaunch launch;
    Names names = namesOf(op.getLoc());
    StringAttr kernel = op.getKernelAttr().getAttr();
    auto program = programIndex.find(kernel);
    launch.npu = program != programIndex.end();
    if (!launch.npu && !kernelIndex.contains(kernel))
      return llvm::createStringError("'" + kernel.str() +
                                     "' is launched, but nothing has made code of it");
    launch.kernel = launch.npu ? program->second : kernelIndex.lookup(kernel);
    launch.name = names.node.empty() ? kernel.str() : names.node;
    launch.cost = op.getCost();
    launch.macs = op.getMacs();
    launch.chained = op.getChained();
    if (llvm::Error error = addRefs(op.getOperands_(), launch.args))
      return error;
    if (llvm::Error error = addRefs(op.getPrefetch(), launch.prefetch))
      return error;
    llvm::SmallDenseSet<uint32_t> known;
    for (Value operand : readsOf(op))
      if (auto held = holders.find(resolveViews(operand).root); held != holders.end())
        for (auto [part, tensor] : held->second)
          if (known.insert(tensor).second)
            launch.reads.push_back(tensor);
    if (auto left = op->getAttrOfType<ArrayAttr>(kLeftTensorsAttr))
      for (auto entry : left.getAsRange<DictionaryAttr>()) {
        const int64_t operand = entry.getAs<IntegerAttr>("operand").getInt();
        auto type = entry.getAs<TypeAttr>("tensor");
        if (std::optional<uint32_t> tensor =
                tensorOf(op.getOperands_()[operand], type ? type.getValue() : Type(),
                         namesOf(entry.getAs<LocationAttr>("location")), launch.args[operand]))
          launch.writes.push_back(*tensor);
      }
    if (std::optional<uint32_t> tensor =
            tensorOf(writtenBy(op), op.getTensor().value_or(Type()), names, launch.args.back()))
      launch.writes.push_back(*tensor);
    model().schedule.push_back(std::move(launch));
    return llvm::Error::success();
  }

  llvm::Error addRefs(ValueRange buffers, std::vector<OmBufferRef> &refs) {
    for (Value buffer : buffers) {
      auto ref = refOf(buffer);
      if (!ref)
        return ref.takeError();
      refs.push_back(*ref);
    }
    return llvm::Error::success();
  }

  /// Returns the tensor that a launch writes to `target`, with its logical type or null; nothing
  /// where it has no meaning for users.
  std::optional<uint32_t> tensorOf(Value target, Type logical, const Names &names,
                                   const OmBufferRef &ref) {
    Value root = resolveViews(target).root;
    std::optional<uint32_t> index;
    if (auto output = outputTensors.find(root);
        output != outputTensors.end() && ref.size == model().tensors[output->second].place.size) {
      index = output->second;
    } else if (logical) {
      std::optional<OmTensor> tensor =
          describe(cast<RankedTensorType>(logical), cast<MemRefType>(target.getType()));
      if (tensor) {
        tensor->name =
            names.tensor.empty() ? "tensor" + std::to_string(model().tensors.size()) : names.tensor;
        tensor->place = ref;
        index = addTensor(std::move(*tensor));
      }
    }
    if (!index)
      return index;
    // The previous contents of the same memory are overwritten.
    HeldTensors &held = holders[root];
    const HeldPart part = {target.getType(), resolveViews(target).offset};
    held.erase(part);
    held.insert({part, *index});
    return index;
  }

  /// Returns the description of a logical tensor stored in a buffer, without its name and offset.
  static std::optional<OmTensor> describe(RankedTensorType logical, MemRefType stored) {
    OmTensor tensor;
    tensor.dtype = dtypeOf(logical.getElementType());
    tensor.dims = logical.getShape().vec();
    if (tensor.dtype == OM_UNDEFINED ||
        logical.getElementTypeBitWidth() != stored.getElementTypeBitWidth())
      return std::nullopt;
    auto layout = dyn_cast_or_null<graph::LayoutAttr>(logical.getEncoding());
    tensor.block = layout ? layout.getBlock() : 0;
    SmallVector<int64_t> expected(logical.getShape());
    if (tensor.block) {
      if (expected.size() < 2)
        return std::nullopt;
      expected[1] = llvm::divideCeil(expected[1], tensor.block);
      expected.push_back(tensor.block);
    }
    if (ArrayRef(expected) == stored.getShape()) {
      auto strides = stored.getStridesAndOffset().first;
      tensor.strides.assign(strides.begin(), strides.end());
      return tensor;
    }
    // Kernels may see a dense buffer under other dims.
    if (tensor.block || !stored.getLayout().isIdentity() ||
        stored.getNumElements() != logical.getNumElements())
      return std::nullopt;
    return tensor;
  }

  llvm::Expected<OmBufferRef> refOf(Value buffer) {
    BufferPart part = resolveViews(buffer);
    OmBufferRef ref;
    if (auto alloc = part.root.getDefiningOp<AllocOp>()) {
      if (!alloc.getOffset())
        return llvm::createStringError(
            "a buffer has no place in the arena: om-plan-memory has not run");
      ref.offset = *alloc.getOffset();
    } else if (auto weight = part.root.getDefiningOp<WeightOp>()) {
      auto stored = addWeight(weight);
      if (!stored)
        return stored.takeError();
      ref = *stored;
    } else {
      ref = spaces.lookup(part.root);
    }
    ref.offset += part.offset;
    ref.size = spanInBytes(cast<MemRefType>(buffer.getType()));
    return ref;
  }

  /// Puts a constant into its weights segment; equal bytes are stored once in each.
  llvm::Expected<OmBufferRef> addWeight(WeightOp op) {
    if (auto known = spaces.find(op.getResult()); known != spaces.end())
      return known->second;
    auto ref = addConstant(op.getValue(), /*packed=*/false,
                           op->hasAttr(kAddressesAttr) ? tables : weights);
    if (ref)
      spaces[op.getResult()] = *ref;
    return ref;
  }

  /// Adds a constant to the weights. `packed`: several elements smaller than a byte share one.
  llvm::Expected<OmBufferRef> addConstant(ElementsAttr constant, bool packed,
                                          WeightsSegment &segment) {
    auto value = graph::ConstantBytes::get(constant);
    if (mlir::failed(value))
      return llvm::createStringError("a weight of type " + llvm::to_string(constant.getType()) +
                                     " has no bytes");
    result.constants.push_back(std::move(*value));
    ArrayRef<char> bytes = result.constants.back().expanded();
    if (packed)
      bytes = packBits(bytes, constant.getElementType());

    auto &sameHash = segment.byHash[llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()))];
    OmBufferRef ref{OM_WEIGHTS, segment.index, 0, bytes.size()};
    auto equal = llvm::find_if(sameHash, [&](size_t index) {
      const OmWeights &other = segment.pieces[index];
      return ArrayRef(static_cast<const char *>(other.data), other.size) == bytes;
    });
    if (equal != sameHash.end()) {
      ref.offset = segment.pieces[*equal].offset;
    } else {
      ref.offset = segment.end;
      sameHash.push_back(segment.pieces.size());
      segment.pieces.push_back({bytes.data(), bytes.size(), segment.end});
      segment.end =
          llvm::alignTo(segment.end + std::max<uint64_t>(bytes.size(), 1), kBufferAlignment);
    }
    return ref;
  }

  ArrayRef<char> packBits(ArrayRef<char> bytes, Type element) {
    unsigned bits = element.getIntOrFloatBitWidth();
    if (bits != 2 && bits != 4)
      return bytes;
    const size_t perByte = 8 / bits;
    std::vector<char> &packed =
        result.packed.emplace_back(llvm::divideCeil(bytes.size(), perByte), char(0));
    for (auto [i, byte] : llvm::enumerate(bytes))
      packed[i / perByte] |= (byte & ((1 << bits) - 1)) << (i % perByte * bits);
    return packed;
  }

  uint32_t addTensor(OmTensor tensor) {
    // Dumps are files by these names.
    std::string stem = tensor.name;
    unsigned &number = tensorNumbers.try_emplace(stem, 1).first->second;
    while (!tensorNames.insert(tensor.name).second)
      tensor.name = stem + "#" + std::to_string(++number);
    model().tensors.push_back(std::move(tensor));
    return model().tensors.size() - 1;
  }

  ModuleOp module;
  ArrayRef<cpu::CompiledLevel> levels;
  OmDescription result;
  llvm::StringSet<> tensorNames;
  llvm::StringMap<unsigned> tensorNumbers; ///< last suffix per name
  DenseMap<StringAttr, uint32_t> kernelIndex, programIndex;
  /// Places of arguments and weights.
  DenseMap<Value, OmBufferRef> spaces;
  DenseMap<Value, uint32_t> outputTensors;
  /// The tensors that a buffer holds at this point, in the order in which they were written.
  DenseMap<Value, HeldTensors> holders;
  WeightsSegment weights{model().weights, 0}, tables{model().tables, 1};
  uint32_t firstHostKernel = 0;
};

} // namespace

Names namesOf(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? Names() : namesOf(fused.getLocations().back());
  auto outer = dyn_cast<NameLoc>(location);
  if (!outer)
    return {};
  Names names{outer.getName().str(), outer.getName().str()};
  if (auto inner = dyn_cast<NameLoc>(outer.getChildLoc()))
    if (!inner.getName().empty())
      names.node = inner.getName().str();
  return names;
}

llvm::Expected<OmDescription> moduleToOm(ModuleOp module, ArrayRef<cpu::CompiledLevel> levels) {
  return Builder(module, levels).build();
}

} // namespace atc::om
