//===-- OpTable.cpp - which TensorFlow ops can be imported, and by what ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OpTable.h"

#include <map>

#include "frontends/tf/DecomposeNodes.h"
#include "frontends/tf/TfImport.h"
#include "frontends/tf/variables/OptimizerSteps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {
namespace {

struct Family {
  llvm::StringLiteral title;
  llvm::ArrayRef<OpRow> rows;
  /// Rows for tensors of any shape, of which those without one for fixed shapes are listed.
  llvm::ArrayRef<OpRow> dynamicRows = {};
};

const std::vector<Family> &families() {
  static const std::vector<Family> all = {
      {"Elementwise", elementwiseRows()},
      {"Convolution and matrix product", convRows()},
      {"Pooling and images", poolRows()},
      {"Resampling", samplingRows()},
      {"Colors", colorRows()},
      {"Suppression of boxes", suppressionRows()},
      {"Audio", audioRows()},
      {"Records", recordRows()},
      {"Locations", locationRows()},
      {"Reductions and softmax", reduceRows()},
      {"Shape", shapeRows()},
      {"Data movement", moveRows(), dynamicShapeRows()},
      {"Scatter, segments and counting", scatterRows()},
      {"Sparse tensors", sparseRows()},
      {"Sums and counts of sparse tensors", sparseSumRows()},
      {"Sets and lists of rows", setRows()},
      {"Systems of equations", systemRows()},
      {"Labels of CTC", labelRows()},
      {"Ragged tensors", raggedRows()},
      {"Bits of elements", bitRows()},
      {"Order, diagonals and sequences", orderRows()},
      {"Control flow", controlRows()},
      {"Lists of tensors", listRows()},
      {"Recurrent cells", rnnRows()},
      {"Complex values and Fourier transforms", complexRows()},
      {"Quantization", quantRows()},
      {"Strings and lookup tables", stringRows()},
      {"Numbers, bytes and characters of strings", textRows()},
      {"Random tensors", randomRows()},
      {"Host kernels", hostRows()},
  };
  return all;
}

using Table = llvm::StringMap<const OpRow *>;

void addTo(Table &table, llvm::ArrayRef<OpRow> rows) {
  for (const OpRow &row : rows)
    table[row.op] = &row;
}

} // namespace

const OpRow *findOp(llvm::StringRef op) {
  static const Table table = [] {
    Table all;
    for (const Family &family : families())
      if (family.rows.data() != hostRows().data())
        addTo(all, family.rows);
    return all;
  }();
  return table.lookup(op);
}

const OpRow *findDynamicOp(llvm::StringRef op) {
  static const Table table = [] {
    Table all;
    // The rows of elementwise operators never look at a shape.
    for (llvm::ArrayRef<OpRow> rows : {elementwiseRows(),
                                       quantRows(),
                                       controlRows(),
                                       listRows(),
                                       hostRows(),
                                       stringRows(),
                                       textRows(),
                                       dynamicShapeRows(),
                                       dynamicNnRows(),
                                       dynamicBlockRows(),
                                       dynamicDiagonalRows(),
                                       dynamicOrderRows(),
                                       dynamicSegmentRows(),
                                       sparseRows(),
                                       sparseSumRows(),
                                       labelRows(),
                                       setRows(),
                                       systemRows(),
                                       raggedRows(),
                                       bitRows(),
                                       randomRows(),
                                       locationRows(),
                                       samplingRows(),
                                       colorRows(),
                                       suppressionRows(),
                                       audioRows(),
                                       recordRows(),
                                       complexRows()})
      addTo(all, rows);
    return all;
  }();
  return table.lookup(op);
}

bool takesStrings(llvm::StringRef op) {
  static const llvm::StringSet<> ops = [] {
    // Operators that move elements or compare them, whose TensorFlow type is any.
    llvm::StringSet<> all = {"Add",
                             "BatchToSpaceND",
                             "BroadcastTo",
                             "Concat",
                             "ConcatV2",
                             "DepthToSpace",
                             "DynamicPartition",
                             "DynamicStitch",
                             "EnsureShape",
                             "Equal",
                             "ExpandDims",
                             "Fill",
                             "Gather",
                             "GatherNd",
                             "GatherV2",
                             "Identity",
                             "IdentityN",
                             "ListDiff",
                             "NotEqual",
                             "Pack",
                             "Pad",
                             "PadV2",
                             "ParallelConcat",
                             "ParallelDynamicStitch",
                             "PlaceholderWithDefault",
                             "PreventGradient",
                             "RaggedGather",
                             "RaggedTensorToSparse",
                             "RaggedTensorToTensor",
                             "Rank",
                             "Reshape",
                             "ReverseSequence",
                             "Reverse",
                             "ReverseV2",
                             "Roll",
                             "Select",
                             "SelectV2",
                             "Shape",
                             "ShapeN",
                             "Size",
                             "Slice",
                             "Snapshot",
                             "SpaceToBatchND",
                             "SpaceToDepth",
                             "SparseConcat",
                             "SparseCross",
                             "SparseFillEmptyRows",
                             "SparseReorder",
                             "SparseSlice",
                             "SparseToDense",
                             "Split",
                             "SplitV",
                             "Squeeze",
                             "StopGradient",
                             "StridedSlice",
                             "Tile",
                             "Transpose",
                             "Unique",
                             "UniqueV2",
                             "UniqueWithCounts",
                             "UniqueWithCountsV2",
                             "Unpack"};
    for (llvm::ArrayRef<OpRow> rows : {stringRows(), textRows(), controlRows(), listRows(),
                                       recordRows(), audioRows(), setRows()})
      for (const OpRow &row : rows)
        all.insert(row.op);
    return all;
  }();
  return ops.contains(op);
}

} // namespace atc::tf_import

void atc::printTfSupport(llvm::raw_ostream &os) {
  using namespace atc::tf_import;
  os << "# TensorFlow operators\n\n"
     << "The operators that the importer of frozen graphs and SavedModels accepts. This page is\n"
     << "printed by `atc-translate --tf-support`.\n\n"
     << "- Element types: float, half, bfloat16, double, int8 to int64, uint8 to uint64, bool, "
        "and\n"
     << "  string, whose operators run as host kernels.\n"
     << "- Dims of inputs that the model leaves open are dynamic, unless `--input_shape` fixes "
        "them;\n"
     << "  operators with \"any\" below take tensors of dynamic shape, as calls of host kernels, "
        "others\n"
     << "  tensors of fixed shape only. Arithmetic on known shapes is resolved while importing. "
        "Of\n"
     << "  operators without \"any\", inputs that say what they do (shapes, axes, pads, sizes, "
        "begins)\n"
     << "  must be known at compile time. A model with one open dim, such as the batch, runs in "
        "tiles\n"
     << "  of fixed shape where it can ([atc.md](atc.md#dynamic-shapes)).\n"
     << "- What the target generates no code for (functions of double on the CPU) runs as host "
        "kernels.\n"
     << "- Loops and conditions of both kinds: `While` and `If` of functions, and frames of "
        "`Enter`,\n"
     << "  `Merge`, `Switch`, `NextIteration`, `LoopCond` and `Exit`. A loop whose values do not "
        "come in\n"
     << "  by Enter, go round by NextIteration and leave by Exit is refused by its name.\n"
     << "- Images are NHWC, NCHW, NDHWC or NCDHW; strides and dilations of batch and channels are "
        "1.\n"
     << "- `Placeholder` is an input and `Const` a constant. Of a SavedModel, function calls\n"
     << "  (`PartitionedCall`, `StatefulPartitionedCall`) are inlined, and variables "
        "(`VarHandleOp`,\n"
     << "  `VariableV2`, `Variable`; read by `ReadVariableOp`, `ResourceGather`) become "
        "constants.\n"
     << "  Those that a run changes become states: an input and the output `<name>/next`, which a "
        "session\n"
     << "  can keep. Functions, branches and loops may read, assign, add, subtract, gather from "
        "and "
        "scatter\n"
     << "  to them (not by `ResourceScatterMul` or `ResourceScatterDiv`), as often as they like. A "
        "state\n"
     << "  begins with the value that was saved, holds real numbers or bools, and its shape must "
        "be "
        "known.\n"
     << "  `--state=none` makes them plain inputs and outputs. Other writes are refused.\n"
     << "- Lookup tables (`HashTableV2`) become constants: the initializers of the model fill them "
        "with\n"
     << "  constants, assets of a SavedModel, or files beside a frozen graph. Those that change\n"
     << "  (`MutableHashTableV2`) are filled once, by `LookupTableInsertV2` or "
        "`LookupTableImportV2`.\n"
     << "- Complex tensors inside the graph are kept as real and imaginary parts; operators that "
        "move or\n"
     << "  add elements, `Exp`, `Log`, `Mul`, `RealDiv`, `Reciprocal`, `Sigmoid`, `Sqrt`, `Square` "
        "and\n"
     << "  `Tanh` take them, too. Inputs and outputs are real.\n"
     << "- Edges that only order the execution are ignored.\n"
     << "- A model with other operators is refused with one list of them all. Only the nodes that\n"
     << "  the outputs need count: `--out_nodes` and `--input_nodes` can cut off what is not\n"
     << "  supported.\n";
  for (const Family &family : families()) {
    os << "\n## " << family.title << "\n\n| operator | shapes | limits |\n|---|---|---|\n";
    std::map<llvm::StringRef, llvm::StringRef> sorted;
    for (const OpRow &row : family.rows)
      // Operators with a row for fixed shapes are listed there.
      if (family.rows.data() != hostRows().data() || !findOp(row.op))
        sorted[row.op] = row.limits;
    for (const OpRow &row : family.dynamicRows)
      if (!findOp(row.op))
        sorted[row.op] = row.limits;
    for (const auto &[op, limits] : sorted)
      os << "| " << op << " | " << (findDynamicOp(op) ? "any" : "fixed") << " | " << limits
         << (limits.empty() ? "|\n" : " |\n");
  }
  os << "\n## Older and fused operators\n\n"
     << "These are replaced by others, with the limits of these.\n\n| operator | becomes "
        "|\n|---|---|\n";
  std::map<llvm::StringRef, llvm::StringRef> replaced;
  forEachDecomposedOp([&](llvm::StringRef op, llvm::StringRef by) { replaced[op] = by; });
  forEachOptimizerStep(
      [&](llvm::StringRef op) { replaced[op] = "reads and writes of states, in functions"; });
  for (const auto &[op, by] : replaced)
    os << "| " << op << " | " << by << " |\n";
}
