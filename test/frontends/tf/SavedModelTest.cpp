//===-- SavedModelTest.cpp - SavedModel folders and their checkpoints -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/SavedModel.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "frontends/tf/variables/CheckpointTable.h"
#include "google/protobuf/text_format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace atc;
using namespace atc::tf_import;

namespace {

std::string le(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}

/// A table of one data block whose keys share prefixes as LevelDB writes them.
std::string makeTable(const std::vector<std::pair<std::string, std::string>> &entries,
                      char kind = 0) {
  std::string file;
  auto block = [&](const std::vector<std::pair<std::string, std::string>> &list) {
    std::string body, last;
    for (const auto &[key, value] : list) {
      size_t shared = 0;
      while (shared < std::min(key.size(), last.size()) && key[shared] == last[shared])
        ++shared;
      body += varint(shared) + varint(key.size() - shared) + varint(value.size());
      body += key.substr(shared) + value;
      last = key;
    }
    body += le(0, 4) + le(1, 4);
    std::string handle = varint(file.size()) + varint(body.size());
    std::string withKind = body + kind;
    file += withKind + le(maskedCrc32c(withKind), 4);
    return handle;
  };
  std::string data = block(entries);
  std::string meta = block({});
  std::string index = block({{entries.back().first + "~", data}});
  std::string footer = meta + index;
  footer.resize(40);
  return file + footer + le(0xdb4775248b80fb57ull, 8);
}

void write(const std::string &path, const std::string &bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  REQUIRE(!error);
  os << bytes;
}

/// y = w + b, twice nested: the outer function passes its variable on. The restoring
/// function gives variable 'first' the key "deep/w" although another key has its name.
const char *modelText = R"(meta_graphs {
  meta_info_def { tags: "serve" stripped_op_list {
    op { name: "Split" output_arg { name: "output" number_attr: "num_split" } } } }
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "first" op: "VarHandleOp"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 2 } } } }
      attr { key: "shared_name" value { s: "first" } } }
    node { name: "y" op: "StatefulPartitionedCall" input: "x" input: "first" input: "^first"
      attr { key: "f" value { func { name: "outer" } } } }
    node { name: "prefix" op: "Const" }
    node { name: "restore" op: "StatefulPartitionedCall" input: "prefix" input: "first"
      attr { key: "f" value { func { name: "restoring" } } } }
    library {
      function {
        signature { name: "outer" input_arg { name: "a" type: DT_FLOAT }
          input_arg { name: "v" type: DT_RESOURCE } output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "call" op: "PartitionedCall" input: "a" input: "v"
          attr { key: "f" value { func { name: "inner"
            attr { key: "T" value { type: DT_FLOAT } } } } } }
        node_def { name: "parts" op: "Split" input: "call:output:0" input: "call:output:1"
          attr { key: "num_split" value { i: 2 } } }
        node_def { name: "id" op: "Neg" input: "parts:output:1" input: "^call" }
        ret { key: "r" value: "id:y:0" } }
      function {
        signature { name: "inner" input_arg { name: "a" type: DT_FLOAT }
          input_arg { name: "v" type: DT_RESOURCE } output_arg { name: "r" type: DT_FLOAT }
          output_arg { name: "s" type: DT_FLOAT } }
        node_def { name: "read" op: "ReadVariableOp" input: "v" }
        node_def { name: "add" op: "AddV2" input: "a" input: "read:value:0"
          attr { key: "T" value { placeholder: "T" } } }
        ret { key: "r" value: "add:z:0" } ret { key: "s" value: "a" } }
      function {
        signature { name: "restoring" input_arg { name: "file" type: DT_STRING }
          input_arg { name: "v" type: DT_RESOURCE } }
        node_def { name: "names" op: "Const" attr { key: "value" value { tensor {
          dtype: DT_STRING string_val: "other" string_val: "deep/w" } } } }
        node_def { name: "RestoreV2" op: "RestoreV2" input: "file" input: "names:output:0" }
        node_def { name: "value" op: "Identity" input: "RestoreV2:tensors:1" }
        node_def { name: "assign" op: "AssignVariableOp" input: "v" input: "value:output:0" } } }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "in" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: 2 } } } }
    outputs { key: "out" value { name: "y:0" dtype: DT_FLOAT } } } }
})";

struct Folder {
  std::string path;
  pb::SavedModel model;
  pb::BundleEntryProto entry;
  std::string data;

  Folder() {
    llvm::SmallString<128> name;
    REQUIRE(!llvm::sys::fs::createUniqueDirectory("saved-model-test", name));
    path = name.str().str();
    REQUIRE(google::protobuf::TextFormat::ParseFromString(modelText, &model));
    float values[] = {1.5f, -2.0f};
    data.assign(reinterpret_cast<const char *>(values), sizeof values);
    entry.set_dtype(pb::DT_FLOAT);
    entry.mutable_shape()->add_dim()->set_size(2);
    entry.set_size(data.size());
    entry.set_crc32c(maskedCrc32c(data));
  }
  ~Folder() { (void)llvm::sys::fs::remove_directories(path); }

  std::string index() const { return path + "/variables/variables.index"; }

  pb::GraphDef &graph() { return *model.mutable_meta_graphs(0)->mutable_graph_def(); }

  std::string table(char kind = 0) {
    pb::BundleHeaderProto header;
    header.set_num_shards(1);
    return makeTable({{"", header.SerializeAsString()},
                      {"deep/v", entry.SerializeAsString()},
                      {"deep/w", entry.SerializeAsString()}},
                     kind);
  }
  void save() {
    write(path + "/saved_model.pb", model.SerializeAsString());
    REQUIRE(!llvm::sys::fs::create_directories(path + "/variables"));
    write(index(), table());
    write(path + "/variables/variables.data-00000-of-00001", data);
  }
  /// The codes and texts of a reading that must fail.
  std::string errorText() {
    Diagnostics diagnostics;
    CHECK(!readSavedModel(path, diagnostics));
    CHECK(diagnostics.hasErrors());
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.print(os);
    return text;
  }
};

const pb::NodeDef *find(const pb::GraphDef &graph, const std::string &name) {
  for (const pb::NodeDef &node : graph.node())
    if (node.name() == name)
      return &node;
  return nullptr;
}

} // namespace

TEST_CASE("a SavedModel becomes a graph of constants without calls") {
  Folder folder;
  folder.save();
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = readSavedModel(folder.path, diagnostics);
  REQUIRE(model);
  CHECK(!diagnostics.hasErrors());
  REQUIRE(model->inputs.size() == 1);
  CHECK(model->inputs[0].tensor == "in");
  REQUIRE(model->outputs.size() == 1);
  CHECK(model->outputs[0].tensor == "out");

  const pb::NodeDef *in = find(model->graph, "in");
  REQUIRE(in);
  CHECK(in->op() == "Placeholder");
  CHECK(in->attr().at("shape").shape().dim(0).size() == 2);
  const pb::NodeDef *out = find(model->graph, "out");
  REQUIRE(out);
  REQUIRE(out->input_size() == 1);
  CHECK(out->input(0) == "y/id");
  const pb::NodeDef *id = find(model->graph, "y/id");
  REQUIRE(id);
  REQUIRE(id->input_size() == 1);
  CHECK(id->input(0) == "y/parts:1");
  const pb::NodeDef *parts = find(model->graph, "y/parts");
  REQUIRE(parts);
  CHECK(parts->input(0) == "y/call/add");
  CHECK(parts->input(1) == "in");
  const pb::NodeDef *add = find(model->graph, "y/call/add");
  REQUIRE(add);
  CHECK(add->attr().at("T").type() == pb::DT_FLOAT);
  CHECK(add->input(1) == "y/call/read");
  const pb::NodeDef *read = find(model->graph, "y/call/read");
  REQUIRE(read);
  CHECK(read->op() == "Identity");
  CHECK(read->input(0) == "first");
  const pb::NodeDef *variable = find(model->graph, "first");
  REQUIRE(variable);
  CHECK(variable->op() == "Const");
  CHECK(variable->attr().at("value").tensor().tensor_content() == folder.data);
  CHECK(!find(model->graph, "restore"));
}

TEST_CASE("nodes give way to the names of the signature") {
  Folder folder;
  auto &signature =
      (*folder.model.mutable_meta_graphs(0)->mutable_signature_def())["serving_default"];
  pb::TensorInfo output = signature.outputs().at("out");
  signature.clear_outputs();
  (*signature.mutable_outputs())["first"] = output;
  folder.save();
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = readSavedModel(folder.path, diagnostics);
  REQUIRE(model);
  CHECK(find(model->graph, "first")->op() == "Identity");
  CHECK(find(model->graph, "first_1")->op() == "Const");
}

TEST_CASE("a gathered variable is gathered from its constant") {
  Folder folder;
  auto &inner = *folder.graph().mutable_library()->mutable_function(1);
  inner.mutable_node_def(0)->set_op("ResourceGather");
  inner.mutable_node_def(0)->add_input("a");
  inner.mutable_node_def(1)->set_input(1, "read:output:0");
  folder.save();
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = readSavedModel(folder.path, diagnostics);
  REQUIRE(model);
  const pb::NodeDef *read = find(model->graph, "y/call/read");
  REQUIRE(read);
  CHECK(read->op() == "GatherV2");
  REQUIRE(read->input_size() == 3);
  REQUIRE(find(model->graph, read->input(2)));
  CHECK(find(model->graph, read->input(2))->op() == "Const");
}

TEST_CASE("errors of the graph are told") {
  Folder folder;
  auto &library = *folder.graph().mutable_library();
  SECTION("missing function") {
    library.mutable_function()->DeleteSubrange(1, 1);
    folder.save();
    CHECK(folder.errorText().find("E12013: node 'y/call' calls function 'inner'") == 0);
  }
  SECTION("recursion") {
    (*library.mutable_function(0)->mutable_node_def(0)->mutable_attr())["f"]
        .mutable_func()
        ->set_name("outer");
    folder.save();
    CHECK(folder.errorText().find("recursion") != std::string::npos);
  }
  SECTION("wrong number of arguments") {
    library.mutable_function(0)->mutable_node_def(0)->add_input("a");
    folder.save();
    CHECK(folder.errorText().find("passes 3 values") != std::string::npos);
  }
  SECTION("missing node") {
    library.mutable_function(1)->mutable_node_def(1)->set_input(0, "gone:output:0");
    folder.save();
    CHECK(folder.errorText().find("'gone:output:0', which does not exist") != std::string::npos);
  }
  SECTION("a call that reads itself") {
    library.mutable_function(0)->mutable_node_def(0)->set_input(0, "call:output:0");
    folder.save();
    CHECK(folder.errorText().find("depends on this node") != std::string::npos);
  }
  SECTION("a variable that changes") {
    pb::NodeDef &node = *library.mutable_function(1)->add_node_def();
    node.set_name("count");
    node.set_op("AssignAddVariableOp");
    const std::string error = "E13010: node 'y/call/count'";
    folder.save();
    CHECK(folder.errorText().find(error) == 0);
    node.add_input("v");
    node.add_input("a");
    folder.save();
    CHECK(folder.errorText().find(error) == 0);
    // Where no result reads it, as the state of random numbers that are not used.
    library.mutable_function(1)->mutable_node_def(1)->set_input(1, "a");
    folder.save();
    Diagnostics diagnostics;
    CHECK(readSavedModel(folder.path, diagnostics));
    // Another node of the main graph is the same variable.
    pb::NodeDef &other = *folder.graph().add_node();
    other = *find(folder.graph(), "first");
    other.set_name("alias");
    pb::NodeDef &read = *folder.graph().add_node();
    read.set_name("read");
    read.set_op("ReadVariableOp");
    read.add_input("alias");
    for (pb::NodeDef &each : *folder.graph().mutable_node())
      if (each.name() == "y")
        each.set_input(0, "read");
    folder.save();
    CHECK(folder.errorText().find(error) == 0);
  }
  SECTION("a write in what no result reads") {
    const auto [nodes, written] = GENERATE(table<const char *, const char *>({
        {R"(node_def { name: "more" op: "StatefulPartitionedCall" input: "v"
             attr { key: "f" value { func { name: "counting" } } } })",
         "'y/more/count'"},
        {R"(node_def { name: "more" op: "counting" input: "v" input: "^call" })", "'y/more/count'"},
        {R"(node_def { name: "is" op: "Const" }
            node_def { name: "more" op: "StatelessIf" input: "is:output:0" input: "v"
             attr { key: "Tcond" value { type: DT_BOOL } }
             attr { key: "Tin" value { list { type: DT_RESOURCE } } }
             attr { key: "Tout" value { list { } } }
             attr { key: "then_branch" value { func { name: "counting" } } }
             attr { key: "else_branch" value { func { name: "counting" } } } })",
         "'y/more"},
    }));
    REQUIRE(google::protobuf::TextFormat::ParseFromString(
        R"(signature { name: "counting" input_arg { name: "own" type: DT_RESOURCE } }
           node_def { name: "one" op: "Const" }
           node_def { name: "count" op: "AssignAddVariableOp" input: "own" input: "one:output:0" })",
        library.add_function()));
    pb::FunctionDef added;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(nodes, &added));
    library.mutable_function(0)->MergeFrom(added);
    folder.save();
    const std::string error = folder.errorText();
    INFO(error);
    CHECK(error.find("E13010: node ") == 0);
    CHECK(error.find(written) != std::string::npos);
    // Of a variable that no result reads it changes nothing.
    library.mutable_function(1)->mutable_node_def(1)->set_input(1, "a");
    folder.save();
    Diagnostics diagnostics;
    CHECK(readSavedModel(folder.path, diagnostics));
  }
  SECTION("what is read behind an assignment") {
    const bool writesAgain = GENERATE(false, true);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(
        R"(signature { name: "setting" input_arg { name: "a" type: DT_FLOAT }
             input_arg { name: "v" type: DT_RESOURCE } output_arg { name: "r" type: DT_FLOAT } }
           node_def { name: "set" op: "AssignVariableOp" input: "v" input: "a"
             attr { key: "dtype" value { type: DT_FLOAT } } }
           node_def { name: "more" op: "StatefulPartitionedCall" input: "v" input: "^set"
             attr { key: "f" value { func { name: "counting" } } } }
           node_def { name: "read" op: "ReadVariableOp" input: "v" input: "^set"
             attr { key: "dtype" value { type: DT_FLOAT } } }
           ret { key: "r" value: "read:value:0" })",
        library.add_function()));
    pb::FunctionDef &counting = *library.add_function();
    REQUIRE(google::protobuf::TextFormat::ParseFromString(
        R"(signature { name: "counting" input_arg { name: "own" type: DT_RESOURCE } }
           node_def { name: "one" op: "Const" }
           node_def { name: "count" op: "AssignAddVariableOp" input: "own" input: "one:output:0" })",
        &counting));
    pb::FunctionDef &setting = *library.mutable_function(library.function_size() - 2);
    if (writesAgain)
      setting.mutable_node_def(2)->add_input("^more");
    else
      setting.mutable_node_def()->DeleteSubrange(1, 1);
    (*folder.graph().mutable_node(2)->mutable_attr())["f"].mutable_func()->set_name("setting");
    folder.save();
    if (writesAgain) {
      CHECK(folder.errorText().find("E13010: node 'y/set' (AssignVariableOp)") == 0);
    } else {
      Diagnostics diagnostics;
      CHECK(readSavedModel(folder.path, diagnostics));
    }
  }
  SECTION("operators that write") {
    const char *op =
        GENERATE("ResourceStridedSliceAssign", "ResourceCountUpTo", "RngSkip", "RngReadAndSkip",
                 "ResourceSparseApplyAdagrad", "ResourceScatterAdd", "AssignVariableOp");
    pb::NodeDef &node = *library.mutable_function(1)->add_node_def();
    node.set_name("write");
    node.set_op(op);
    node.add_input("v");
    folder.save();
    CHECK(folder.errorText().find(std::string("E13010: node 'y/call/write' (") + op + ")") == 0);
  }
  SECTION("functions that double at every level") {
    for (int level = 0; level < 40; ++level) {
      pb::FunctionDef &f = *library.add_function();
      f.mutable_signature()->set_name("level" + std::to_string(level));
      pb::OpDef::ArgDef argument;
      argument.set_name("a");
      *f.mutable_signature()->add_input_arg() = argument;
      *f.mutable_signature()->add_output_arg() = argument;
      for (int i = 0; i < 2; ++i) {
        pb::NodeDef &call = *f.add_node_def();
        call.set_name("c" + std::to_string(i));
        call.set_op(level == 39 ? "Neg" : "level" + std::to_string(level + 1));
        call.add_input(i == 0 ? "a" : "c0:a:0");
      }
      (*f.mutable_ret())["a"] = level == 39 ? "c1:y:0" : "c1:a:0";
    }
    folder.graph().mutable_node(2)->clear_input();
    folder.graph().mutable_node(2)->add_input("x");
    folder.graph().mutable_node(2)->set_op("level28");
    folder.graph().mutable_node(2)->clear_attr();
    folder.save();
    Diagnostics diagnostics;
    // 2^12 nodes still fit.
    CHECK(readSavedModel(folder.path, diagnostics));
  }
  SECTION("no such signature") {
    auto &signatures = *folder.model.mutable_meta_graphs(0)->mutable_signature_def();
    signatures["a"] = signatures["b"] = signatures["serving_default"];
    signatures.erase("serving_default");
    folder.save();
    CHECK(folder.errorText().find("it has 'a', 'b': choose one with --signature_def") !=
          std::string::npos);
    Diagnostics diagnostics;
    CHECK(readSavedModel(folder.path, diagnostics, "b"));
    CHECK(!readSavedModel(folder.path, diagnostics, "c"));
  }
}

TEST_CASE("errors of the checkpoint are told") {
  Folder folder;
  SECTION("data cut short") {
    folder.data.pop_back();
    folder.save();
    CHECK(folder.errorText().find("lies outside of its data file") != std::string::npos);
  }
  SECTION("data damaged") {
    folder.data[3] ^= 1;
    folder.save();
    CHECK(folder.errorText().find("wrong checksum") != std::string::npos);
  }
  SECTION("huge offset") {
    folder.entry.set_offset(INT64_MAX);
    folder.save();
    CHECK(folder.errorText().find("lies outside of its data file") != std::string::npos);
  }
  SECTION("a size that does not fit the shape") {
    folder.entry.mutable_shape()->add_dim()->set_size(INT64_MAX);
    folder.save();
    CHECK(folder.errorText().find("does not fit its shape") != std::string::npos);
  }
  SECTION("another type than the graph says") {
    folder.entry.set_dtype(pb::DT_INT32);
    folder.save();
    CHECK(folder.errorText().find("another type or shape") != std::string::npos);
  }
  SECTION("no data file") {
    folder.save();
    (void)llvm::sys::fs::remove(folder.path + "/variables/variables.data-00000-of-00001");
    CHECK(folder.errorText().find("E10410") == 0);
  }
  SECTION("a link out of the model's folder") {
    folder.save();
    const std::string data = folder.path + "/variables/variables.data-00000-of-00001";
    const std::string other = folder.path + "-other";
    std::filesystem::rename(data, other);
    std::filesystem::create_symlink(other, data);
    CHECK_THAT(folder.errorText(), Catch::Contains("E13001: file '" + data) &&
                                       Catch::Contains("leads out of the model's folder"));
    // A link to another file of the model is one of the model.
    std::filesystem::remove(data);
    std::filesystem::rename(other, folder.path + "/data");
    std::filesystem::create_symlink("../data", data);
    Diagnostics diagnostics;
    CHECK(readSavedModel(folder.path, diagnostics));
  }
  SECTION("the cache of a model hub") {
    folder.save();
    namespace fs = std::filesystem;
    const std::string cache = folder.path + "-cache";
    fs::create_directories(cache + "/snapshots/1/variables");
    fs::create_directories(cache + "/blobs");
    for (const char *file : {"saved_model.pb", "variables/variables.index",
                             "variables/variables.data-00000-of-00001"}) {
      const std::string blob = cache + "/blobs/" + fs::path(file).filename().string();
      const std::string link = cache + "/snapshots/1/" + file;
      fs::rename(folder.path + "/" + file, blob);
      fs::create_symlink(fs::relative(blob, fs::path(link).parent_path()), link);
    }
    Diagnostics diagnostics;
    CHECK(readSavedModel(cache + "/snapshots/1", diagnostics));
    fs::remove_all(cache);
  }
  SECTION("no checkpoint at all") {
    folder.save();
    (void)llvm::sys::fs::remove(folder.index());
    CHECK(folder.errorText().find("variable 'first' has no value") != std::string::npos);
  }
  SECTION("compressed blocks") {
    folder.save();
    write(folder.index(), folder.table(1));
    CHECK(folder.errorText().find("snappy") != std::string::npos);
  }
}

TEST_CASE("a damaged file is an error, never a crash") {
  Folder folder;
  folder.save();
  std::string table = folder.table(), model = folder.model.SerializeAsString();
  for (size_t size = 0; size < table.size(); ++size) {
    write(folder.index(), table.substr(0, size));
    CHECK(!folder.errorText().empty());
  }
  for (size_t at = 0; at < table.size(); ++at) {
    std::string damaged = table;
    damaged[at] ^= 0x55;
    write(folder.index(), damaged);
    Diagnostics diagnostics;
    // Only padding and unused blocks may be damaged unnoticed.
    bool good = readSavedModel(folder.path, diagnostics).has_value();
    CHECK(good != diagnostics.hasErrors());
  }
  write(folder.index(), table);
  for (size_t at = 0; at < model.size(); ++at) {
    for (std::string damaged : {model.substr(0, at), model}) {
      if (at < damaged.size())
        damaged[at] ^= 0x11;
      write(folder.path + "/saved_model.pb", damaged);
      Diagnostics diagnostics;
      bool good = readSavedModel(folder.path, diagnostics).has_value();
      CHECK(good != diagnostics.hasErrors());
    }
  }
}

TEST_CASE("a Keras model with nested functions and variables") {
  std::string path = OPENATC_SOURCE_DIR "/../shared/models/sm-mlperf-kws";
  if (!std::filesystem::exists(path + "/saved_model.pb")) {
    WARN("skipped: no folder 'shared/models/sm-mlperf-kws' beside the checkout");
    return;
  }
  Diagnostics diagnostics;
  std::optional<FrozenModel> model = readSavedModel(path, diagnostics);
  REQUIRE(model);
  CHECK(model->inputs[0].name == "input_1");
  CHECK(model->outputs[0].name == "dense");
  for (const pb::NodeDef &node : model->graph.node()) {
    CHECK(node.op() != "StatefulPartitionedCall");
    CHECK(node.op() != "ReadVariableOp");
    CHECK(node.op() != "VarHandleOp");
  }
}
