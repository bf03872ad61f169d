//===-- ModelFacts.cpp - what an ONNX model states about itself -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ModelFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;

namespace atc::onnx_import {

/// Returns the names of the dims of a tensor, "" for a dim without one; null where none has a name
/// or `type` does not have as many dims.
static ArrayAttr dimNamesOf(const onnx::ValueInfoProto &info, Type type, Builder &builder) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const auto &dims = info.type().tensor_type().shape().dim();
  if (!tensor || tensor.getRank() != dims.size() ||
      llvm::all_of(dims, [](const auto &dim) { return dim.dim_param().empty(); }))
    return {};
  SmallVector<StringRef> names;
  for (const auto &dim : dims)
    names.push_back(dim.dim_param());
  return builder.getStrArrayAttr(names);
}

void nameDims(ModuleOp module, const onnx::GraphProto &graph) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Builder builder(module.getContext());
  llvm::StringMap<const onnx::ValueInfoProto *> inputs, outputs;
  for (const onnx::ValueInfoProto &info : graph.input())
    inputs[info.name()] = &info;
  // An output may have been chosen among the tensors inside.
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *list)
      outputs[info.name()] = &info;
  // The context keeps every list of attributes that ever was, and setArgAttr makes one per
  // argument: those of all arguments are set at once.
  auto withNames = [&](DictionaryAttr attributes, const auto &infos, Type type) {
    auto name = attributes ? attributes.getAs<StringAttr>("om.name") : StringAttr();
    const auto *info = name ? infos.lookup(name.getValue()) : nullptr;
    ArrayAttr names = info ? dimNamesOf(*info, type, builder) : ArrayAttr();
    if (!names)
      return attributes;
    NamedAttrList list(attributes);
    list.set("om.dim_names", names);
    return list.getDictionary(module.getContext());
  };
  SmallVector<DictionaryAttr> arguments, results;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    arguments.push_back(withNames(main.getArgAttrDict(index), inputs, type));
  for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
    results.push_back(withNames(main.getResultAttrDict(index), outputs, type));
  main.setAllArgAttrs(arguments);
  main.setAllResultAttrs(results);
}

void keepMetadata(ModuleOp module, const onnx::ModelProto &model) {
  constexpr size_t maxBytes = 4096;
  Builder builder(module.getContext());
  std::map<std::string, std::string> facts;
  for (const onnx::StringStringEntryProto &fact : model.metadata_props())
    if (!fact.key().empty() && fact.key().size() + fact.value().size() <= maxBytes)
      facts[fact.key()] = fact.value();
  SmallVector<NamedAttribute> table;
  for (const auto &[key, value] : facts)
    table.push_back(builder.getNamedAttr(key, builder.getStringAttr(value)));
  if (!table.empty())
    module->setAttr("om.metadata", builder.getDictionaryAttr(table));
}

} // namespace atc::onnx_import
