//===-- Interpretation.cpp - runs a module by the names of its tensors ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Interpretation.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// The name that the importer gave a value: the outer name of its location. A
/// fused op has the name of its last part.
std::string tensorName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return tensorName(fused.getLocations().back());
  return "";
}

std::string attrName(DictionaryAttr attributes, const std::string &otherwise) {
  auto name = attributes ? attributes.getAs<StringAttr>("om.name") : StringAttr();
  return name ? name.str() : otherwise;
}

} // namespace

om_dtype dtypeOf(Type type) {
  bool isUnsigned = type.isUnsignedInteger();
  if (type.isF32())
    return OM_F32;
  if (type.isF64())
    return OM_F64;
  if (type.isF16())
    return OM_F16;
  if (type.isBF16())
    return OM_BF16;
  if (type.isInteger(1))
    return OM_BOOL;
  if (type.isInteger(8))
    return isUnsigned ? OM_U8 : OM_I8;
  if (type.isInteger(16))
    return isUnsigned ? OM_U16 : OM_I16;
  if (type.isInteger(32))
    return isUnsigned ? OM_U32 : OM_I32;
  if (type.isInteger(64))
    return isUnsigned ? OM_U64 : OM_I64;
  return OM_UNDEFINED;
}

::om::Tensor describeTensor(const std::string &name, RankedTensorType type) {
  uint64_t elements = type.getNumElements();
  return {name,
          dtypeOf(type.getElementType()),
          type.getShape().vec(),
          elements,
          elements * graph::getElementBytes(type.getElementType()),
          OM_INPUT,
          0};
}

func::FuncOp findInterpretable(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  return function && function.getBody().hasOneBlock() ? function : func::FuncOp();
}

std::string argumentName(func::FuncOp function, unsigned index) {
  return attrName(function.getArgAttrDict(index), "arg" + std::to_string(index));
}

std::string resultName(func::FuncOp function, unsigned index) {
  return attrName(function.getResultAttrDict(index), "result" + std::to_string(index));
}

FailureOr<SmallVector<graph::Tensor>>
interpretNamed(func::FuncOp function, ArrayRef<graph::Tensor> arguments,
               llvm::function_ref<void(const std::string &, const graph::Tensor &)> callback) {
  llvm::DenseSet<Value> seen;
  auto results =
      graph::evaluateFunction(function, arguments, [&](Value value, const graph::Tensor &tensor) {
        // The name of an op is that of its first result.
        auto result = dyn_cast<OpResult>(value);
        // A loop is left out, as its first result is its counter.
        if (result && (isa<graph::ConstantOp, graph::LoopOp>(result.getOwner()) ||
                       result.getResultNumber() != 0))
          return;
        // A block argument that a loop carries is left out, as it has the name of the loop's
        // result.
        if (!result && value.getParentBlock() != &function.getBody().front())
          return;
        std::string name = tensorName(value.getLoc());
        if (!name.empty() && seen.insert(value).second)
          callback(name, tensor);
      });
  if (succeeded(results))
    for (auto [index, result] : llvm::enumerate(*results))
      callback(resultName(function, index), result);
  return results;
}

} // namespace atc::driver
