//===-- SingleOpModel.cpp - an operator as an ONNX model ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/HostForms.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"
#include "support/NearestName.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc {

using single_op::SingleOpGraph;
using namespace single_op;

namespace {

/// Operators that are one node of ONNX without attributes.
struct Renamed {
  StringLiteral ascend, onnx;
};
constexpr Renamed renamed[] = {
    {"Abs", "Abs"},
    {"AccumulateNV2", "Sum"},
    {"Acos", "Acos"},
    {"Acosh", "Acosh"},
    {"Add", "Add"},
    {"AddN", "Sum"},
    {"AddV2", "Add"},
    {"Asin", "Asin"},
    {"Asinh", "Asinh"},
    {"Atan", "Atan"},
    {"Atanh", "Atanh"},
    {"Ceil", "Ceil"},
    {"Cos", "Cos"},
    {"Cosh", "Cosh"},
    {"Div", "Div"},
    {"Equal", "Equal"},
    {"Erf", "Erf"},
    {"Floor", "Floor"},
    {"Greater", "Greater"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"HardSwish", "HardSwish"},
    {"Identity", "Identity"},
    {"IsNan", "IsNaN"},
    {"Less", "Less"},
    {"LessEqual", "LessOrEqual"},
    {"LogicalAnd", "And"},
    {"LogicalNot", "Not"},
    {"LogicalOr", "Or"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Mish", "Mish"},
    {"Mul", "Mul"},
    {"Neg", "Neg"},
    {"Pow", "Pow"},
    {"RealDiv", "Div"},
    {"Reciprocal", "Reciprocal"},
    {"Relu", "Relu"},
    {"Rint", "Round"},
    {"Round", "Round"},
    {"Select", "Where"},
    {"SelectV2", "Where"},
    {"Sigmoid", "Sigmoid"},
    {"Sign", "Sign"},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"Sqrt", "Sqrt"},
    {"Sub", "Sub"},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
};

// Built below, or read by their outputs' shapes.
constexpr StringLiteral built[] = {"ArgMaxD",
                                   "ArgMaxV2",
                                   "ArgMin",
                                   "ArgMinD",
                                   "AvgPool",
                                   "AvgPoolV2",
                                   "BatchMatMul",
                                   "BatchMatMulV2",
                                   "BiasAdd",
                                   "Cast",
                                   "ClipByValue",
                                   "Concat",
                                   "ConcatD",
                                   "ConcatV2",
                                   "ConcatV2D",
                                   "Conv2D",
                                   "DepthwiseConv2D",
                                   "Elu",
                                   "ExpandDims",
                                   "Expm1",
                                   "Flatten",
                                   "FlattenV2",
                                   "GEMM",
                                   "Gather",
                                   "GatherV2",
                                   "GatherV2D",
                                   "Gelu",
                                   "LeakyRelu",
                                   "Log1p",
                                   "LogSoftmaxV2",
                                   "MatMul",
                                   "BatchMatMulV3",
                                   "MatMulV2",
                                   "MatMulV3",
                                   "MaxPool",
                                   "MaxPoolV3",
                                   "NotEqual",
                                   "Pooling",
                                   "ReduceMax",
                                   "ReduceMaxD",
                                   "ReduceMean",
                                   "ReduceMeanD",
                                   "ReduceMin",
                                   "ReduceMinD",
                                   "ReduceProd",
                                   "ReduceProdD",
                                   "ReduceSum",
                                   "ReduceSumD",
                                   "Relu6",
                                   "Reshape",
                                   "Rsqrt",
                                   "Softmax",
                                   "SoftmaxV2",
                                   "Square",
                                   "SquaredDifference",
                                   "Squeeze",
                                   "SqueezeV2",
                                   "Swish",
                                   "TileD",
                                   "TransData",
                                   "Transpose",
                                   "TransposeD",
                                   "Unsqueeze",
                                   "UnsqueezeV2"};

/// Returns the operator that a program's own one is named after, such as Conv2D for Conv2DTik,
/// MatMul for MatmulTik, Add for AddDsl and AddCustom; empty where there is none.
/// Samples and tutorials name the kernels that they write in this way.
std::string namedAfter(StringRef type) {
  StringRef stem = type;
  for (StringRef ending : {"Tik", "Dsl", "Tbe", "BlockCust", "Cust", "Custom", "Demo"})
    if (stem.consume_back(ending))
      break;
  if (stem.size() == type.size())
    return "";
  for (const Renamed &row : renamed)
    if (row.ascend.equals_insensitive(stem))
      return row.ascend.str();
  for (StringRef name : built)
    if (name.equals_insensitive(stem))
      return name.str();
  for (const std::string &name : namesOfRows())
    if (stem.equals_insensitive(name))
      return name;
  return "";
}

/// Builds the model of one operator. Errors are of the operator, E10030 and E10055.
class SingleOpBuilder : SingleOpGraph {
public:
  using SingleOpGraph::SingleOpGraph;

  /// Returns the model, which has the name `name`.
  std::optional<std::string> run(const std::string &name) {
    graph.set_name(name);
    const unsigned before = diagnostics.numErrors();
    addTensors();
    build();
    if (diagnostics.numErrors() == before)
      checkAttributes();
    if (diagnostics.numErrors() != before)
      return std::nullopt;
    return serialize();
  }

private:
  //===--- Operators ------------------------------------------------------===//

  void build() {
    if (op.type == "TransData")
      return buildTransData(*this);
    for (const auto *list : {&op.inputs, &op.outputs})
      for (const SingleOpTensor &tensor : *list)
        if (!tensor.isAbsent &&
            !is_contained({kNCHW, kNHWC, kND, kHWCN, 27, 30, 35, 47}, tensor.format)) {
          diagnostics.error("E10055", "the operator " + op.type +
                                          " of --singleop reads and writes tensors in ND, NCHW, "
                                          "NHWC or HWCN: TransData converts other formats");
          return;
        }
    for (const Renamed &row : renamed)
      if (row.ascend == op.type) {
        node(row.onnx, x, y);
        return;
      }
    if (buildOfRows(*this))
      return;
    if (is_contained(built, op.type)) {
      if (needs(1))
        buildOther();
      return;
    }
    buildOnnx();
  }

  /// An operator that has its ONNX name and attributes.
  void buildOnnx() {
    if (!onnx_import::findOp(op.type, opset) && onnx_import::hostKernelOf("", op.type).empty()) {
      std::vector<std::string> names = namesOfRows();
      names.insert(names.end(), built, std::end(built));
      for (const Renamed &row : renamed)
        names.push_back(row.ascend.str());
      diagnostics.error("E10055", "the operator " + op.type + " is not supported" +
                                      didYouMean(op.type, names));
      return;
    }
    onnx::NodeProto &added = node(op.type, x, y);
    for (const SingleOpAttribute &item : op.attributes) {
      knows({item.name});
      const char *name = item.name.c_str();
      if (item.value.is_boolean() || item.value.is_number_integer())
        setInt(added, name,
               item.value.is_boolean() ? item.value.get<bool>() : item.value.get<int64_t>());
      else if (item.value.is_number())
        setFloat(added, name, item.value.get<double>());
      else if (item.value.is_string())
        setText(added, name, item.value.get<std::string>());
      else
        setInts(added, name, getInts(item.name, {}));
    }
  }

  void buildOther() {
    const StringRef type = op.type;
    if (type == "Rsqrt")
      return finish(value("Reciprocal", {value("Sqrt", {x[0]})}));
    if (type == "Square")
      return finish(value("Mul", {x[0], x[0]}));
    if (type == "Relu6")
      return finish(value("Clip", {x[0], addScalar(0), addScalar(6)}));
    if (type == "Expm1")
      return finish(value("Sub", {value("Exp", {x[0]}), addScalar(1)}));
    if (type == "Log1p")
      return finish(value("Log", {value("Add", {x[0], addScalar(1)})}));
    if (type == "Swish")
      return finish(
          value("Mul",
                {x[0], value("Sigmoid", {value("Mul", {x[0], addScalar(getFloat("scale", 1))})})}));
    if (type == "Gelu")
      return setText(node("Gelu", {x[0]}, y), "approximate", "tanh");
    if (type == "LeakyRelu")
      return setFloat(node("LeakyRelu", {x[0]}, y), "alpha", getFloat("negative_slope", 0));
    if (type == "Elu")
      return setFloat(node("Elu", {x[0]}, y), "alpha", getFloat("alpha", 1));
    if (type == "Cast")
      return setInt(node("Cast", {x[0]}, y), "to", onnxType(op.outputs[0].type));
    if (type == "ClipByValue" && needs(3))
      return (void)node("Clip", {x[0], x[1], x[2]}, y);
    if (type.starts_with("Softmax") || type.starts_with("LogSoftmax"))
      return buildSoftmax();
    if (type.starts_with("Reduce"))
      return buildReduce();
    if (type.starts_with("ArgM"))
      return buildArg();
    if (type.starts_with("Transpose"))
      return buildTranspose();
    if (type == "Reshape" || type.starts_with("Flatten") || type.starts_with("Squeeze") ||
        type.starts_with("Unsqueeze") || type == "ExpandDims")
      return buildMoved();
    if (type.starts_with("Concat"))
      return buildConcat();
    if (type == "TileD")
      return finish(value("Tile", {x[0], addInts(getInts("multiples", {}))}));
    if (type == "Conv2D" || type == "DepthwiseConv2D")
      return needs(2) ? buildConv() : void();
    if (type.starts_with("MaxPool") || type.starts_with("AvgPool") || type == "Pooling")
      return buildPool();
    if (needs(2))
      buildBinary();
  }

  /// Builds an operator that only states other dims. Where the output has dims of any size, they
  /// follow from the input: a 0 takes one over, and one -1 is the rest.
  void buildMoved() {
    const StringRef type = op.type;
    knows({"axis", "axes", "end_axis", "num_axes", "shape", "allowzero"});
    const Ints &from = op.inputs[0].dims;
    Ints to = op.outputs[0].dims;
    const auto isOpen = [](int64_t dim) { return dim < 0; };
    if (llvm::none_of(to, isOpen))
      return finish(reshape(x[0], to));
    if (type.starts_with("Squeeze")) {
      Ints axes = getInts("axis", {});
      for (auto [i, dim] : llvm::enumerate(from))
        if (dim == 1 && getInts("axis", {}).empty())
          axes.push_back(i);
      return finish(value("Squeeze", {x[0], addInts(axes)}));
    }
    if (type.starts_with("Unsqueeze") || type == "ExpandDims")
      return finish(value(
          "Unsqueeze", {x[0], addInts(getIntsOfInput(1, type == "Unsqueeze" ? "axes" : "axis"))}));
    // Reshape states itself which dims stay; with Flatten those in front of the joined ones do.
    if (type == "Reshape") {
      if (const Ints stated = getIntsOfInput(1, "shape"); stated.size() == to.size())
        to = stated;
    } else {
      const int64_t axis = axisOf(getInt("axis", 1));
      if (axis >= int64_t(to.size()))
        return fail("its result has too few dims");
      if (type != "Flatten" || axis <= 1)
        std::fill_n(to.begin(), std::max<int64_t>(axis, 0), 0);
    }
    if (llvm::count_if(to, isOpen) > 1)
      return fail("more than one dim of its result is of a size that is not known");
    finish(reshape(x[0], to));
  }

  void buildBinary() {
    const StringRef type = op.type;
    if (type == "NotEqual")
      return finish(value("Not", {value("Equal", {x[0], x[1]})}));
    if (type == "SquaredDifference") {
      const std::string difference = value("Sub", {x[0], x[1]});
      return finish(value("Mul", {difference, difference}));
    }
    if (type == "BiasAdd")
      return buildBiasAdd();
    if (type.starts_with("Gather")) {
      const Ints axis = getConstantInts(2, "axis");
      return setInt(node("Gather", {x[0], x[1]}, y), "axis", axis.empty() ? 0 : axis[0]);
    }
    buildProduct();
  }

  void buildSoftmax() {
    const Ints axes = getInts("axes", getInts("axis", {-1}));
    if (axes.size() != 1)
      return fail("\"axes\" must name one axis");
    setInt(node(StringRef(op.type).starts_with("Log") ? "LogSoftmax" : "Softmax", {x[0]}, y),
           "axis", axes[0]);
  }

  void buildReduce() {
    StringRef type = op.type;
    type.consume_back("D");
    onnx::NodeProto &added = node(type, {x[0], addInts(getConstantInts(1, "axes"))}, y);
    setInt(added, "keepdims", getBool("keep_dims"));
  }

  void buildArg() {
    const Ints axis = getConstantInts(1, "dimension");
    const std::string index = fresh();
    onnx::NodeProto &added =
        node(StringRef(op.type).starts_with("ArgMax") ? "ArgMax" : "ArgMin", {x[0]}, {index});
    setInt(added, "axis", axis.empty() ? 0 : axis[0]);
    setInt(added, "keepdims", 0);
    // A vector's index has the dims [] or [1], as the file says.
    const Ints &dims = op.outputs[0].dims;
    const bool isOne = op.inputs[0].dims.size() == 1 && dims == Ints{1};
    setInt(node("Cast", {isOne ? reshape(index, dims) : index}, y), "to",
           onnxType(op.outputs[0].type));
  }

  void buildTranspose() {
    const Ints order = getConstantInts(1, "perm");
    if (order.empty() && !isVariable(1, "perm"))
      return fail("\"perm\" is missing");
    setInts(node("Transpose", {x[0]}, y), "perm", order);
  }

  void buildConcat() {
    // The axis is an attribute, or an input in front (Concat) or behind (ConcatV2).
    Names tensors = x;
    Ints axis = getInts("concat_dim", {});
    if (axis.empty()) {
      const size_t position = op.type == "Concat" ? 0 : op.inputs.size() - 1;
      axis = getIntsOfInput(position, "concat_dim");
      tensors.erase(tensors.begin() + position);
    }
    if (axis.empty() || tensors.empty())
      return fail("\"concat_dim\" is missing");
    setInt(node("Concat", tensors, y), "axis", axis[0]);
  }

  void buildBiasAdd() {
    const bool isChannelSecond =
        getText("data_format", op.inputs[0].format == kNCHW ? "NCHW" : "NHWC") == "NCHW";
    Ints shape(op.inputs[0].dims.size(), 1);
    if (shape.empty() || op.inputs[1].dims.size() != 1)
      return fail("the bias must have one dim");
    shape[isChannelSecond && shape.size() > 1 ? 1 : shape.size() - 1] = op.inputs[1].dims[0];
    finish(value("Add", {x[0], reshape(x[1], shape)}));
  }

  /// Transposes the last two dims of an input where an attribute asks for it.
  std::string matrix(size_t index, std::initializer_list<StringRef> attributes) {
    const bool isTransposed =
        llvm::any_of(attributes, [&](StringRef name) { return getBool(name); });
    const size_t rank = op.inputs[index].dims.size();
    if (!isTransposed || rank < 2)
      return x[index];
    Ints permutation(rank);
    for (size_t i = 0; i < rank; ++i)
      permutation[i] = i;
    std::swap(permutation[rank - 1], permutation[rank - 2]);
    return transpose(x[index], permutation);
  }

  void buildProduct() {
    const std::string a = matrix(0, {"transpose_x1", "transpose_a", "adj_x1", "adj_x"});
    const std::string b = matrix(1, {"transpose_x2", "transpose_b", "adj_x2", "adj_y"});
    std::string product = value(isOfIntegers() ? "MatMulInteger" : "MatMul", {a, b});
    if (op.type == "GEMM") {
      // c, alpha and beta are inputs.
      if (!needs(5))
        return;
      const std::string scaled = value("Mul", {product, x[3]});
      product = value("Add", {scaled, value("Mul", {x[2], x[4]})});
    } else if (x.size() > 2 && !x[2].empty()) {
      product = value("Add", {product, x[2]});
    }
    setInt(node("Cast", {product}, y), "to", onnxType(op.outputs[0].type));
  }

  //===--- Images ---------------------------------------------------------===//

  /// Returns whether a layer reads int8 or uint8: its result are the accumulators, in int32.
  bool isOfIntegers() const { return op.inputs[0].type == 2 || op.inputs[0].type == 4; }

  bool isChannelLast() const { return op.inputs[0].format == kNHWC; }

  /// Returns the two numbers of height and width in a list of two, or of four in the order of
  /// the input's format.
  Ints plane(const Ints &list) const {
    if (list.size() == 4)
      return isChannelLast() ? Ints{list[1], list[2]} : Ints{list[2], list[3]};
    if (list.size() == 1)
      return {list[0], list[0]};
    return list.size() == 2 ? list : Ints{1, 1};
  }

  void buildConv() {
    const SingleOpTensor &filter = op.inputs[1];
    if (op.inputs[0].dims.size() != 4 || filter.dims.size() != 4)
      return fail("the input and the filter must have 4 dims");
    const bool isDepthwise = op.type == "DepthwiseConv2D";
    std::string weights = x[1];
    Ints dims = filter.dims;
    if (filter.format == kHWCN) {
      weights = transpose(weights, {3, 2, 0, 1});
      dims = {dims[3], dims[2], dims[0], dims[1]};
    } else if (filter.format == kNHWC) {
      weights = transpose(weights, {0, 3, 1, 2});
      dims = {dims[0], dims[3], dims[1], dims[2]};
    }
    int64_t groups = getInt("groups", 1);
    knows({"offset_x"});
    if (isDepthwise) {
      // [multiplier, channels, H, W] becomes a filter per output channel.
      groups = dims[1];
      weights = reshape(transpose(weights, {1, 0, 2, 3}), {dims[0] * dims[1], 1, dims[2], dims[3]});
    }
    const Ints pads = getInts("pads", {0, 0, 0, 0});
    if (pads.size() != 4)
      return fail("\"pads\" must be top, bottom, left and right");
    const bool hasBias = x.size() > 2 && !x[2].empty();
    Names inputs = {image(), weights};
    Ints padding = {pads[0], pads[2], pads[1], pads[3]};
    if (isOfIntegers() && getInt("offset_x", 0) != 0) {
      // Integers have an offset: what is around the image is the integer of 0.
      const std::string offset = addScalar(static_cast<double>(getInt("offset_x", 0)));
      const Ints around = {0, 0, padding[0], padding[1], 0, 0, padding[2], padding[3]};
      inputs[0] = value("Pad", {inputs[0], addInts(around), offset});
      padding = {0, 0, 0, 0};
    } else if (hasBias && !isOfIntegers()) {
      inputs.push_back(x[2]);
    }
    std::string result = fresh();
    onnx::NodeProto &conv = node(isOfIntegers() ? "ConvInteger" : "Conv", inputs, {result});
    setInts(conv, "kernel_shape", {dims[2], dims[3]});
    setInts(conv, "strides", plane(getInts("strides", {1, 1})));
    setInts(conv, "dilations", plane(getInts("dilations", {1, 1})));
    setInt(conv, "group", groups);
    setInts(conv, "pads", padding);
    if (isOfIntegers() && hasBias)
      result = value("Add", {result, reshape(x[2], {-1, 1, 1})});
    finishImage(result);
  }

  void buildPool() {
    if (op.inputs[0].dims.size() != 4)
      return fail("the input must have 4 dims");
    knows({"ksize", "strides", "pads", "padding", "padding_mode", "ceil_mode", "exclusive",
           "window", "stride", "pad"});
    const bool isPooling = op.type == "Pooling";
    const bool isMax =
        isPooling ? getInt("mode", 0) == 0 : StringRef(op.type).starts_with("MaxPool");
    if (getBool("global_pooling")) {
      return finishImage(value(isMax ? "GlobalMaxPool" : "GlobalAveragePool", {image()}));
    }
    const std::string result = fresh();
    onnx::NodeProto &pool = node(isMax ? "MaxPool" : "AveragePool", {image()}, {result});
    setInts(pool, "kernel_shape", plane(getInts(isPooling ? "window" : "ksize", {1, 1})));
    setInts(pool, "strides", plane(getInts(isPooling ? "stride" : "strides", {1, 1})));
    if (isPooling) {
      const Ints pads = getInts("pad", {0, 0, 0, 0});
      if (pads.size() != 4)
        return fail("\"pad\" must be top, bottom, left and right");
      setInts(pool, "pads", {pads[0], pads[2], pads[1], pads[3]});
      setInt(pool, "ceil_mode", getInt("ceil_mode", 0) == 0);
    } else {
      // The newer forms have paddings of their own unless they say another mode.
      const bool isNewer = op.type == "MaxPoolV3" || op.type == "AvgPoolV2";
      const char *otherwise = isNewer ? "CALCULATED" : "VALID";
      const std::string padding = getText("padding", getText("padding_mode", otherwise).c_str());
      if (padding == "CALCULATED") {
        const Ints pads = getInts("pads", {0, 0, 0, 0});
        if (pads.size() != 4)
          return fail("\"pads\" must be top, bottom, left and right");
        setInts(pool, "pads", {pads[0], pads[2], pads[1], pads[3]});
        setInt(pool, "ceil_mode", getBool("ceil_mode"));
        if (!isMax && find("exclusive") && !getBool("exclusive"))
          setInt(pool, "count_include_pad", 1);
      } else {
        setText(pool, "auto_pad", padding == "SAME" ? "SAME_UPPER" : "VALID");
      }
    }
    finishImage(result);
  }
};

} // namespace

std::optional<std::string> makeSingleOpModel(const SingleOp &op, Diagnostics &diagnostics) {
  const std::string known = namedAfter(op.type);
  if (known.empty())
    return SingleOpBuilder(op, diagnostics).run(op.type);
  diagnostics.warning("W11002", "the operator " + op.type +
                                    " of --singleop is none of this compiler: it computes what " +
                                    known + " does");
  SingleOp alike = op;
  alike.type = known;
  return SingleOpBuilder(alike, diagnostics).run(op.type);
}

} // namespace atc
