//===-- LookupTablesTest.cpp - lookup tables become constants -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/LookupTables.h"

#include <catch2/catch.hpp>

#include "frontends/tf/SavedModel.h"
#include "google/protobuf/text_format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace atc;
using namespace atc::tf_import;

namespace {

void write(const std::string &path, const std::string &bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  REQUIRE(!error);
  os << bytes;
}

const pb::NodeDef *find(const pb::GraphDef &graph, const std::string &name) {
  for (const pb::NodeDef &node : graph.node())
    if (node.name() == name)
      return &node;
  return nullptr;
}

/// A model that looks its input up in table "table"; `filled` holds the nodes that fill it.
std::string tableModel(const std::string &filled) {
  return R"(
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT64 } } }
    node { name: "table" op: "HashTableV2" attr { key: "key_dtype" value { type: DT_INT64 } }
      attr { key: "value_dtype" value { type: DT_INT64 } } }
    node { name: "keys" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
      tensor_shape { dim { size: 2 } } int64_val: 7 int64_val: 8 } } } }
    node { name: "values" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
      tensor_shape { dim { size: 2 } } int64_val: 70 int64_val: 80 } } } }
    node { name: "default" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
      tensor_shape { } int64_val: -1 } } } }
    node { name: "size" op: "LookupTableSizeV2" input: "table" }
    node { name: "y" op: "LookupTableFindV2" input: "table" input: "x" input: "default" }
    )" + filled +
         R"(
    library {
      function {
        signature { name: "fill" input_arg { name: "t" type: DT_RESOURCE }
          input_arg { name: "k" type: DT_INT64 } input_arg { name: "v" type: DT_INT64 } }
        node_def { name: "same" op: "Identity" input: "k" }
        node_def { name: "import" op: "LookupTableImportV2" input: "t" input: "same:output:0"
          input: "v" } }
      function {
        signature { name: "outer" input_arg { name: "t" type: DT_RESOURCE }
          input_arg { name: "v" type: DT_INT64 } input_arg { name: "k" type: DT_INT64 } }
        node_def { name: "call" op: "StatefulPartitionedCall" input: "t" input: "k" input: "v"
          attr { key: "f" value { func { name: "fill" } } } } } }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "in" value { name: "x:0" dtype: DT_INT64 tensor_shape { dim { size: 2 } } } }
    outputs { key: "found" value { name: "y:0" dtype: DT_INT64 } }
    outputs { key: "count" value { name: "size:0" dtype: DT_INT64 } } } }
})";
}

std::optional<FrozenModel> freezeTableModel(const std::string &filled, Diagnostics &diagnostics) {
  pb::SavedModel model;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(tableModel(filled), &model));
  return freezeModel(model, "model/saved_model.pb", nullptr, diagnostics);
}

const std::string filledByCalls =
    R"(node { name: "init" op: "StatefulPartitionedCall" input: "table" input: "values" input: "keys"
         attr { key: "f" value { func { name: "outer" } } } })";

} // namespace

TEST_CASE("a table becomes constants that functions fill it with") {
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = freezeTableModel(filledByCalls, diagnostics);
  REQUIRE(model);
  CHECK(!diagnostics.hasErrors());
  const pb::NodeDef *keys = find(model->graph, "table"), *lookup = find(model->graph, "y"),
                    *size = find(model->graph, "size");
  REQUIRE(keys);
  CHECK(keys->op() == "Const");
  CHECK(keys->attr().at("value").tensor().int64_val(1) == 8);
  REQUIRE(lookup);
  REQUIRE(lookup->input_size() == 4);
  CHECK(lookup->input(0) == "table");
  CHECK(lookup->input(2) == "in");
  CHECK(lookup->input(3) == "default");
  const pb::NodeDef *values = find(model->graph, lookup->input(1));
  REQUIRE(values);
  CHECK(values->attr().at("value").tensor().int64_val(0) == 70);
  REQUIRE(size);
  CHECK(size->op() == "Const");
  CHECK(size->attr().at("value").tensor().int64_val(0) == 2);
}

TEST_CASE("a table that nothing fills is left to the importer") {
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = freezeTableModel("", diagnostics);
  REQUIRE(model);
  REQUIRE(find(model->graph, "table"));
  CHECK(find(model->graph, "table")->op() == "HashTableV2");
}

TEST_CASE("a table of a frozen graph is filled by its nodes, or from a file beside it") {
  auto freeze = [](const std::string &filled, const std::string &folder, Diagnostics &diagnostics) {
    pb::SavedModel model;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(tableModel(filled), &model));
    pb::GraphDef graph = model.meta_graphs(0).graph_def();
    graph.clear_library();
    RunNodes run(graph);
    run.addFrozen({});
    if (bindTables(graph, {folder}, run, diagnostics))
      freezeTables(graph);
    return graph;
  };
  Diagnostics diagnostics;
  const pb::GraphDef constants = freeze(R"(node { name: "init" op: "LookupTableImportV2"
      input: "table" input: "keys" input: "values" })",
                                        ".", diagnostics);
  CHECK(find(constants, "table")->op() == "Const");
  CHECK(find(constants, "y")->input_size() == 4);
  // It has nothing left to do, and is no output.
  CHECK(find(constants, "init")->op() == "NoOp");

  llvm::SmallString<128> folder;
  REQUIRE(!llvm::sys::fs::createUniqueDirectory("vocabulary", folder));
  write((folder + "/words.txt").str(), "5\n9\n");
  const std::string fromFile = R"(
    node { name: "name" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
      tensor_shape { } string_val: "/where/it/was/made/words.txt" } } } }
    node { name: "init" op: "InitializeTableFromTextFileV2" input: "table" input: "name"
      attr { key: "key_index" value { i: 0 } } attr { key: "value_index" value { i: -1 } }
      attr { key: "offset" value { i: 3 } } })";
  const pb::GraphDef words = freeze(fromFile, folder.str().str(), diagnostics);
  CHECK(!diagnostics.hasErrors());
  const pb::TensorProto &read = find(words, "table")->attr().at("value").tensor();
  REQUIRE(read.int64_val_size() == 2);
  CHECK(read.int64_val(1) == 9);
  // An offset is added to numbers of lines, and to nothing else.
  const pb::NodeDef *numbers = find(words, find(words, "y")->input(1));
  REQUIRE(numbers);
  CHECK(numbers->attr().at("value").tensor().int64_val(0) == 3);
  CHECK(numbers->attr().at("value").tensor().int64_val(1) == 4);
  (void)llvm::sys::fs::remove_directories(folder);
  // A file that is missing matters only where an output needs the table.
  const pb::GraphDef missing = freeze(fromFile, folder.str().str(), diagnostics);
  CHECK(!diagnostics.hasErrors());
  CHECK_THAT(find(missing, "table")->attr().at(tableErrorAttribute).s(),
             Catch::Contains("words.txt', which cannot be used") &&
                 Catch::Contains("put the file beside the model"));
  CHECK(find(missing, "init")->op() == "NoOp");
}

TEST_CASE("tables that cannot become constants are named") {
  auto errorOf = [](const std::string &filled) {
    Diagnostics diagnostics;
    std::optional<FrozenModel> model = freezeTableModel(filled, diagnostics);
    REQUIRE(model);
    const pb::NodeDef *table = find(model->graph, "table");
    CHECK(table->op() == "HashTableV2");
    return table->attr().at(tableErrorAttribute).s();
  };
  CHECK_THAT(errorOf(filledByCalls + R"(node { name: "again" op: "LookupTableImportV2"
               input: "table" input: "keys" input: "values" })"),
             Catch::Contains("fills table 'table' once more"));
  CHECK_THAT(errorOf(R"(node { name: "init" op: "LookupTableImportV2" input: "table" input: "x"
               input: "values" })"),
             Catch::Contains("fills table 'table' with 'x', which is no constant"));
  CHECK_THAT(errorOf(R"(node { name: "init" op: "InitializeTableFromTextFileV2" input: "table"
               input: "keys" })"),
             Catch::Contains("reads a file that is no asset of the model"));
}

TEST_CASE("a table that changes is filled once, before all that reads it") {
  auto freeze = [](const std::string &filled, const std::string &init = "init") {
    pb::SavedModel model;
    std::string text = tableModel(filled);
    const std::string table = "HashTableV2", graph = "  graph_def {";
    text.replace(text.find(table), table.size(), "MutableHashTableV2");
    text.insert(text.find(graph), R"(  collection_def { key: "saved_model_main_op" value {
      node_list { value: ")" + init + R"(" } } } )");
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &model));
    Diagnostics diagnostics;
    std::optional<FrozenModel> frozen =
        freezeModel(model, "model/saved_model.pb", nullptr, diagnostics);
    REQUIRE(frozen);
    return frozen->graph;
  };
  auto errorOf = [&](const std::string &filled) {
    return find(freeze(filled), "table")->attr().at(tableErrorAttribute).s();
  };
  auto insert = [](const std::string &keys, const std::string &more = "") {
    return R"(node { name: "init" op: "LookupTableInsertV2" input: "table" input: ")" + keys +
           R"(" input: "values")" + more + " }";
  };
  const pb::GraphDef filled = freeze(insert("keys"));
  CHECK(find(filled, "table")->op() == "Const");
  CHECK(find(filled, "y")->input_size() == 4);
  CHECK(find(filled, "size")->attr().at("value").tensor().int64_val(0) == 2);
  // Of equal keys the last one stays.
  const std::string equalKeys =
      R"(node { name: "same" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
         tensor_shape { dim { size: 2 } } int64_val: 7 int64_val: 7 } } } })";
  CHECK(
      find(freeze(equalKeys + insert("same")), "size")->attr().at("value").tensor().int64_val(0) ==
      1);
  CHECK_THAT(errorOf(insert("keys", R"( input: "^y")")), Catch::Contains("after node 'y'"));
  // Constants that only a reader lets come, and inputs that wait for one.
  const std::string late =
      R"(node { name: "late" op: "Const" input: "^y" attr { key: "value" value {
      tensor { dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: 7 int64_val: 8 } } } })";
  CHECK_THAT(errorOf(late + insert("late")), Catch::Contains("after node 'late'"));
  CHECK_THAT(errorOf(insert("x")), Catch::Contains("with 'x', which is no constant"));
  CHECK_THAT(errorOf(R"(node { name: "init" op: "LookupTableRemoveV2" input: "table"
               input: "keys" })"),
             Catch::Contains("insert constants once"));
  // Nodes that neither the outputs nor the initializer of the model need do not run.
  CHECK(find(freeze(insert("keys"), "other"), "table")->op() == "MutableHashTableV2");
  CHECK(
      find(freeze(insert("keys") + R"(node { name: "group" op: "NoOp" input: "^init" })", "group"),
           "table")
          ->op() == "Const");
}

TEST_CASE("a table of a frozen graph that changes has what its outputs and groups run") {
  auto tableAfter = [](const std::string &filled, const std::string &find = "") {
    pb::SavedModel model;
    std::string text = tableModel(filled);
    const std::string table = "HashTableV2", read = "input: \"default\" }";
    text.replace(text.find(table), table.size(), "MutableHashTableV2");
    text.insert(text.find(read) + read.size() - 1, find);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &model));
    pb::GraphDef graph = model.meta_graphs(0).graph_def();
    graph.clear_library();
    Diagnostics diagnostics;
    RunNodes run(graph);
    run.addFrozen({"y"});
    REQUIRE(bindTables(graph, {"."}, run, diagnostics));
    freezeTables(graph);
    return ::find(graph, "table")->op();
  };
  const std::string insert = R"(node { name: "insert" op: "LookupTableInsertV2"
      input: "table" input: "keys" input: "values" })";
  CHECK(tableAfter(insert) == "MutableHashTableV2");
  CHECK(tableAfter(insert, "input: \"^insert\" ") == "Const");
  CHECK(tableAfter(insert + R"(node { name: "init_all" op: "NoOp" input: "^insert" })") == "Const");
}

TEST_CASE("a function has a table of its own") {
  pb::SavedModel model;
  std::string text = tableModel(R"(
    node { name: "local" op: "StatefulPartitionedCall" input: "x"
      attr { key: "f" value { func { name: "own" } } } }
    node { name: "z" op: "Identity" input: "local" })");
  const std::string library = "library {", output = "name: \"y:0\"";
  text.insert(text.find(library) + library.size(), R"(
    function {
      signature { name: "own" input_arg { name: "a" type: DT_INT64 }
        output_arg { name: "found" type: DT_INT64 } }
      node_def { name: "mine" op: "MutableHashTableV2" attr { key: "key_dtype" value { type: DT_INT64 } }
        attr { key: "value_dtype" value { type: DT_INT64 } } }
      node_def { name: "k" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
        tensor_shape { dim { size: 1 } } int64_val: 5 } } } attr { key: "dtype" value { type: DT_INT64 } } }
      node_def { name: "none" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT64
        tensor_shape { } int64_val: 0 } } } attr { key: "dtype" value { type: DT_INT64 } } }
      node_def { name: "save" op: "LookupTableExportV2" input: "mine:table_handle:0" }
      node_def { name: "insert" op: "LookupTableInsertV2" input: "mine:table_handle:0"
        input: "k:output:0" input: "k:output:0" input: "^save" }
      node_def { name: "look" op: "LookupTableFindV2" input: "mine:table_handle:0" input: "a"
        input: "none:output:0" input: "^insert" attr { key: "Tout" value { type: DT_INT64 } } }
      ret { key: "found" value: "look:values:0" } })");
  text.replace(text.find(output), output.size(), "name: \"z:0\"");
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &model));
  Diagnostics diagnostics;
  std::optional<FrozenModel> frozen =
      freezeModel(model, "model/saved_model.pb", nullptr, diagnostics);
  REQUIRE(frozen);
  int lookups = 0;
  for (const pb::NodeDef &node : frozen->graph.node()) {
    INFO(node.DebugString());
    CHECK(node.op() != "MutableHashTableV2");
    if (node.op() != "LookupTableFindV2")
      continue;
    ++lookups;
    CHECK(find(frozen->graph, node.input(0))->attr().at("value").tensor().int64_val(0) == 5);
  }
  CHECK(lookups == 1);
}
