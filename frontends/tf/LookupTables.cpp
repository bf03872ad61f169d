//===-- LookupTables.cpp - lookup tables become constants -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/LookupTables.h"

#include "frontends/ModelFile.h"
#include "frontends/tf/NodeDefs.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

constexpr const char *keysAttribute = "_table_keys", *valuesAttribute = "_table_values";

/// Whether the contents of a table may change while a graph runs.
bool isMutable(const pb::NodeDef &node) {
  return node.op() == "MutableHashTableV2" || node.op() == "MutableHashTable";
}

bool isTable(const pb::NodeDef &node) {
  return node.op() == "HashTableV2" || node.op() == "HashTable" || isMutable(node);
}

/// Whether a node changes a table while a graph runs.
bool changesTable(StringRef op) {
  op.consume_back("V2");
  return op == "LookupTableInsert" || op == "LookupTableRemove";
}

/// Whether a node fills a table (input 0) with keys (input 1) and values (input 2).
bool fillsTable(StringRef op) {
  if (changesTable(op))
    return true;
  op.consume_back("V2");
  return op == "LookupTableImport" || op == "InitializeTable";
}

bool readsFile(StringRef op) {
  op.consume_back("V2");
  return op == "InitializeTableFromTextFile";
}

/// The main graph, or a call of a function.
struct Frame {
  const Frame *caller = nullptr;
  const pb::NodeDef *call = nullptr; ///< the node of the caller
  StringMap<const pb::NodeDef *> nodes;
  StringMap<StringRef> arguments; ///< tensors of the caller

  void addNodes(const Nodes &list) {
    for (const pb::NodeDef &node : list)
      nodes[node.name()] = &node;
  }
};

/// Returns the node that makes a tensor when arguments and Identity nodes are passed over.
const pb::NodeDef *trace(const Frame *frame, StringRef tensor) {
  while (frame) {
    auto argument = frame->arguments.find(nodeOf(tensor));
    if (argument != frame->arguments.end()) {
      tensor = argument->second;
      frame = frame->caller;
      continue;
    }
    const pb::NodeDef *node = frame->nodes.lookup(nodeOf(tensor));
    // A chain of Identity nodes is shorter than the graph unless it is a cycle.
    for (size_t steps = 0;
         node && node->op() == "Identity" && node->input_size() != 0 &&
         !frame->arguments.contains(nodeOf(node->input(0))) && steps < frame->nodes.size();
         ++steps)
      node = frame->nodes.lookup(nodeOf(node->input(0)));
    if (!node || node->op() != "Identity" || node->input_size() == 0 ||
        !frame->arguments.contains(nodeOf(node->input(0))))
      return node;
    tensor = node->input(0);
  }
  return nullptr;
}

/// Returns what a node waits for that may read a table; empty where there is nothing. Constants
/// wait for nothing but what orders them.
StringRef awaited(const Frame &frame, const pb::NodeDef &node) {
  auto isControl = [](StringRef name) { return name.starts_with("^"); };
  for (StringRef input : node.input()) {
    const bool orders = isControl(input);
    const pb::NodeDef *before = frame.nodes.lookup(orders ? input.drop_front() : nodeOf(input));
    for (size_t steps = 0; before && before->op() == "Identity" && before->input_size() != 0 &&
                           none_of(before->input(), isControl) && steps < frame.nodes.size();
         ++steps)
      before = frame.nodes.lookup(nodeOf(before->input(0)));
    if (!before)
      continue;
    // TensorFlow makes a table together with a node that would save it, which no output reads.
    const bool isQuiet = before->op() == "Const" || before->op() == "Placeholder" ||
                         isTable(*before) ||
                         StringRef(before->op()).starts_with("LookupTableExport");
    if (any_of(before->input(), isControl) || (orders && !isQuiet))
      return before->name();
  }
  return {};
}

/// Returns what a node, or a call that leads to it, waits for.
StringRef awaited(const Frame *frame, const pb::NodeDef *node) {
  for (; frame; node = frame->call, frame = frame->caller)
    if (StringRef before = awaited(*frame, *node); !before.empty())
      return before;
  return {};
}

/// Returns the name of a node of the main graph: the node itself, or the call that leads to it.
StringRef nodeOfMainGraph(const Frame &frame, const pb::NodeDef &node) {
  StringRef name = node.name();
  for (const Frame *inner = &frame; inner->caller; inner = inner->caller)
    name = inner->call->name();
  return name;
}

class TableBinder {
public:
  TableBinder(pb::GraphDef &graph, const TableFiles &files, const RunNodes &runNodes,
              Diagnostics &diagnostics)
      : graph(graph), files(files), runNodes(runNodes), diagnostics(diagnostics) {
    for (const pb::FunctionDef &function : graph.library().function())
      functions[function.signature().name()] = &function;
  }

  bool run();

private:
  bool fail(const pb::NodeDef &node, const Twine &text) {
    diagnostics.error("E13005", "node '" + node.name() + "' (" + node.op() + ") " + text);
    return false;
  }
  /// Notes on a table why a node cannot fill it, which matters only where an output needs it.
  static void refuse(pb::NodeDef &table, const pb::NodeDef &node, const Twine &text) {
    (*table.mutable_attr())[tableErrorAttribute].set_s(
        ("node '" + node.name() + "' (" + node.op() + ") " + text).str());
  }
  bool visit(const Frame &frame, const Nodes &list, unsigned depth);
  bool visitCall(const Frame &frame, const pb::NodeDef &call, const pb::FunctionDef &function,
                 unsigned depth);
  bool fill(const Frame &frame, const pb::NodeDef &node);
  void fillFromConstants(const Frame &frame, const pb::NodeDef &node, pb::NodeDef &table);
  std::string fileOf(const pb::NodeDef &source) const;
  void fillFromFile(const Frame &frame, const pb::NodeDef &node, pb::NodeDef &table);
  static bool readColumn(pb::NodeDef &table, const pb::NodeDef &node, ArrayRef<StringRef> lines,
                         int64_t column, int64_t offset, char between, pb::TensorProto &tensor);
  const pb::FunctionDef *calledFunction(const pb::NodeDef &node) const;
  bool fillsTables(const pb::FunctionDef &function);

  pb::GraphDef &graph;
  const TableFiles &files;
  const RunNodes &runNodes;
  Diagnostics &diagnostics;
  StringMap<const pb::FunctionDef *> functions;
  StringMap<bool> filling; ///< what fillsTables() has found
  DenseMap<const pb::NodeDef *, pb::NodeDef *> tables;
  StringMap<StringRef> assigned; ///< what sets each variable of the main graph
  unsigned calls = 0;
};

const pb::FunctionDef *TableBinder::calledFunction(const pb::NodeDef &node) const {
  const pb::AttrValue *callee = attributeOf(node, "f");
  return functions.lookup(callee ? callee->func().name() : node.op());
}

/// Whether a function or one that it calls fills tables.
bool TableBinder::fillsTables(const pb::FunctionDef &function) {
  auto [known, isNew] = filling.try_emplace(function.signature().name(), false);
  if (!isNew)
    return known->second;
  bool fills = false;
  for (const pb::NodeDef &node : function.node_def()) {
    const pb::FunctionDef *callee = calledFunction(node);
    fills |= fillsTable(node.op()) || readsFile(node.op()) || (callee && fillsTables(*callee));
  }
  return filling[function.signature().name()] = fills;
}

bool TableBinder::visitCall(const Frame &frame, const pb::NodeDef &call,
                            const pb::FunctionDef &function, unsigned depth) {
  constexpr unsigned maxDepth = 50, maxCalls = 100'000;
  if (depth >= maxDepth || ++calls > maxCalls)
    return fail(call, "fills tables by too many calls of functions");
  Frame inner;
  inner.caller = &frame;
  inner.call = &call;
  inner.addNodes(function.node_def());
  int next = 0;
  for (const pb::OpDef::ArgDef &argument : function.signature().input_arg())
    if (next < call.input_size())
      inner.arguments[argument.name()] = call.input(next++);
  return visit(inner, function.node_def(), depth + 1);
}

bool TableBinder::visit(const Frame &frame, const Nodes &list, unsigned depth) {
  for (const pb::NodeDef &node : list) {
    const pb::FunctionDef *function = calledFunction(node);
    if (function && fillsTables(*function) && !visitCall(frame, node, *function, depth))
      return false;
    if ((fillsTable(node.op()) || readsFile(node.op())) && !fill(frame, node))
      return false;
  }
  return true;
}

bool TableBinder::fill(const Frame &frame, const pb::NodeDef &node) {
  if (node.input_size() < 2)
    return fail(node, "has too few inputs");
  const pb::NodeDef *origin = trace(&frame, node.input(0));
  auto found = tables.find(origin);
  // A table of another kind, which matters only where the outputs need it.
  if (found == tables.end())
    return true;
  pb::NodeDef &table = *found->second;
  // TensorFlow takes a table that cannot change only when it is filled, one that can also empty.
  if (isMutable(table) && !runNodes.contains(nodeOfMainGraph(frame, node)))
    return true;
  // A change is made before all that reads the table, and each run would make the same again.
  if (changesTable(node.op()))
    if (StringRef before = awaited(&frame, &node);
        !before.empty() || !isMutable(table) || StringRef(node.op()).contains("Remove")) {
      refuse(table, node,
             "changes table '" + table.name() + "'" +
                 (before.empty() ? "" : " after node '" + before + "'") +
                 ", which is not supported: insert constants once, before all other nodes of the "
                 "table");
      return true;
    }
  if (table.attr().contains(keysAttribute))
    refuse(table, node, "fills table '" + table.name() + "' once more: a table is filled once");
  else if (readsFile(node.op()))
    fillFromFile(frame, node, table);
  else
    fillFromConstants(frame, node, table);
  return true;
}

void TableBinder::fillFromConstants(const Frame &frame, const pb::NodeDef &node,
                                    pb::NodeDef &table) {
  if (node.input_size() < 3)
    return refuse(table, node, "has too few inputs");
  for (auto [index, name] : {std::pair(1, keysAttribute), std::pair(2, valuesAttribute)}) {
    const pb::NodeDef *source = trace(&frame, node.input(index));
    const pb::AttrValue *value = source ? attributeOf(*source, "value") : nullptr;
    if (!value || source->op() != "Const" || !value->has_tensor())
      return refuse(table, node,
                    "fills table '" + table.name() + "' with '" + node.input(index) +
                        "', which is no constant: give the table constant keys and values");
    *(*table.mutable_attr())[name].mutable_tensor() = value->tensor();
  }
}

/// Reads a column of lines; -2 stands for the whole line, -1 for its number plus `offset`.
bool TableBinder::readColumn(pb::NodeDef &table, const pb::NodeDef &node, ArrayRef<StringRef> lines,
                             int64_t column, int64_t offset, char between,
                             pb::TensorProto &tensor) {
  auto fail = [&](const Twine &text) {
    refuse(table, node, text);
    return false;
  };
  const bool isText = tensor.dtype() == pb::DT_STRING;
  if ((!isText && tensor.dtype() != pb::DT_INT64) || (isText && column == -1))
    return fail("reads keys or values of a type that is not supported: strings and 64-bit "
                "integers are");
  for (auto [number, line] : llvm::enumerate(lines)) {
    StringRef text = line;
    if (column >= 0) {
      SmallVector<StringRef> parts;
      line.split(parts, between);
      if (static_cast<size_t>(column) >= parts.size())
        return fail("needs column " + Twine(column) + " of line " + Twine(number + 1) +
                    " of its file, which has " + Twine(parts.size()));
      text = parts[column];
    }
    int64_t value = static_cast<int64_t>(number + static_cast<uint64_t>(offset));
    if (isText)
      tensor.add_string_val(text.str());
    else if (column != -1 && text.getAsInteger(10, value))
      return fail("expects an integer in line " + Twine(number + 1) + " of its file");
    else
      tensor.add_int64_val(value);
  }
  tensor.mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(lines.size()));
  return true;
}

/// Returns the name of the file that `source` stands for, without a folder: the name in the graph
/// is a path of the machine that saved the model. Empty where it names none.
std::string TableBinder::fileOf(const pb::NodeDef &source) const {
  if (!files.assets) {
    const pb::AttrValue *value = attributeOf(source, "value");
    if (source.op() != "Const" || !value || value->tensor().string_val_size() != 1)
      return {};
    return sys::path::filename(value->tensor().string_val(0)).str();
  }
  // The name may stand in a variable.
  StringRef name = source.name();
  if (source.op() == "ReadVariableOp" && source.input_size() != 0)
    name = assigned.lookup(nodeOf(source.input(0)));
  std::string file;
  for (const pb::AssetFileDef &asset : *files.assets)
    if (nodeOf(asset.tensor_info().name()) == name)
      file = asset.filename();
  return file;
}

void TableBinder::fillFromFile(const Frame &frame, const pb::NodeDef &node, pb::NodeDef &table) {
  const pb::NodeDef *source = trace(&frame, node.input(1));
  if (!source)
    return refuse(table, node, "reads a file whose name is no constant");
  const std::string file = fileOf(*source);
  if (!files.assets && (file.empty() || file == ".."))
    return refuse(table, node, "reads a file whose name is no constant");
  if (files.assets && (file.empty() || StringRef(file).contains("..")))
    return refuse(table, node,
                  "reads a file that is no asset of the model: save it as one "
                  "(tf.saved_model.Asset)");
  SmallString<128> path(files.folder);
  sys::path::append(path, file);
  const char *advice = files.assets ? "" : "; put the file beside the model";
  Expected<std::string> found = findInside(files.folder, path);
  if (!found)
    return refuse(table, node,
                  "reads '" + path + "', which " + toString(found.takeError()) + advice);
  if (!sys::fs::is_regular_file(*found))
    return refuse(table, node, "reads '" + path + "', which is not a regular file" + advice);
  auto buffer = MemoryBuffer::getFile(*found);
  if (!buffer)
    return refuse(table, node,
                  "reads '" + path + "', which cannot be opened: " + buffer.getError().message() +
                      advice);
  SmallVector<StringRef> lines;
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    lines.push_back(line);
    rest = behind;
  }
  auto number = [&](const char *name, int64_t defaultValue) {
    const pb::AttrValue *value = attributeOf(node, name);
    return value ? value->i() : defaultValue;
  };
  if (int64_t count = number("vocab_size", -1);
      count >= 0 && count < static_cast<int64_t>(lines.size()))
    lines.resize(count);
  const pb::AttrValue *delimiter = attributeOf(node, "delimiter");
  const char between = delimiter && !delimiter->s().empty() ? delimiter->s()[0] : '\t';
  auto type = [&](const char *name) {
    const pb::AttrValue *value = attributeOf(table, name);
    return value ? value->type() : pb::DT_INVALID;
  };
  pb::TensorProto keys, values;
  keys.set_dtype(type("key_dtype"));
  values.set_dtype(type("value_dtype"));
  const int64_t offset = number("offset", 0);
  if (!readColumn(table, node, lines, number("key_index", -2), offset, between, keys) ||
      !readColumn(table, node, lines, number("value_index", -1), offset, between, values))
    return;
  *(*table.mutable_attr())[keysAttribute].mutable_tensor() = std::move(keys);
  *(*table.mutable_attr())[valuesAttribute].mutable_tensor() = std::move(values);
}

bool TableBinder::run() {
  auto note = [&](auto &nodes) {
    for (pb::NodeDef &node : nodes)
      if (isTable(node))
        tables[&node] = &node;
  };
  note(*graph.mutable_node());
  // A table that a function makes is one for each call; called twice, it is filled twice.
  for (pb::FunctionDef &function : *graph.mutable_library()->mutable_function())
    note(*function.mutable_node_def());
  if (tables.empty())
    return true;
  for (const pb::NodeDef &node : graph.node())
    if (node.op() == "AssignVariableOp" && node.input_size() >= 2)
      assigned[nodeOf(node.input(0))] = nodeOf(node.input(1));
  Frame main;
  main.addNodes(graph.node());
  return visit(main, graph.node(), 0);
}

/// Returns how many of the `count` keys of a table are different.
int64_t differentKeys(const pb::TensorProto &keys, int64_t count) {
  StringSet<> seen;
  auto see = [&](StringRef bytes) { seen.insert(bytes); };
  auto seeNumber = [&](const auto &number) {
    see({reinterpret_cast<const char *>(&number), sizeof number});
  };
  for (const std::string &text : keys.string_val())
    see(text);
  for_each(keys.int64_val(), seeNumber);
  for_each(keys.int_val(), seeNumber);
  const StringRef content = keys.tensor_content();
  const size_t width = count == 0 ? 0 : content.size() / static_cast<size_t>(count);
  for (size_t at = 0; width != 0 && at + width <= content.size(); at += width)
    see(content.substr(at, width));
  // Values that a tensor leaves out are zeros.
  return seen.empty() ? std::min<int64_t>(count, 1) : static_cast<int64_t>(seen.size());
}

/// Replaces a node by a constant of the same name.
void makeConst(pb::NodeDef &node, pb::TensorProto &&tensor) {
  node.set_op("Const");
  node.clear_input();
  node.clear_attr();
  (*node.mutable_attr())["dtype"].set_type(tensor.dtype());
  *(*node.mutable_attr())["value"].mutable_tensor() = std::move(tensor);
}

} // namespace

RunNodes::RunNodes(const pb::GraphDef &graph) : graph(graph) {
  for (const pb::NodeDef &node : graph.node())
    nodes[node.name()] = &node;
}

void RunNodes::add(StringRef name) {
  SmallVector<StringRef> waiting = {name};
  while (!waiting.empty()) {
    StringRef next = waiting.pop_back_val();
    next.consume_front("^");
    const pb::NodeDef *node = nodes.lookup(nodeOf(next));
    if (node && names.insert(node->name()).second)
      waiting.append(node->input().begin(), node->input().end());
  }
}

void RunNodes::addFrozen(ArrayRef<std::string> outputs) {
  StringSet<> read;
  for (const pb::NodeDef &node : graph.node())
    for (StringRef input : node.input()) {
      input.consume_front("^");
      read.insert(nodeOf(input));
    }
  for (const std::string &output : outputs)
    add(output);
  for (const pb::NodeDef &node : graph.node())
    if (!read.contains(node.name()) && !fillsTable(node.op()) &&
        (outputs.empty() || node.op() == "NoOp"))
      add(node.name());
}

bool bindTables(pb::GraphDef &graph, const TableFiles &files, const RunNodes &run,
                Diagnostics &diagnostics) {
  return TableBinder(graph, files, run, diagnostics).run();
}

void freezeTables(pb::GraphDef &graph) {
  struct Table {
    std::string keys, values;
    int64_t size = 0;
  };
  StringMap<Table> tables;
  StringSet<> names;
  for (const pb::NodeDef &node : graph.node())
    names.insert(node.name());
  std::vector<pb::NodeDef> added;
  for (pb::NodeDef &node : *graph.mutable_node()) {
    if (!isTable(node))
      continue;
    const pb::AttrValue *keys = attributeOf(node, keysAttribute),
                        *values = attributeOf(node, valuesAttribute);
    // The importer refuses a table without contents where an output needs it.
    if (!keys || !values || attributeOf(node, tableErrorAttribute))
      continue;
    pb::TensorProto keyTensor = keys->tensor(), valueTensor = values->tensor();
    Table &table = tables[node.name()];
    table.keys = node.name();
    table.values = node.name() + "/values";
    while (!names.insert(table.values).second)
      table.values += "_";
    table.size = 1;
    for (const auto &dim : keyTensor.tensor_shape().dim())
      table.size *= dim.size();
    // In a mutable table the last one of equal keys wins, so that only different keys count.
    if (isMutable(node))
      table.size = differentKeys(keyTensor, table.size);
    makeConst(node, std::move(keyTensor));
    pb::NodeDef &second = added.emplace_back();
    second.set_name(table.values);
    makeConst(second, std::move(valueTensor));
  }
  Frame main;
  main.addNodes(graph.node());
  for (pb::NodeDef &node : *graph.mutable_node()) {
    // The nodes that fill the tables have been evaluated; as NoOp they do not count as outputs that
    // nothing reads.
    if (fillsTable(node.op()) || readsFile(node.op())) {
      node.set_op("NoOp");
      node.clear_input();
      node.clear_attr();
      continue;
    }
    StringRef op = node.op();
    op.consume_back("V2");
    const bool isSize = op == "LookupTableSize";
    if ((!isSize && op != "LookupTableFind") || node.input_size() != (isSize ? 1 : 3))
      continue;
    const pb::NodeDef *origin = trace(&main, node.input(0));
    auto table = origin ? tables.find(origin->name()) : tables.end();
    if (table == tables.end())
      continue;
    if (isSize) {
      pb::TensorProto size;
      size.set_dtype(pb::DT_INT64);
      size.mutable_tensor_shape();
      size.add_int64_val(table->second.size);
      makeConst(node, std::move(size));
      continue;
    }
    const std::string wanted = node.input(1), fallback = node.input(2);
    node.clear_input();
    for (const std::string &input : {table->second.keys, table->second.values, wanted, fallback})
      node.add_input(input);
  }
  for (pb::NodeDef &node : added)
    *graph.add_node() = std::move(node);
}

} // namespace atc::tf_import
