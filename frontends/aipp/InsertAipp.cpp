//===-- InsertAipp.cpp - inputs of a model become images ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/InsertAipp.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/aipp/PixelMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc {

using namespace aipp;

namespace {

class AippInserter {
public:
  AippInserter(func::FuncOp main, ImageLayout layout, ArrayRef<std::string> halfInputs,
               Diagnostics &diagnostics)
      : main(main), layout(layout), halfInputs(halfInputs), diagnostics(diagnostics) {
    for (BlockArgument argument : main.getArguments()) {
      readers.emplace_back();
      for (OpOperand &use : argument.getUses())
        readers.back().push_back(&use);
      // Uses are listed from the last one made, and may stand in bodies of loops.
      Block &body = main.getBody().front();
      llvm::sort(readers.back(), [&](OpOperand *a, OpOperand *b) {
        Operation *first = body.findAncestorOpInBlock(*a->getOwner());
        Operation *second = body.findAncestorOpInBlock(*b->getOwner());
        return first == second ? a->getOperandNumber() < b->getOperandNumber()
                               : first->isBeforeInBlock(second);
      });
      types.push_back(argument.getType());
    }
    covered.resize(readers.size());
  }

  bool run(ArrayRef<AippEntry> entries) {
    const unsigned before = diagnostics.numErrors();
    for (const AippEntry &entry : entries)
      if (std::optional<unsigned> input = findInput(entry); input && hasBytes(*input))
        insert(entry, *input);
    for (auto [index, uses] : llvm::enumerate(covered))
      if (!uses.empty() && uses.size() != readers[index].size())
        diagnostics.error("E10052",
                          "input_edge_idx leaves " + Twine(readers[index].size() - uses.size()) +
                              " of the " + Twine(readers[index].size()) + " readers of input '" +
                              nameOf(index) + "' without an aipp_op: they would read raw pixels");
    main.setType(FunctionType::get(main.getContext(), main.getBody().getArgumentTypes(),
                                   main.getFunctionType().getResults()));
    return diagnostics.numErrors() == before;
  }

private:
  std::string nameOf(unsigned index) {
    auto name = main.getArgAttrOfType<StringAttr>(index, "om.name");
    return name ? name.str() : std::to_string(index);
  }

  std::string inputNames() {
    std::string names;
    for (unsigned i = 0; i < types.size(); ++i)
      names += (i ? ", '" : "'") + nameOf(i) + "'";
    return names;
  }

  std::optional<unsigned> findInput(const AippEntry &entry) {
    const unsigned count = types.size();
    if (entry.op.has_related_input_name()) {
      for (unsigned i = 0; i < count; ++i)
        if (nameOf(i) == entry.op.related_input_name())
          return i;
      entry.fail(diagnostics, "E10052", "related_input_name",
                 "is not an input of the model; its inputs are " + inputNames());
      return std::nullopt;
    }
    if (entry.op.related_input_rank() < count)
      return entry.op.related_input_rank();
    entry.fail(diagnostics, "E10052", "related_input_rank",
               "is not an input of the model: it has " + Twine(count) +
                   ", counted from 0: " + inputNames());
    return std::nullopt;
  }

  /// Returns whether the caller does not give an input as f16; otherwise that is an error.
  bool hasBytes(unsigned input) {
    const std::string name = nameOf(input);
    if (!is_contained(halfInputs, name) && !is_contained(halfInputs, name + ":0"))
      return true;
    diagnostics.error("E10034", "the input '" + name +
                                    "' of --input_fp16_nodes becomes an image of bytes by "
                                    "--insert_op_conf: it cannot be f16; leave it out of one of "
                                    "them");
    return false;
  }

  /// Returns the readers of an input that an entry preprocesses for; nothing after an error.
  std::optional<SmallVector<OpOperand *>> findReaders(const AippEntry &entry, unsigned input) {
    SmallVector<OpOperand *> found;
    const SmallVector<OpOperand *> &all = readers[input];
    if (entry.op.input_edge_idx().empty())
      found = all;
    for (uint32_t edge : entry.op.input_edge_idx()) {
      if (edge >= all.size()) {
        entry.fail(diagnostics, "E10052", "input_edge_idx",
                   "is not a reader of input '" + nameOf(input) + "': it has " + Twine(all.size()) +
                       ", counted from 0");
        return std::nullopt;
      }
      found.push_back(all[edge]);
    }
    for (OpOperand *use : found)
      if (!covered[input].insert(use).second) {
        entry.fail(diagnostics, "E10052", "related_input_rank",
                   "configures input '" + nameOf(input) + "' a second time");
        return std::nullopt;
      }
    return found;
  }

  struct ModelImage {
    int64_t batch, channels, height, width;
  };

  /// Returns the dims of the image that the model reads; nothing after an error.
  std::optional<ModelImage> findImage(const AippEntry &entry, unsigned input) {
    auto type = dyn_cast<RankedTensorType>(types[input]);
    auto refuse = [&](const Twine &reason) -> std::optional<ModelImage> {
      entry.fail(diagnostics, "E10052", "related_input_rank",
                 "(input '" + nameOf(input) + "') " + reason);
      return std::nullopt;
    };
    if (!type || (type.getRank() != 3 && type.getRank() != 4))
      return refuse("is not an image: it must have 3 or 4 dims");
    if (!type.hasStaticShape())
      return refuse("has dynamic dims; give its shape with --input_shape");
    if (!isa<FloatType>(type.getElementType()))
      return refuse("holds integers; preprocessing gives float values");
    SmallVector<int64_t> dims(type.getShape());
    if (dims.size() == 3)
      dims.insert(dims.begin(), 1);
    if (layout == ImageLayout::ChannelsLast)
      return ModelImage{dims[0], dims[3], dims[1], dims[2]};
    return ModelImage{dims[0], dims[1], dims[2], dims[3]};
  }

  void insert(const AippEntry &entry, unsigned input) {
    std::optional<ModelImage> model = findImage(entry, input);
    std::optional<SmallVector<OpOperand *>> uses = findReaders(entry, input);
    if (!model || !uses)
      return;
    if (entry.op.aipp_mode() == pb::dynamic)
      return insertDynamic(entry, input, *model, *uses);
    const pb::InputFormat format = entry.op.input_format();
    if (model->channels > channelsOf(format))
      entry.fail(diagnostics, "E70014", "input_format",
                 "gives " + Twine(channelsOf(format)) + " channels, but the model's input '" +
                     nameOf(input) + "' has " + Twine(model->channels) + " (" +
                     (layout == ImageLayout::ChannelsLast ? "NHWC" : "NCHW") + ")");
    std::optional<ImageGeometry> geometry =
        inferGeometry(entry, nameOf(input), model->height, model->width, diagnostics);
    if (!geometry || model->channels > channelsOf(format))
      return;
    auto source =
        RankedTensorType::get(sourceShape(format, model->batch, *geometry),
                              IntegerType::get(main.getContext(), 8, IntegerType::Unsigned));
    BlockArgument argument = main.getArgument(input);
    if (argument.getType() != types[input] && argument.getType() != source) {
      entry.fail(diagnostics, "E70014", "src_image_size_h",
                 "gives input '" + nameOf(input) +
                     "' another size or format than the aipp_op before");
      return;
    }
    argument.setType(source);
    llvm::json::Object facts = entry.numbers();
    facts["input_format"] = static_cast<int64_t>(format);
    facts["src_image_size_w"] = geometry->width.source;
    facts["src_image_size_h"] = geometry->height.source;
    note(input, std::move(facts));
    replace(*uses, build(entry, *geometry, argument, *model, types[input]));
  }

  /// Has the compiled model state how an input is preprocessed, by the first entry, and what the
  /// model reads: a program may ask for that (aclmdlGetFirstAippInfo).
  void note(unsigned input, llvm::json::Object facts) {
    auto type = cast<RankedTensorType>(types[input]);
    facts["type"] = int64_t{graph::dtypeOf(type.getElementType())};
    facts["last"] = layout == ImageLayout::ChannelsLast;
    facts["dims"] = llvm::json::Array(type.getShape());
    Operation *module = main->getParentOp();
    constexpr llvm::StringLiteral metadata = "om.metadata";
    NamedAttrList all(module->getAttrOfType<DictionaryAttr>(metadata));
    const std::string key = "openatc.aipp." + nameOf(input);
    if (!all.get(key))
      all.set(key,
              StringAttr::get(main.getContext(),
                              llvm::formatv("{0}", llvm::json::Value(std::move(facts))).str()));
    module->setAttr(metadata, all.getDictionary(main.getContext()));
  }

  Value build(const AippEntry &entry, const ImageGeometry &geometry, BlockArgument argument,
              const ModelImage &model, Type type) {
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    Location loc = locationOf(builder, argument.getArgNumber());
    Value value = buildPreprocessing(builder, loc, entry, geometry, argument, model.channels);
    return toModel(builder, loc, value, model, type);
  }

  Location locationOf(OpBuilder &builder, unsigned input) {
    return NameLoc::get(builder.getStringAttr(nameOf(input) + "_aipp"));
  }

  /// Returns float32 [n, c, h, w] in the layout and the type that the model reads.
  Value toModel(OpBuilder &builder, Location loc, Value value, const ModelImage &model, Type type) {
    auto ranked = cast<RankedTensorType>(type);
    if (layout == ImageLayout::ChannelsLast)
      value = graph::TransposeOp::create(
          builder, loc,
          RankedTensorType::get({model.batch, model.height, model.width, model.channels},
                                builder.getF32Type()),
          value, ArrayRef<int64_t>{0, 2, 3, 1});
    if (ranked.getRank() == 3)
      value = graph::ReshapeOp::create(
          builder, loc, RankedTensorType::get(ranked.getShape(), builder.getF32Type()), value);
    if (value.getType() != type)
      value = graph::CastOp::create(builder, loc, type, value);
    return value;
  }

  /// The input becomes the bytes of the largest image, and a further input says what they are.
  void insertDynamic(const AippEntry &entry, unsigned input, const ModelImage &model,
                     ArrayRef<OpOperand *> uses) {
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    Type byte = IntegerType::get(main.getContext(), 8, IntegerType::Unsigned);
    auto bytes = [&](int64_t count) { return RankedTensorType::get({count}, byte); };
    BlockArgument image = main.getArgument(input);
    if (image.getType() != types[input]) {
      entry.fail(diagnostics, "E10052", "aipp_mode",
                 "is stated for input '" + nameOf(input) + "' a second time");
      return;
    }
    image.setType(bytes(entry.op.max_src_image_size()));
    const std::string name =
        "ascend_dynamic_aipp_data" + (numDynamic ? "_" + std::to_string(numDynamic) : "");
    ++numDynamic;
    note(input, llvm::json::Object{{"parameters", name}});
    const unsigned last = main.getNumArguments();
    StringAttr nameAttr = builder.getStringAttr(name);
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr("om.name", nameAttr));
    if (failed(main.insertArgument(last, bytes(dynamicBytes(model.batch)), attributes,
                                   NameLoc::get(nameAttr)))) {
      diagnostics.error("E19999", "the input '" + name + "' could not be added");
      return;
    }
    auto integer = [&](const char *key, int64_t value) {
      return builder.getNamedAttr(key, builder.getDenseI64ArrayAttr({value}));
    };
    Type result = RankedTensorType::get({model.batch, model.channels, model.height, model.width},
                                        builder.getF32Type());
    Location loc = locationOf(builder, input);
    auto call = graph::HostCallOp::create(
        builder, loc, TypeRange(result), builder.getStringAttr("Aipp"),
        ValueRange{image, main.getArgument(last)}, DenseI32ArrayAttr(),
        builder.getDictionaryAttr(
            {integer("batch", model.batch), integer("channels", model.channels),
             integer("height", model.height), integer("width", model.width)}));
    replace(uses, toModel(builder, loc, call.getResult(0), model, types[input]));
  }

  /// Bytes of the parameters of `batch` images: what holds for all, then for each.
  static int64_t dynamicBytes(int64_t batch) { return 64 + 96 * batch; }

  static void replace(ArrayRef<OpOperand *> uses, Value value) {
    for (OpOperand *use : uses)
      use->set(value);
  }

  func::FuncOp main;
  const ImageLayout layout;
  const ArrayRef<std::string> halfInputs;
  Diagnostics &diagnostics;
  SmallVector<SmallVector<OpOperand *>> readers; ///< of each input, in the order of ops
  SmallVector<llvm::DenseSet<OpOperand *>> covered;
  SmallVector<Type> types; ///< of the inputs as the model has them
  unsigned numDynamic = 0; ///< inputs added for parameters
};

} // namespace

bool insertAipp(ModuleOp module, StringRef path, ImageLayout layout,
                ArrayRef<std::string> halfInputs, Diagnostics &diagnostics) {
  const std::vector<AippEntry> entries = readAippFile(path, diagnostics);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (entries.empty() || !main || main.isExternal())
    return !diagnostics.hasErrors();
  return AippInserter(main, layout, halfInputs, diagnostics).run(entries);
}

} // namespace atc
