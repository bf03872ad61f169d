//===-- InlineFunctionsTest.cpp - outputs of inlined operators ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/InlineFunctions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <google/protobuf/text_format.h>

using namespace atc;
using namespace atc::tf_import;

TEST_CASE("outputs of operators are found by name in files that describe no operators") {
  struct Named {
    std::string op, output;
    int index;
  };
  const auto [op, output, index] = GENERATE(
      Named{"CombinedNonMaxSuppression", "valid_detections", 3},
      Named{"NonMaxSuppressionV4", "valid_outputs", 1}, Named{"ListDiff", "idx", 1},
      Named{"BlockLSTM", "h", 6}, Named{"GRUBlockCell", "h", 3}, Named{"TopKV2", "indices", 1},
      Named{"Neg", "y", 0}, Named{"SparseConcat", "output_values", 1},
      Named{"DecodeWav", "sample_rate", 1}, Named{"StatelessRandomGetKeyCounter", "counter", 1},
      // As many as the attributes of the node say.
      Named{"CTCBeamSearchDecoder", "log_probability", 9},
      Named{"ParseExampleV2", "ragged_values", 7});
  pb::GraphDef graph, result;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(
      R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "call" op: "PartitionedCall" input: "x"
      attr { key: "f" value { func { name: "f" } } } }
    library { function {
      signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
        output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "n" op: ")" +
          op + R"(" input: "a"
        attr { key: "top_paths" value { i: 3 } } attr { key: "num_sparse" value { i: 2 } }
        attr { key: "sparse_types" value { list { type: DT_FLOAT type: DT_INT64 } } }
        attr { key: "Tdense" value { list { type: DT_FLOAT } } } } ret { key: "r" value: "n:)" +
          output + R"(:0" } } })",
      &graph));
  std::vector<NamedTensor> inputs, outputs{{"out", "call", pb::DT_FLOAT, {}}};
  Diagnostics diagnostics;
  std::vector<VariableWrite> writes;
  REQUIRE(inlineFunctions(graph, {}, inputs, outputs, result, writes, diagnostics));
  const auto out = std::find_if(result.node().begin(), result.node().end(),
                                [](const pb::NodeDef &node) { return node.name() == "out"; });
  REQUIRE(out != result.node().end());
  const std::string &input = out->input(0);
  const size_t colon = input.find(':');
  CHECK((colon == input.npos ? 0 : std::stoi(input.substr(colon + 1))) == index);
}
