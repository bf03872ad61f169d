//===-- GearAxes.cpp - which dims of a model are values of its gears ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/gears/GearAxes.h"

#include "dialects/graph/ConstantData.h"
#include "passes/graph/BatchLikeDims.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace atc::driver {

/// Returns whether an input of the model has the name that --input_shape gives: a TensorFlow
/// input may be written as a tensor or as a node.
static bool isNamed(StringRef input, StringRef given) {
  auto node = [](StringRef name) {
    (void)name.consume_back(":0");
    return name;
  };
  return node(input) == node(given);
}

namespace {

/// Finds the axes of one input.
class InputAxes {
public:
  InputAxes(const GearRequest &request, const std::vector<std::vector<GearInput>> &gears,
            size_t input)
      : request(request), gears(gears), input(input), name(gears[0][input].name) {}

  /// Appends the axes. Returns the first dim that differs between gears and is no axis.
  std::optional<size_t> find(std::vector<om::OmGearAxis> &axes) {
    const bool isStated = hasStatedDims();
    std::vector<bool> isTaken(request.gears[0].size());
    std::optional<size_t> other;
    for (size_t d = 0; d < gears[0][input].dims.size(); ++d) {
      std::optional<size_t> value = isStated ? statedValue(d) : std::nullopt;
      const bool differs = llvm::any_of(gears, [&](const std::vector<GearInput> &inputs) {
        return inputs[input].dims[d] != gears[0][input].dims[d];
      });
      // A value that no dim before this one is comes first: height and width may be equal.
      for (bool takenToo : {false, true})
        for (size_t v = 0; differs && !value && v < isTaken.size(); ++v)
          if ((takenToo || !isTaken[v]) && isValue(d, v))
            value = v;
      if (value) {
        isTaken[*value] = true;
        axes.push_back({false, uint32_t(input), uint32_t(d), uint32_t(*value)});
      } else if (differs && !other) {
        other = d;
      }
    }
    return other;
  }

private:
  std::optional<size_t> statedValue(size_t dim) const {
    for (const GearRequest::Axis &axis : request.axes)
      if (axis.dim == dim && isNamed(name, request.shapes[axis.input].first))
        return axis.value;
    return std::nullopt;
  }

  /// Returns whether a dim is a value in every gear.
  bool isValue(size_t dim, size_t value) const {
    return llvm::all_of(llvm::seq<size_t>(0, gears.size()), [&](size_t gear) {
      const std::vector<int64_t> &dims = gears[gear][input].dims;
      return dim < dims.size() && dims[dim] == request.gears[gear][value];
    });
  }

  /// Returns whether the input has the dims of --input_shape. An image in its place, which
  /// preprocessing has made, has dims in another order, or dims that only follow from them.
  bool hasStatedDims() const {
    return llvm::all_of(request.axes, [&](const GearRequest::Axis &axis) {
      return !isNamed(name, request.shapes[axis.input].first) || isValue(axis.dim, axis.value);
    });
  }

  const GearRequest &request;
  const std::vector<std::vector<GearInput>> &gears;
  const size_t input;
  const StringRef name;
};

} // namespace

std::optional<std::vector<om::OmGearAxis>>
findInputAxes(const GearRequest &request, const std::vector<std::vector<GearInput>> &inputs,
              Diagnostics &diagnostics) {
  std::vector<om::OmGearAxis> axes;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    std::optional<size_t> other = InputAxes(request, inputs, i).find(axes);
    if (other && request.kind == OM_GEARS_RANGE) {
      diagnostics.error("E10055",
                        "dim " + Twine(*other) + " of input '" + inputs[0][i].name +
                            "' follows from the ranges of --input_shape, but is none of "
                            "their sizes, so that it does not choose a gear; give the sizes with "
                            "--dynamic_batch_size, --dynamic_image_size or "
                            "--dynamic_dims");
      return std::nullopt;
    }
  }
  return axes;
}

namespace {

/// A model imported at the sizes of one gear.
struct ImportedGear {
  ModuleOp module;
  std::vector<GearInput> inputs;
  std::vector<graph::FollowedDims> followed; ///< of each value

  func::FuncOp main() const { return om::findMain(module); }
};

/// Compares every gear with a probe of one size more: what holds for the gears alone may not
/// hold between them. Two modules exist at a time.
class RangeProof {
public:
  RangeProof(const CompilerOptions &options, const GearRequest &request, std::string &whyNot,
             Diagnostics &diagnostics)
      : options(options), request(request), whyNot(whyNot), diagnostics(diagnostics),
        context(makeCompilerContext()), modules(ModuleOp::create(UnknownLoc::get(context.get()))) {}

  std::optional<std::vector<om::OmGearAxis>> run();

private:
  std::optional<ImportedGear> import(const GearRequest &from, size_t gear);
  bool follow(ImportedGear &gear, const std::vector<int64_t> &values);
  bool compare(ImportedGear gear, const std::vector<int64_t> &values);
  bool fail(const Twine &reason);

  const CompilerOptions &options;
  const GearRequest &request;
  std::string &whyNot;
  Diagnostics &diagnostics;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> modules; ///< those that exist
  ImportedGear probe;
  std::vector<om::OmGearAxis> axes;
};

bool RangeProof::fail(const Twine &reason) {
  whyNot = reason.str();
  return false;
}

std::optional<ImportedGear> RangeProof::import(const GearRequest &from, size_t gear) {
  CompilerOptions own = options;
  own.source.inputShapes = from.shapesOf(gear);
  own.tempDir.clear();
  Diagnostics messages;
  Compiler compiler(*context, std::move(own), messages);
  if (!compiler.lower(Phase::Import)) {
    auto error = llvm::find_if(messages.all(), [](const CodedMessage &m) { return m.isError; });
    // A node, or beyond the last gear an image, that does not take this size: nobody has asked
    // for it.
    const bool isProbe = &from != &request && gear == 1;
    if (error->code == "E14001" || isProbe)
      fail("at the size " + from.nameOf(gear) + " " + error->text);
    else
      diagnostics.add(*error);
    return std::nullopt;
  }
  ImportedGear result;
  result.module = compiler.releaseModule().release();
  modules->push_back(result.module);
  func::FuncOp main = result.main();
  for (BlockArgument argument : main.getArguments()) {
    auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), om::kNameAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape()) {
      fail("input '" + (name ? name.getValue() : "?") +
           "' has dims that nothing gives; give its shape with --input_shape");
      return std::nullopt;
    }
    result.inputs.push_back({name ? name.str() : "", type.getShape().vec()});
  }
  return result;
}

bool RangeProof::follow(ImportedGear &gear, const std::vector<int64_t> &values) {
  for (size_t value = 0; value < values.size(); ++value) {
    SmallVector<std::pair<unsigned, int64_t>> arguments;
    for (const om::OmGearAxis &axis : axes)
      if (axis.value == value) {
        if (gear.inputs[axis.index].dims[axis.dim] != values[value])
          return fail("dim " + Twine(axis.dim) + " of input '" + gear.inputs[axis.index].name +
                      "' does not follow the gear");
        arguments.emplace_back(axis.index, axis.dim);
      }
    std::string reason;
    auto found = graph::followDim(gear.main(), arguments, values[value], reason);
    if (!found)
      return fail(reason);
    gear.followed.push_back(std::move(*found));
  }
  return true;
}

/// Proves one gear, and frees its module.
bool RangeProof::compare(ImportedGear gear, const std::vector<int64_t> &values) {
  if (gear.inputs.size() != probe.inputs.size())
    return fail("the network has other inputs for other sizes");
  std::string reason;
  if (!follow(gear, values))
    return false;
  if (!graph::haveEqualMeaning(probe.main(), probe.followed, gear.main(), gear.followed, reason))
    return fail(reason);
  gear.module.erase();
  graph::releaseUnusedConstants(*modules);
  return true;
}

std::optional<std::vector<om::OmGearAxis>> RangeProof::run() {
  GearRequest ends = request;
  ends.gears = {request.gears.back(), request.gears.back()};
  for (int64_t &value : ends.gears[1])
    ++value;
  auto last = import(ends, 0);
  auto more = last ? import(ends, 1) : std::nullopt;
  if (!more)
    return std::nullopt;
  auto found = findInputAxes(ends, {last->inputs, more->inputs}, diagnostics);
  if (!found)
    return std::nullopt;
  axes = std::move(*found);
  probe = std::move(*more);
  if (!follow(probe, ends.gears[1]))
    return std::nullopt;
  for (const std::vector<int64_t> &values : request.gears) {
    // A gear of one position holds no smaller run.
    if (llvm::is_contained(values, 1)) {
      assert(values.size() == 1 && "with several values gears begin at 2");
      continue;
    }
    const size_t index = &values - request.gears.data();
    // Only once is it the last. NOLINTNEXTLINE(bugprone-use-after-move)
    auto gear = index + 1 == request.gears.size() ? std::move(last) : import(request, index);
    if (!gear || !compare(std::move(*gear), values))
      return std::nullopt;
  }
  auto end = cast<func::ReturnOp>(probe.main().getBody().front().getTerminator());
  for (OpOperand &result : end->getOpOperands())
    for (auto [value, dims] : llvm::enumerate(probe.followed))
      if (auto dim = dims.find(result.get()); dim != dims.end())
        axes.push_back(
            {true, result.getOperandNumber(), uint32_t(dim->second.dim), uint32_t(value)});
  return axes;
}

} // namespace

std::optional<std::vector<om::OmGearAxis>> proveRanges(const CompilerOptions &options,
                                                       const GearRequest &request,
                                                       std::string &whyNot,
                                                       Diagnostics &diagnostics) {
  return RangeProof(options, request, whyNot, diagnostics).run();
}

} // namespace atc::driver
