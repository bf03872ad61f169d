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

std::optional<std::vector<om::OmGearAxis>>
findInputAxes(const GearRequest &request, const std::vector<std::vector<GearInput>> &inputs,
              Diagnostics &diagnostics) {
  auto gears = llvm::seq<size_t>(0, inputs.size());
  std::vector<om::OmGearAxis> axes;
  for (size_t i = 0; i < inputs[0].size(); ++i)
    for (size_t d = 0; d < inputs[0][i].dims.size(); ++d) {
      std::optional<size_t> value;
      for (const GearRequest::Axis &axis : request.axes)
        if (axis.dim == d && isNamed(inputs[0][i].name, request.shapes[axis.input].first))
          value = axis.value;
      auto sizeIn = [&](size_t gear) { return inputs[gear][i].dims[d]; };
      const bool differs =
          llvm::any_of(gears, [&](size_t gear) { return sizeIn(gear) != sizeIn(0); });
      for (size_t v = 0; differs && !value && v < request.gears[0].size(); ++v)
        if (llvm::all_of(gears,
                         [&](size_t gear) { return sizeIn(gear) == request.gears[gear][v]; }))
          value = v;
      if (value) {
        axes.push_back({false, uint32_t(i), uint32_t(d), uint32_t(*value)});
      } else if (differs) {
        diagnostics.error("E10040", "dim " + Twine(d) + " of input '" + inputs[0][i].name +
                                        "' follows from the gear, but is none of its values; "
                                        "give this input with --input_shape");
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
  RangeProof(const CompilerOptions &options, const GearRequest &request, Diagnostics &diagnostics)
      : options(options), request(request), diagnostics(diagnostics),
        context(makeCompilerContext()), modules(ModuleOp::create(UnknownLoc::get(context.get()))) {}

  std::optional<std::vector<om::OmGearAxis>> run();

private:
  std::optional<ImportedGear> import(const GearRequest &from, size_t gear);
  bool follow(ImportedGear &gear, const std::vector<int64_t> &values);
  bool compare(ImportedGear gear, const std::vector<int64_t> &values);
  bool fail(const Twine &reason);

  const CompilerOptions &options;
  const GearRequest &request;
  Diagnostics &diagnostics;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> modules; ///< those that exist
  ImportedGear probe;
  std::vector<om::OmGearAxis> axes;
};

bool RangeProof::fail(const Twine &reason) {
  diagnostics.error(
      "E10055",
      "the dims of -1 and a~b in --input_shape cannot become gears with padding: " + reason +
          "; give the sizes with --dynamic_batch_size, --dynamic_image_size or "
          "--dynamic_dims, or compile for the CPU with --target=cpu");
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
    // A node that does not take this size: nobody has asked for it.
    if (error->code == "E14001")
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

std::optional<std::vector<om::OmGearAxis>>
proveRanges(const CompilerOptions &options, const GearRequest &request, Diagnostics &diagnostics) {
  return RangeProof(options, request, diagnostics).run();
}

} // namespace atc::driver
