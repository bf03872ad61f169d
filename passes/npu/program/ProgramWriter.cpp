//===-- ProgramWriter.cpp - writes npu programs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ProgramWriter.h"

#include "passes/Choices.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::npu {

Expr operator+(Expr a, const Expr &b) {
  a.base += b.base;
  for (auto [iv, stride] : b.terms) {
    auto known = llvm::find_if(a.terms, [&](auto &term) { return term.first == iv; });
    if (known != a.terms.end())
      known->second += stride;
    else
      a.terms.push_back({iv, stride});
  }
  return a;
}

Expr operator*(Expr a, int64_t factor) {
  a.base *= factor;
  for (auto &term : a.terms)
    term.second *= factor;
  return a;
}

Expr operator-(Expr a, const Expr &b) { return std::move(a) + b * -1; }

SocTable socOf(Operation *op) {
  auto program = dyn_cast<ir::ProgramOp>(op);
  if (!program)
    program = op->getParentOfType<ir::ProgramOp>();
  std::string name;
  if (program)
    name = program.getSoc().str();
  for (Operation *at = op; at && name.empty(); at = at->getParentOp())
    if (auto attribute = at->getAttrOfType<StringAttr>(om::kNpuSocAttr))
      name = attribute.str();
  SocTable table;
  if (const SocTable *known = findSoc(name))
    table = *known;
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto text = at->getAttrOfType<StringAttr>(om::kSocTableAttr))
      readSoc(text.getValue(), om::kSocTableAttr, table);
  return table;
}

//===----------------------------------------------------------------------===//
// Single instructions
//===----------------------------------------------------------------------===//

/// Collects the operands of one op; all expressions share its list of ivs.
class ProgramWriter::Emission {
public:
  explicit Emission(ProgramWriter &writer) : w(writer) {}

  Emission &operand(const BufferAddress &address) {
    buffers.push_back(address.buffer);
    offsets.push_back(address.offset);
    for (auto [iv, stride] : address.offset.terms)
      (void)numberOf(iv);
    return *this;
  }
  /// An operand that may be missing, in ops whose operand groups have sizes.
  Emission &operand(const std::optional<BufferAddress> &optional) {
    groups.push_back(optional ? 1 : 0);
    return optional ? operand(*optional) : *this;
  }
  Emission &span(StringRef name, const Span &span) {
    for (auto [iv, stride] : span.start.terms)
      (void)numberOf(iv);
    spans.push_back({name, span});
    return *this;
  }
  Emission &number(StringRef name, int64_t value) {
    return attribute(name, w.b.getI64IntegerAttr(value));
  }
  Emission &steps(StringRef operand, Steps steps) {
    return number((operand + "_outer").str(), steps.outer)
        .number((operand + "_inner").str(), steps.inner);
  }
  Emission &attribute(StringRef name, Attribute value) {
    attributes.push_back(w.b.getNamedAttr(name, value));
    return *this;
  }
  Emission &flag(StringRef name, bool value) {
    return value ? attribute(name, w.b.getUnitAttr()) : *this;
  }
  Emission &type(StringRef name, Type type) { return attribute(name, TypeAttr::get(type)); }
  int64_t numberOf(Value iv) {
    auto known = llvm::find(ivs, iv);
    if (known != ivs.end())
      return known - ivs.begin();
    ivs.push_back(iv);
    return ivs.size() - 1;
  }

  template <typename OpT> void create() {
    if (w.when.kind != ir::GuardKind::Always) {
      int64_t iv = numberOf(w.when.iv);
      attribute("guard", ir::GuardAttr::get(w.context(), w.when.kind, iv));
    }
    for (auto &[name, span] : spans)
      attribute(name,
                ir::RangeAttr::get(w.context(), span.length,
                                   span.start.base || !span.start.terms.empty() ? affine(span.start)
                                                                                : ir::AffineAttr(),
                                   span.limit));
    SmallVector<Attribute> addresses;
    for (const Expr &offset : offsets)
      addresses.push_back(affine(offset));
    attribute("offsets", w.b.getArrayAttr(addresses));

    OperationState state(w.b.getLoc(), OpT::getOperationName());
    state.addOperands(buffers);
    state.addOperands(ivs);
    state.addAttributes(attributes);
    if (!groups.empty()) {
      groups.push_back(ivs.size());
      state.addAttribute("operandSegmentSizes", w.b.getDenseI32ArrayAttr(groups));
    }
    w.b.create(state);
  }

private:
  ir::AffineAttr affine(const Expr &expr) {
    SmallVector<int64_t> strides(ivs.size(), 0);
    for (auto [iv, stride] : expr.terms)
      strides[numberOf(iv)] = stride;
    return ir::AffineAttr::get(w.context(), expr.base,
                               expr.terms.empty() ? ArrayRef<int64_t>() : strides);
  }

  ProgramWriter &w;
  SmallVector<Value> buffers, ivs;
  SmallVector<Expr> offsets;
  SmallVector<std::pair<StringRef, Span>> spans;
  SmallVector<NamedAttribute> attributes;
  SmallVector<int32_t> groups;
};

//===----------------------------------------------------------------------===//
// Programs, buffers, loops
//===----------------------------------------------------------------------===//

/// Hands over what passes chose for a kernel, and the name by which later ones find their choices.
static void noteKernel(func::FuncOp kernel, ir::ProgramOp program, const SocTable &table) {
  copyChosen(kernel, program);
  if (usesChoices(program) && !program->hasAttr(kKernelAttr))
    program->setAttr(kKernelAttr, StringAttr::get(kernel.getContext(),
                                                  identify(&kernel.getBody().front().front(),
                                                           writeSocOfKernels(table))));
}

ProgramWriter::ProgramWriter(func::FuncOp kernel, ArrayRef<int64_t> grid, bool vectorCore)
    : kernel(kernel), b(kernel.getLoc(), kernel), table(socOf(kernel)) {
  program = ir::ProgramOp::create(b, kernel.getSymNameAttr(), b.getDenseI64ArrayAttr(grid),
                                  b.getStringAttr(table.name),
                                  vectorCore ? b.getUnitAttr() : UnitAttr(), FlatSymbolRefAttr());
  noteKernel(kernel, program, table);
  Block *body = b.createBlock(&program.getBodyRegion());
  for (Type type : kernel.getArgumentTypes())
    body->addArgument(
        ir::BufferType::get(context(), ir::MemoryKind::GM, om::spanInBytes(cast<MemRefType>(type))),
        b.getLoc());
  for (size_t i = 0; i < grid.size(); ++i)
    body->addArgument(b.getIndexType(), b.getLoc());
  b.setInsertionPointToEnd(body);
}

ProgramWriter::ProgramWriter(ir::ProgramOp program, Block *block, Block::iterator point)
    : program(program), b(program.getLoc(), program.getContext()), table(socOf(program)) {
  b.setInsertionPoint(block, point);
}

void ProgramWriter::finish() { kernel.erase(); }

Value ProgramWriter::argument(unsigned index) { return program.getBuffers()[index]; }
Value ProgramWriter::argument(Value functionArgument) {
  return argument(cast<BlockArgument>(functionArgument).getArgNumber());
}
Value ProgramWriter::coordinate(unsigned index) { return program.getCoordinates()[index]; }

Value ProgramWriter::alloc(ir::MemoryKind memory, int64_t bytes) {
  return ir::AllocOp::create(b, ir::BufferType::get(context(), memory, bytes), 1, IntegerAttr());
}

void ProgramWriter::loop(int64_t trips, function_ref<void(Value)> body) {
  auto loop = ir::LoopOp::create(b, trips);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getBodyRegion());
  Value iv = block->addArgument(b.getIndexType(), b.getLoc());
  body(iv);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void ProgramWriter::move(BufferAddress dst, BufferAddress src, Span bytes, Span outer,
                         Steps dstSteps, Steps srcSteps, Span inner) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("outer", outer)
      .span("inner", inner)
      .span("bytes", bytes)
      .steps("dst", dstSteps)
      .steps("src", srcSteps)
      .create<ir::MoveOp>();
}

void ProgramWriter::ndToNz(BufferAddress dst, BufferAddress src, Span rows, Span cols, Type type,
                           int64_t srcRow, int64_t dstCol) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("rows", rows)
      .span("cols", cols)
      .type("type", type)
      .number("src_row", srcRow)
      .number("dst_col", dstCol)
      .create<ir::MoveNdToNzOp>();
}

void ProgramWriter::loadImage(BufferAddress dst, BufferAddress src, Span rows, Type type,
                              int64_t channels, int64_t width, int64_t c0, int64_t srcPlane,
                              int64_t srcRow, int64_t dstRow, const ImagePixels &pixels,
                              const std::optional<ImageQuantization> &quantization) {
  Emission emission(*this);
  if (pixels.step)
    emission.number("src_pixel", pixels.step);
  for (auto [channel, factor] : llvm::enumerate(pixels.factors)) {
    const std::string index = std::to_string(channel);
    emission.attribute("mean" + index, b.getF64FloatAttr(pixels.means[channel]))
        .attribute("factor" + index, b.getF64FloatAttr(factor));
  }
  if (quantization)
    emission.attribute("scale", b.getF64FloatAttr(quantization->scale))
        .attribute("offset", b.getF64FloatAttr(quantization->offset))
        .flag("is_signed", quantization->isSigned);
  emission.operand(dst)
      .operand(src)
      .span("rows", rows)
      .type("type", type)
      .number("channels", channels)
      .number("width", width)
      .number("c0", c0)
      .number("src_plane", srcPlane)
      .number("src_row", srcRow)
      .number("dst_row", dstRow)
      .create<ir::LoadImageOp>();
}

void ProgramWriter::loadYuv(BufferAddress dst, BufferAddress luma, BufferAddress chroma, Span rows,
                            int64_t width, int64_t c0, int64_t srcRow, int64_t dstRow,
                            const ImageColours &colours, const ImagePixels &pixels) {
  Emission emission(*this);
  auto real = [&](const std::string &name, double value) {
    emission.attribute(name, b.getF64FloatAttr(value));
  };
  const size_t channels = colours.bias.size();
  for (size_t channel = 0; channel < 3; ++channel) {
    const std::string index = std::to_string(channel);
    const bool isMade = channel < channels;
    for (size_t plane = 0; plane < 3; ++plane)
      real("yuv"[plane] + index, isMade ? double(colours.matrix[channel * 3 + plane]) : 0);
    if (!isMade)
      continue;
    real("bias" + index, double(colours.bias[channel]));
    real("mean" + index, pixels.means[channel]);
    real("factor" + index, pixels.factors[channel]);
  }
  emission.operand(dst)
      .operand(luma)
      .operand(chroma)
      .span("rows", rows)
      .number("channels", int64_t(channels))
      .number("width", width)
      .number("c0", c0)
      .number("src_row", srcRow)
      .number("chroma_rows", colours.chromaRows)
      .number("dst_row", dstRow)
      .create<ir::LoadYuvOp>();
}

void ProgramWriter::load2d(BufferAddress dst, BufferAddress src, Span outer, Span inner,
                           Steps dstSteps, Steps srcSteps, bool transpose) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("outer", outer)
      .span("inner", inner)
      .steps("dst", dstSteps)
      .steps("src", srcSteps)
      .flag("transpose", transpose)
      .create<ir::Load2DOp>();
}

void ProgramWriter::img2col(BufferAddress dst, BufferAddress src, Span m, Span k, Span row0,
                            const Img2ColShape &shape, int64_t srcImage, int64_t srcChannel,
                            int64_t dstRow) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("m", m)
      .span("k", k)
      .span("row0", row0)
      .number("c0", shape.c0)
      .number("element_bytes", shape.elementBytes)
      .number("channels1", shape.channels1)
      .number("height", shape.height)
      .number("width", shape.width)
      .number("out_height", shape.outHeight)
      .number("out_width", shape.outWidth)
      .number("kernel_h", shape.kernelH)
      .number("kernel_w", shape.kernelW)
      .number("stride_h", shape.strideH)
      .number("stride_w", shape.strideW)
      .number("dilation_h", shape.dilationH)
      .number("dilation_w", shape.dilationW)
      .number("pad_top", shape.padTop)
      .number("pad_left", shape.padLeft)
      .number("src_image", srcImage)
      .number("src_channel", srcChannel)
      .number("dst_row", dstRow)
      .number("pad", shape.pad)
      .create<ir::Img2ColOp>();
}

void ProgramWriter::mmad(BufferAddress dst, BufferAddress a, BufferAddress b,
                         std::optional<BufferAddress> bias, Span m, Span n, Span k, Type type,
                         ArrayRef<Value> first, int64_t dstCol, int64_t aRow, int64_t bRow,
                         bool accumulate) {
  Emission emission(*this);
  emission.operand(std::optional(dst))
      .operand(std::optional(a))
      .operand(std::optional(b))
      .operand(bias)
      .span("m", m)
      .span("n", n)
      .span("k", k);
  SmallVector<int64_t> numbers;
  for (Value iv : first)
    numbers.push_back(emission.numberOf(iv));
  emission.attribute("first", this->b.getDenseI64ArrayAttr(numbers))
      .type("type", type)
      .flag("accumulate", accumulate)
      .number("dst_col", dstCol)
      .number("a_row", aRow)
      .number("b_row", bRow)
      .create<ir::MmadOp>();
}

void ProgramWriter::moveL0C(BufferAddress dst, BufferAddress src, Span m, Span n, Type type,
                            Type dstType, bool relu, int64_t srcCol, int64_t dstRow, int64_t dstCol,
                            double scale) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("m", m)
      .span("n", n)
      .type("type", type)
      .type("dst_type", dstType)
      .flag("relu", relu)
      .attribute("scale", b.getF64FloatAttr(scale))
      .number("src_col", srcCol)
      .number("dst_row", dstRow)
      .number("dst_col", dstCol)
      .create<ir::MoveL0COp>();
}

void ProgramWriter::requantize(BufferAddress dst, BufferAddress src, BufferAddress scales, Span m,
                               Span n, Type type, const Requantization &to, int64_t srcCol,
                               int64_t dstRow, int64_t dstCol) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .operand(scales)
      .span("m", m)
      .span("n", n)
      .type("type", type)
      .type("dst_type", to.factor != 0 ? Type(b.getF32Type()) : to.stored)
      .type("stored", to.stored)
      .flag("relu", to.relu)
      .attribute("offset", b.getF64FloatAttr(to.offset))
      .attribute("factor", b.getF64FloatAttr(to.factor))
      .number("src_col", srcCol)
      .number("dst_row", dstRow)
      .number("dst_col", dstCol)
      .create<ir::RequantizeOp>();
}

void ProgramWriter::requantizeAdd(BufferAddress dst, BufferAddress src, BufferAddress scales,
                                  BufferAddress addend, Span m, Span n, Type type,
                                  const Requantization &first, const Addition &addition,
                                  int64_t srcCol, int64_t dstRow, int64_t dstCol) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .operand(scales)
      .operand(addend)
      .span("m", m)
      .span("n", n)
      .type("type", type)
      .type("dst_type", addition.result)
      .type("stored", first.stored)
      .flag("relu", first.relu)
      .attribute("offset", b.getF64FloatAttr(first.offset))
      .attribute("factor", b.getF64FloatAttr(first.factor))
      .type("addend_type", addition.type)
      .attribute("addend_offset", b.getF64FloatAttr(addition.offset))
      .attribute("addend_factor", b.getF64FloatAttr(addition.factor))
      .flag("add_relu", addition.relu)
      .attribute("result_factor", b.getF64FloatAttr(addition.resultFactor))
      .attribute("result_offset", b.getF64FloatAttr(addition.resultOffset))
      .number("src_col", srcCol)
      .number("dst_row", dstRow)
      .number("dst_col", dstCol)
      .create<ir::RequantizeAddOp>();
}

void ProgramWriter::vector(VectorOp op, BufferAddress dst, Steps dstSteps,
                           std::optional<VectorSource> a, std::optional<VectorSource> b,
                           std::optional<VectorSource> mask, Span outer, Span inner, Span lanes,
                           Type type, Type dstType, double scalar, int64_t dstBlock) {
  Emission emission(*this);
  emission.operand(std::optional(dst));
  for (const std::optional<VectorSource> *source : {&a, &b, &mask})
    emission.operand(*source ? std::optional((*source)->address) : std::nullopt);
  emission.span("outer", outer)
      .span("inner", inner)
      .span("lanes", lanes)
      .attribute("op", this->b.getStringAttr(nameOf(op)))
      .type("type", type)
      .type("dst_type", dstType)
      .attribute("scalar", this->b.getF64FloatAttr(scalar))
      .steps("dst", dstSteps)
      .number("dst_block", dstBlock);
  if (a)
    emission.steps("a", a->steps).number("a_block", a->block);
  if (b)
    emission.steps("b", b->steps).number("b_block", b->block);
  if (mask)
    emission.steps("mask", mask->steps);
  emission.create<ir::VectorOp>();
}

void ProgramWriter::gatherRows(BufferAddress dst, BufferAddress src, BufferAddress indices,
                               Span rows, Span bytes, int64_t tableRows, int64_t srcRow,
                               int64_t dstRow, int64_t indexStep) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .operand(indices)
      .span("rows", rows)
      .span("bytes", bytes)
      .number("table_rows", tableRows)
      .number("src_row", srcRow)
      .number("dst_row", dstRow)
      .number("index_step", indexStep)
      .create<ir::GatherRowsOp>();
}

void ProgramWriter::transpose(BufferAddress dst, Steps dstSteps, int64_t dstRow, BufferAddress src,
                              Steps srcSteps, int64_t srcRow, Span outer, Span inner) {
  Emission(*this)
      .operand(dst)
      .operand(src)
      .span("outer", outer)
      .span("inner", inner)
      .steps("dst", dstSteps)
      .number("dst_row", dstRow)
      .steps("src", srcSteps)
      .number("src_row", srcRow)
      .create<ir::TransposeOp>();
}

} // namespace atc::npu
