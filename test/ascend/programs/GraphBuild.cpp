//===-- GraphBuild.cpp - builds graphs, compiles, saves and runs them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: program FOLDER [MODEL.onnx]. Written as programs of the graph interface are: operators of
// the included headers, an operator of its own, changes of a graph, model files, and a session.

#include "test/ascend/programs/Program.h"

#include "ge/ge_api.h"
#include "ge/ge_ir_build.h"
#include "op_proto/all_ops.h"
#include "parser/caffe_parser.h"
#include "parser/onnx_parser.h"
#include "parser/tensorflow_parser.h"

#include <cmath>
#include <cstring>
#include <ctime>

// Operators of the program's own, with the formulas of those that the compiler has. One in the
// namespace that files of operators have, the other elsewhere.
namespace ge {
REG_OP(MulCustom)
    .INPUT(x1, ge::TensorType({DT_FLOAT16, DT_FLOAT}))
    .INPUT(x2, TensorType({DT_FLOAT16, DT_FLOAT}))
    .OUTPUT(y, TensorType({DT_FLOAT16, DT_FLOAT}))
    .OP_END_FACTORY_REG(MulCustom)
} // namespace ge

namespace own {
REG_OP(NegCustom)
    .INPUT(x, TensorType({DT_FLOAT16, DT_FLOAT}))
    .OUTPUT(y, TensorType({DT_FLOAT16, DT_FLOAT}))
    .ATTR(kind, Int, DT_FLOAT)
    .OP_END_FACTORY_REG(NegCustom)
} // namespace own

namespace {

using namespace ge;
using Options = std::map<AscendString, AscendString>;

#define EXPECT_OK(call)                                                                            \
  do {                                                                                             \
    if ((call) != 0) {                                                                             \
      fprintf(stderr, "%s:%d: %s fails: %s\n", __FILE__, __LINE__, #call,                          \
              GEGetErrorMsgV2().GetString());                                                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

Tensor tensorOf(const std::vector<int64_t> &dims, const std::vector<float> &values,
                Format format = FORMAT_ND) {
  return Tensor(TensorDesc(Shape(dims), format, DT_FLOAT),
                reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float));
}

std::vector<float> valuesOf(const Tensor &tensor) {
  std::vector<float> values(tensor.GetSize() / sizeof(float));
  memcpy(values.data(), tensor.GetData(), tensor.GetSize());
  return values;
}

bool near(const std::vector<float> &a, const std::vector<float> &b) {
  bool isNear = a.size() == b.size();
  for (size_t i = 0; isNear && i < a.size(); ++i)
    isNear = std::fabs(a[i] - b[i]) <= 2e-3f * (1 + std::fabs(b[i]));
  return isNear;
}

/// x [1, 2, 2, 2] -> Conv2D (1 x 1: the channels' sum and difference) -> BiasAdd -> Relu6 ->
/// Reshape
/// -> MatMul by a matrix of ones -> y; and x + x.
Graph makeNetwork() {
  auto data = op::Data("data");
  TensorDesc image(Shape({1, 2, 2, 2}), FORMAT_NCHW, DT_FLOAT);
  data.update_input_desc_x(image);
  data.update_output_desc_y(image);
  auto filter =
      op::Const("filter").set_attr_value(tensorOf({2, 2, 1, 1}, {1, 1, 1, -1}, FORMAT_NCHW));
  auto conv = op::Conv2D("conv")
                  .set_input_x(data)
                  .set_input_filter(filter)
                  .set_attr_strides({1, 1, 1, 1})
                  .set_attr_pads({0, 0, 0, 0});
  auto bias = op::Const("bias").set_attr_value(tensorOf({2}, {0.5f, 1}));
  auto biased =
      op::BiasAdd("biased").set_input_x(conv, "y").set_input_bias(bias).set_attr_data_format(
          "NCHW");
  auto relu = op::Relu6("relu6").set_input_x(biased);
  const int32_t shape[] = {1, -1};
  Tensor shapeTensor(TensorDesc(Shape({2}), FORMAT_ND, DT_INT32),
                     reinterpret_cast<const uint8_t *>(shape), sizeof(shape));
  auto reshape = op::Reshape("reshape").set_input_x(relu).set_input_shape(
      op::Const("shape").set_attr_value(shapeTensor));
  auto ones = op::Const("ones").set_attr_value(tensorOf({8, 1}, std::vector<float>(8, 1)));
  auto product = op::MatMul("product").set_input_x1(reshape).set_input_x2(ones);
  auto twice = op::Add("twice").set_input_x1(data).set_input_x2(data);
  Graph graph("network");
  graph.SetInputs({data}).SetOutputs(
      std::vector<std::pair<Operator, std::string>>{{product, "y"}, {twice, ""}});
  return graph;
}

const std::vector<float> input = {1, 2, 3, -4, 0.5f, -1, 2, 1};

float expectedProduct() {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += std::fmin(std::fmax(input[i] + input[i + 4] + 0.5f, 0.f), 6.f);
    sum += std::fmin(std::fmax(input[i] - input[i + 4] + 1, 0.f), 6.f);
  }
  return sum;
}

std::vector<float> twice(const std::vector<float> &values) {
  std::vector<float> result;
  for (float value : values)
    result.push_back(2 * value);
  return result;
}

void buildAndSave(const std::string &folder) {
  Options global = {{ir_option::SOC_VERSION, "Ascend310P3"}};
  EXPECT_OK(aclgrphBuildInitialize(global));
  ModelBufferData model;
  EXPECT_OK(aclgrphBuildModel(makeNetwork(), Options{{ir_option::LOG_LEVEL, "error"}}, model));
  EXPECT(model.data && model.length > 0);
  EXPECT_OK(aclgrphSaveModel((folder + "/made/network").c_str(), model));
  uint32_t id = 0;
  CHECK_ACL(aclmdlLoadFromFile((folder + "/made/network.om").c_str(), &id));
  CHECK_ACL(aclmdlUnload(id));
  std::vector<GraphWithOptions> graphs(2);
  graphs[0].graph = makeNetwork();
  graphs[1].graph = makeNetwork();
  graphs[1].build_options = Options{{ir_option::LOG_LEVEL, "error"}};
  ModelBufferData bundle;
  EXPECT_OK(aclgrphBundleBuildModel(graphs, bundle));
  EXPECT_OK(aclgrphBundleSaveModel((folder + "/made/bundle").c_str(), bundle));
  size_t count = 0;
  CHECK_ACL(aclmdlBundleLoadFromFile((folder + "/made/bundle.om").c_str(), &id));
  CHECK_ACL(aclmdlBundleGetModelNum(id, &count));
  EXPECT(count == 2);
  CHECK_ACL(aclmdlBundleUnload(id));
  EXPECT(aclgrphBundleBuildModel({}, bundle) == GRAPH_PARAM_INVALID);
  // What is refused has its reason.
  EXPECT(aclgrphBuildModel(makeNetwork(), Options{{"ge.colour", "red"}}, model) ==
         GRAPH_PARAM_INVALID);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "ge.colour"));
  const std::string endless(3 << 20, 'x');
  EXPECT(aclgrphBuildModel(makeNetwork(), Options{{ir_option::LOG_LEVEL, endless.c_str()}},
                           model) == GRAPH_FAILED);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "an option is longer than a program can be given"));
  auto data = op::Data("data");
  data.update_output_desc_y(TensorDesc(Shape({4}), FORMAT_ND, DT_FLOAT));
  Operator strange("strange", "Frobnicate");
  strange.SetInput("x", data);
  Graph bad("bad");
  bad.SetInputs({data}).SetOutputs(std::vector<Operator>{strange});
  EXPECT(aclgrphBuildModel(bad, Options(), model) == GRAPH_FAILED);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "Frobnicate"));
  Graph open("open");
  open.SetInputs({data});
  EXPECT(aclgrphBuildModel(open, Options(), model) == GRAPH_FAILED);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "SetOutputs"));
  auto wrong = op::Relu("wrong").set_input_x(data, "z");
  Graph named("named");
  named.SetInputs({data}).SetOutputs(std::vector<Operator>{wrong});
  EXPECT(aclgrphBuildModel(named, Options(), model) == GRAPH_FAILED);
  int32_t major = 0, minor = 1, patch = 1;
  EXPECT_OK(aclgrphGetIRVersion(&major, &minor, &patch));
  EXPECT(major == 1 && minor == 0 && patch == 0);
  aclgrphBuildFinalize();
  EXPECT(aclgrphBuildModel(makeNetwork(), Options(), model) == GRAPH_PARAM_INVALID);
}

/// Everything that takes or returns a std::string, of whichever kind the program has.
void useStrings(const std::string &folder) {
  using Strings = std::map<std::string, std::string>;
  const AscendString part("ab\0c", 4), whole("xab\0cd", 6);
  EXPECT(part.GetLength() == 4 && whole.Find(part) == 1 && part < whole && !(whole < part));
  EXPECT(AscendString() == "" && AscendString("") == AscendString() && AscendString("a") != "b");
  EXPECT(std::hash<AscendString>()(part) == std::hash<AscendString>()(AscendString("ab\0c", 4)));

  TensorDesc vector(Shape({4}), FORMAT_ND, DT_FLOAT);
  vector.SetName(std::string("four"));
  EXPECT(vector.GetName() == "four");
  auto data = op::Data(std::string("data"));
  EXPECT(data.UpdateOutputDesc(std::string("y"), vector) == GRAPH_SUCCESS);
  Operator negated(std::string("negated"), std::string("Neg"));
  negated.SetInput(std::string("x"), data, std::string("y"));
  EXPECT(negated.GetName() == "negated" && negated.GetOpType() == "Neg");
  EXPECT(negated.GetInputDesc(std::string("x")).GetShape().GetDims() == std::vector<int64_t>({4}));
  Operator made = OperatorFactory::CreateOperator(std::string("made"), std::string("Relu"));
  EXPECT(OperatorFactory::IsExistOp(std::string("Relu")));
  made.SetInput(std::string("x"), negated, 0);
  EXPECT(Operator(std::string("Neg")).GetOpType() == "Neg");

  made.SetAttr(std::string("label"), std::string("some text"));
  made.SetAttr("labels", std::vector<std::string>{"one", "", "three"});
  made.SetAttr("whole", AttrValue(std::string("text")));
  std::string text;
  AscendString ascend;
  std::vector<std::string> texts;
  std::vector<AscendString> ascends;
  EXPECT_OK(made.GetAttr(std::string("label"), text));
  EXPECT_OK(made.GetAttr("label", ascend));
  EXPECT(text == "some text" && ascend == "some text");
  EXPECT_OK(made.GetAttr("labels", texts));
  EXPECT_OK(made.GetAttr("labels", ascends));
  EXPECT(texts == std::vector<std::string>({"one", "", "three"}));
  EXPECT(ascends.size() == 3 && ascends[2] == "three");
  EXPECT_OK(made.GetAttr("whole", text));
  EXPECT(text == "text" && made.GetAttr("labels", text) != GRAPH_SUCCESS);

  Tensor bytes;
  EXPECT_OK(bytes.SetData(std::string("\1\0\2", 3)));
  EXPECT(bytes.GetSize() == 3 && bytes.GetData()[2] == 2);

  Graph graph(std::string("strings"));
  EXPECT(graph.GetName() == "strings");
  Operator relu("relu", "Relu"), found;
  relu.SetInput("x", negated);
  graph.SetInputs({data}).SetOutputs(
      std::vector<std::pair<Operator, std::string>>{{relu, std::string()}});
  EXPECT_OK(graph.FindOpByName(std::string("negated"), found));
  EXPECT(graph.FindOpByName(std::string("nobody"), found) != GRAPH_SUCCESS);
  EXPECT_OK(graph.SaveToFile(folder + "/strings.air"));
  Graph loaded;
  EXPECT_OK(loaded.LoadFromFile(folder + "/strings.air"));

  EXPECT_OK(aclgrphBuildInitialize(Strings{{ir_option::SOC_VERSION, "Ascend310P3"}}));
  ModelBufferData model;
  EXPECT_OK(aclgrphBuildModel(loaded, Strings{{ir_option::LOG_LEVEL, "error"}}, model));
  EXPECT_OK(aclgrphSaveModel(folder + "/strings", model));
  EXPECT(aclgrphBuildModel(graph, Strings{{"ge.colour", "red"}}, model) == GRAPH_PARAM_INVALID);
  EXPECT(GEGetErrorMsg().find("ge.colour") != std::string::npos && GEGetWarningMsg().empty());
  aclgrphBuildFinalize();

  EXPECT_OK(GEInitialize(Strings{{"ge.exec.deviceId", "0"}}));
  {
    Session session(Strings{{"ge.socVersion", "Ascend310P3"}});
    EXPECT_OK(session.AddGraph(3, graph, Strings{{"ge.exec.precision_mode", "force_fp16"}}));
    std::vector<Tensor> outputs;
    EXPECT_OK(session.RunGraph(3, {tensorOf({4}, {1, -2, 3, -4})}, outputs));
    EXPECT(outputs.size() == 1 && near(valuesOf(outputs[0]), {0, 2, 0, 4}));
  }
  EXPECT_OK(GEFinalize());
}

void runSession(const std::string &folder) {
  Session session(Options{{"ge.exec.precision_mode", "force_fp16"}});
  EXPECT_OK(session.AddGraph(1, makeNetwork()));
  EXPECT(session.AddGraph(1, makeNetwork()) != 0);
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(1, {tensorOf({1, 2, 2, 2}, input)}, outputs));
  EXPECT(outputs.size() == 2 && near(valuesOf(outputs[0]), {expectedProduct()}));
  EXPECT(near(valuesOf(outputs[1]), twice(input)));
  EXPECT(outputs[1].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>({1, 2, 2, 2}));
  EXPECT(session.RunGraph(1, {}, outputs) != 0);
  EXPECT(session.RunGraph(7, {}, outputs) != 0);
  // The same graph by way of a file.
  EXPECT_OK(makeNetwork().SaveToFile(folder + "/network.air"));
  Graph loaded("loaded");
  EXPECT(loaded.LoadFromFile(folder + "/none.air") != 0);
  EXPECT_OK(loaded.LoadFromFile(folder + "/network.air"));
  EXPECT_OK(session.AddGraph(2, loaded));
  EXPECT_OK(session.RunGraph(2, {tensorOf({1, 2, 2, 2}, input)}, outputs));
  EXPECT(near(valuesOf(outputs[0]), {expectedProduct()}));
  EXPECT_OK(session.RemoveGraph(2));
  EXPECT_OK(session.BuildGraph(1, {tensorOf({1, 2, 2, 2}, input)}));
  EXPECT(session.BuildGraph(1, {outputs[0], outputs[0]}) != 0);
  EXPECT(session.BuildGraph(7, {}) != 0);
  // A copy does not see what changes the graph, whose copies are one.
  Graph changed = makeNetwork();
  EXPECT_OK(session.AddGraphWithCopy(3, changed));
  EXPECT(session.AddGraphWithCopy(3, changed) != 0);
  for (GNode &node : changed.GetAllNodes()) {
    AscendString type;
    EXPECT_OK(node.GetType(type));
    if (type == "Add")
      EXPECT_OK(changed.RemoveNode(node));
  }
  int calls = 0;
  const auto look = [&](Status status, std::vector<Tensor> &results) {
    ++calls;
    EXPECT(status == SUCCESS && results.size() == 2 && near(valuesOf(results[1]), twice(input)));
  };
  EXPECT_OK(session.RunGraphAsync(3, {tensorOf({1, 2, 2, 2}, input)}, look));
  EXPECT(calls == 1);
  const auto failed = [&](Status status, std::vector<Tensor> &) { calls += status != SUCCESS; };
  EXPECT_OK(session.RunGraphAsync(3, {}, failed));
  EXPECT(calls == 2);
  EXPECT(session.RunGraphAsync(9, {}, failed) != 0 && session.RunGraphAsync(3, {}, nullptr) != 0);
  EXPECT(session.GetSessionId() != Session((Options())).GetSessionId());
}

/// Puts an Abs between the input and one reader, through nodes.
void changeGraph() {
  Graph graph = makeNetwork();
  GNode data, add;
  for (GNode &node : graph.GetAllNodes()) {
    AscendString name;
    EXPECT_OK(node.GetName(name));
    if (name == "data")
      data = node;
    if (name == "twice")
      add = node;
  }
  EXPECT(add.GetInputsSize() == 2 && add.GetInDataNodesAndPortIndexs(1).second == 0);
  EXPECT(graph.RemoveEdge(data, 0, add, 5) != 0);
  EXPECT_OK(graph.RemoveEdge(data, 0, add, 1));
  EXPECT(graph.RemoveEdge(data, 0, add, 1) != 0);
  GNode abs = graph.AddNodeByOp(op::Abs("abs"));
  EXPECT_OK(graph.AddDataEdge(data, 0, abs, 0));
  EXPECT_OK(graph.AddDataEdge(abs, 0, add, 1));
  EXPECT(graph.AddDataEdge(abs, 0, add, 1) != 0);
  Session session((Options()));
  EXPECT_OK(session.AddGraph(1, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(1, {tensorOf({1, 2, 2, 2}, input)}, outputs));
  std::vector<float> expected;
  for (float value : input)
    expected.push_back(value + std::fabs(value));
  EXPECT(near(valuesOf(outputs[1]), expected));
}

/// Dims and types of all operators, of which only the inputs had any; the graph stays as it is.
void inferShapes() {
  Graph graph = makeNetwork();
  EXPECT_OK(aclgrphInferShapeAndType(graph));
  std::map<std::string, std::vector<int64_t>> dims;
  for (GNode &node : graph.GetAllNodes()) {
    AscendString name;
    TensorDesc desc;
    EXPECT_OK(node.GetName(name));
    EXPECT_OK(node.GetOutputDesc(0, desc));
    EXPECT(desc.GetDataType() == (name == "shape" ? DT_INT32 : DT_FLOAT));
    dims[name.GetString()] = desc.GetShape().GetDims();
    if (name == "product") {
      EXPECT_OK(node.GetInputDesc(0, desc));
      EXPECT(desc.GetShape().GetDims() == std::vector<int64_t>({1, 8}));
    }
  }
  EXPECT(dims["conv"] == std::vector<int64_t>({1, 2, 2, 2}));
  EXPECT(dims["relu6"] == dims["conv"] && dims["twice"] == dims["conv"]);
  EXPECT(dims["reshape"] == std::vector<int64_t>({1, 8}));
  EXPECT(dims["product"] == std::vector<int64_t>({1, 1}));
  Session session((Options()));
  EXPECT_OK(session.AddGraph(1, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(1, {tensorOf({1, 2, 2, 2}, input)}, outputs));
  EXPECT(outputs.size() == 2 && near(valuesOf(outputs[0]), {expectedProduct()}));
  for (const TensorDesc &stated : {TensorDesc(Shape({4, 1}), FORMAT_ND, DT_INT32),
                                   TensorDesc(Shape({2, 3}), FORMAT_ND, DT_FLOAT16)}) {
    auto data = op::Data("data");
    data.update_output_desc_y(stated);
    auto abs = op::Abs("abs").set_input_x(data);
    Graph open("open");
    open.SetInputs({data}).SetOutputs(std::vector<Operator>{abs});
    EXPECT_OK(aclgrphInferShapeAndType(open));
    TensorDesc desc;
    for (GNode &node : open.GetAllNodes()) {
      EXPECT_OK(node.GetOutputDesc(0, desc));
      EXPECT(desc.GetShape().GetDims() == stated.GetShape().GetDims());
      EXPECT(desc.GetDataType() == stated.GetDataType());
    }
  }
  auto data = op::Data("data");
  data.update_output_desc_y(TensorDesc(Shape({4}), FORMAT_ND, DT_FLOAT));
  Operator strange("strange", "Frobnicate");
  strange.SetInput("x", data);
  Graph bad("bad");
  bad.SetInputs({data}).SetOutputs(std::vector<Operator>{strange});
  EXPECT(aclgrphInferShapeAndType(bad) == GRAPH_FAILED);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "Frobnicate"));
}

/// Dynamic inputs and outputs, an operator of the program, and operators by type.
void variousOperators() {
  auto a = op::Data("a").set_attr_index(0);
  auto b = op::Data("b").set_attr_index(1);
  const TensorDesc pair(Shape({1, 2}), FORMAT_ND, DT_FLOAT);
  a.update_output_desc_y(pair);
  b.update_output_desc_y(pair);
  const int32_t one = 1;
  auto axis = op::Const("axis").set_attr_value(
      Tensor(TensorDesc(Shape(std::vector<int64_t>()), FORMAT_ND, DT_INT32),
             reinterpret_cast<const uint8_t *>(&one), sizeof(one)));
  auto joined = op::ConcatV2("joined").create_dynamic_input_x(2);
  joined.set_dynamic_input_x(0, a).set_dynamic_input_x(1, b).set_input_concat_dim(axis);
  joined.set_attr_N(2);
  auto parts = op::SplitD("parts").create_dynamic_output_y(2);
  parts.set_input_x(joined).set_attr_split_dim(1).set_attr_num_split(2);
  auto product = op::MulCustom("product").set_input_x1(parts, "y0").set_input_x2(parts, "y1");
  Operator padded = OperatorFactory::CreateOperator("padded", "PadD");
  EXPECT(!padded.IsEmpty() && OperatorFactory::IsExistOp("MulCustom"));
  const auto negative =
      own::op::NegCustom("negative").set_input_x(product).set_attr_kind(DT_FLOAT16);
  EXPECT(negative.get_attr_kind() == DT_FLOAT16 && OperatorFactory::IsExistOp("NegCustom"));
  EXPECT(OperatorFactory::CreateOperator("x", "Frobnicate").IsEmpty());
  padded.SetInput("x", product)
      .SetAttr("paddings", std::vector<std::vector<int64_t>>{{0, 0}, {1, 0}});
  std::vector<std::vector<int64_t>> read;
  EXPECT_OK(padded.GetAttr("paddings", read));
  int64_t wrong = 0;
  EXPECT(read[1][0] == 1 && padded.GetAttr("paddings", wrong) != 0);
  Graph graph("various");
  graph.SetInputs({a, b}).SetOutputs(std::vector<Operator>{padded});
  Session session((Options()));
  EXPECT_OK(session.AddGraph(0, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(0, {tensorOf({1, 2}, {2, 3}), tensorOf({1, 2}, {-1, 4})}, outputs));
  EXPECT(near(valuesOf(outputs[0]), {0, -2, 12}));
  Graph single("single");
  EXPECT_OK(aclgrphGenerateForOp("Maximum", {pair, pair}, {pair}, single));
  EXPECT_OK(session.AddGraph(1, single));
  EXPECT_OK(session.RunGraph(1, {tensorOf({1, 2}, {2, 3}), tensorOf({1, 2}, {-1, 4})}, outputs));
  EXPECT(near(valuesOf(outputs[0]), {2, 4}));
}

/// A graph with dims of any size is compiled for the shapes of each run.
void runOpenGraph() {
  const TensorDesc rows(Shape({-1, 2}), FORMAT_ND, DT_FLOAT);
  auto a = op::Data("a").set_attr_index(0), b = op::Data("b").set_attr_index(1);
  a.update_input_desc_x(rows);
  a.update_output_desc_y(rows);
  b.update_input_desc_x(rows);
  b.update_output_desc_y(rows);
  auto sum = op::Add("sum").set_input_x1(a).set_input_x2(b);
  Graph graph("open");
  graph.SetInputs({a, b}).SetOutputs(std::vector<Operator>{sum});
  Session session((Options()));
  EXPECT_OK(session.AddGraphWithCopy(0, graph));
  EXPECT_OK(session.CompileGraph(0));
  EXPECT_OK(session.BuildGraph(0, {tensorOf({1, 2}, {0, 0}), tensorOf({1, 2}, {0, 0})}));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(0, {tensorOf({1, 2}, {1, 2}), tensorOf({1, 2}, {3, 4})}, outputs));
  EXPECT(near(valuesOf(outputs[0]), {4, 6}));
  EXPECT_OK(session.RunGraph(0, {tensorOf({2, 2}, {1, 2, 3, 4}), tensorOf({2, 2}, {3, 4, 5, 6})},
                             outputs));
  EXPECT(near(valuesOf(outputs[0]), {4, 6, 8, 10}));
  EXPECT(outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>({2, 2}));
  EXPECT(session.RunGraph(0, {tensorOf({1, 2}, {1, 2})}, outputs) != 0);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "2 inputs, not 1"));
  EXPECT(session.RunGraph(0, {}, outputs) != 0);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "2 inputs, not 0"));
  // -1 is of any size, the other dims and their number are not; these inputs fit each other.
  for (const auto &dims : {std::vector<int64_t>{1, 3}, std::vector<int64_t>{1, 1, 3}}) {
    const Tensor other = tensorOf(dims, {1, 2, 3});
    EXPECT(session.RunGraph(0, {other, other}, outputs) == PARAM_INVALID);
    EXPECT(strstr(GEGetErrorMsgV2().GetString(), "'a' has the dims"));
  }
  // More shapes than models are kept, and the first of them again.
  for (int64_t i = 0; i < 18; ++i) {
    const int64_t rows = i % 17 + 1;
    const Tensor ones = tensorOf({rows, 2}, std::vector<float>(2 * rows, 1));
    EXPECT_OK(session.RunGraph(0, {ones, ones}, outputs));
    EXPECT(near(valuesOf(outputs[0]), std::vector<float>(2 * rows, 2)));
  }
  EXPECT_OK(session.RemoveGraph(0));
}

/// Models have their inputs in the order of "index", whatever that of SetInputs is.
void runOpenGraphByIndex() {
  const TensorDesc any(Shape({-1, -1}), FORMAT_ND, DT_FLOAT);
  auto a = op::Data("a").set_attr_index(0), b = op::Data("b").set_attr_index(1);
  a.update_output_desc_y(any);
  b.update_output_desc_y(any);
  auto product = op::MatMul("product").set_input_x1(a).set_input_x2(b);
  Graph graph("by_index");
  graph.SetInputs({b, a}).SetOutputs(std::vector<Operator>{product});
  Session session((Options()));
  EXPECT_OK(session.AddGraph(0, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(0, {tensorOf({1, 2}, {2, 3}), tensorOf({2, 1}, {5, 7})}, outputs));
  EXPECT(outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>({1, 1}));
  EXPECT(near(valuesOf(outputs[0]), {31}));
}

/// Operators with attributes at their defaults, which graphs of operators always state.
void runDefaults() {
  auto x = op::Data("x");
  x.update_output_desc_y(TensorDesc(Shape({1, 2}), FORMAT_ND, DT_FLOAT));
  Graph graph("defaults");
  auto norm = op::LpNorm("norm").set_input_x(x).set_attr_axes({1});
  graph.SetInputs({x}).SetOutputs(std::vector<Operator>{norm});
  Session session((Options()));
  EXPECT_OK(session.AddGraph(0, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(0, {tensorOf({1, 2}, {3, -4})}, outputs));
  EXPECT(near(valuesOf(outputs[0]), {5}));
}

/// Builds graphs that are wrong or very large.
void hostileGraphs() {
  // Another operator of the same name, which is not in the graph, is not read instead.
  auto data = op::Data("data");
  data.update_output_desc_y(TensorDesc(Shape({4}), FORMAT_ND, DT_FLOAT));
  auto inside = op::Relu("same").set_input_x(data);
  auto outside = op::Abs("same").set_input_x(data);
  auto reader = op::Exp("reader").set_input_x(outside);
  Graph mixed("mixed");
  for (const Operator &op : std::vector<Operator>{data, inside, reader})
    EXPECT_OK(mixed.AddOp(op));
  mixed.SetOutputs(std::vector<Operator>{reader});
  EXPECT(mixed.SaveToFile("unwritten.air") != 0);
  // Outputs are counted in 32 bits.
  Graph beyond("beyond");
  beyond.SetOutputs(
      std::vector<std::pair<Operator, std::vector<size_t>>>{{inside, {size_t(1) << 32}}});
  EXPECT(beyond.SaveToFile("unwritten.air") != 0);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "'same'"));
  // Sizes whose product is beyond all numbers are those of no data.
  for (int64_t dim : {int64_t(1) << 62, int64_t(1) << 61})
    EXPECT(Tensor(TensorDesc(Shape({dim}), FORMAT_ND, DT_INT64)).IsValid() != 0);
  EXPECT(tensorOf({2, 2}, {1, 2, 3, 4}).IsValid() == 0);
  // Time in proportion to the outputs: their square would be minutes.
  auto read = op::Data("read");
  std::vector<Operator> outputs;
  for (int i = 0; i < 20000; ++i)
    outputs.push_back(op::Relu(("r" + std::to_string(i)).c_str()).set_input_x(read));
  const clock_t begin = clock();
  Graph wide("wide");
  wide.SetInputs({read}).SetOutputs(outputs);
  EXPECT(clock() - begin < 5 * CLOCKS_PER_SEC && wide.GetAllNodes().size() == 20001);
}

/// A model of an input "x" and the output -x.
void parseModel(const std::string &model) {
  std::ifstream file(model, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Graph fromFile, fromMemory, none;
  EXPECT_OK(aclgrphParseONNX(model.c_str(), {}, fromFile));
  EXPECT_OK(aclgrphParseONNXFromMem(bytes.data(), bytes.size(), {}, fromMemory));
  EXPECT(aclgrphParseONNX("none.onnx", {}, none) != 0);
  EXPECT(aclgrphParseTensorFlow("none.pb", none) != 0);
  EXPECT(aclgrphParseCaffe("none.prototxt", "none.caffemodel", none) != 0);
  EXPECT(!none.IsValid());
  Session session((Options()));
  uint32_t id = 0;
  for (const Graph &graph : {fromFile, fromMemory}) {
    EXPECT_OK(session.AddGraph(++id, graph, Options{{ir_option::INPUT_SHAPE, "x:1,3"}}));
    std::vector<Tensor> outputs;
    EXPECT_OK(session.RunGraph(id, {tensorOf({1, 3}, {1, -2, 3})}, outputs));
    EXPECT(near(valuesOf(outputs[0]), {-1, 2, -3}));
  }
}

/// Each operator keeps the one that it reads alive: releasing the last must not need a stack.
void releaseLongChain() {
  Operator last = op::Data("x");
  for (int i = 0; i < 300000; ++i) {
    auto next = op::Relu(("relu" + std::to_string(i)).c_str());
    next.set_input_x(last, "y");
    last = next;
  }
  Graph graph("chain");
  graph.SetOutputs(std::vector<Operator>{last});
  EXPECT(graph.IsValid());
}

} // namespace

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  EXPECT(GEInitialize(Options{{"ge.exec.deviceId", "first"}}) == PARAM_INVALID);
  useStrings(argv[1]);
  EXPECT_OK(GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "0"}}));
  buildAndSave(argv[1]);
  runSession(argv[1]);
  changeGraph();
  inferShapes();
  variousOperators();
  parseModel(argv[2]);
  releaseLongChain();
  runOpenGraph();
  runOpenGraphByIndex();
  runDefaults();
  hostileGraphs();
  // The end ends what the first of several calls has begun.
  EXPECT_OK(GEInitialize(Options()));
  EXPECT_OK(GEFinalize());
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclFinalize());
  printf("graphs: ok\n");
  return 0;
}
