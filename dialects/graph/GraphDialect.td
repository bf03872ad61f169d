//===-- GraphDialect.td - the graph dialect ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_DIALECT_TD
#define OPENATC_GRAPH_DIALECT_TD

include "dialects/graph/GraphTraits.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::atc::graph";
  let summary = "Target-independent tensor operators of a neural network";
  let description = [{
    The dialect that every frontend writes and every target reads. Its operators
    are canonical: pads, axes and modes are explicit, optional behaviour of the
    source format is resolved by the importer, convolutions are NCHW.

    A tensor type may carry a `#graph.layout` encoding. The shape remains the
    logical one (NCHW); the encoding describes the layout in memory.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::quant::QuantDialect"];
}

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits # [Pure]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// An operator whose result type follows from its operands and attributes. The
// encoding of the result is free: the layout pass assigns it. An operator
// defines one function, `inferType`, that checks operands and attributes and
// returns the result type without an encoding; inference, the verifier and the
// interpreter use it.
class Graph_InferOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, traits # [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs);
    static ::mlir::FailureOr<::mlir::RankedTensorType>
    inferType(Adaptor adaptor, ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
  code inferDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      auto type = inferType(Adaptor(operands, attributes, properties, regions), [&] {
        return ::atc::graph::detail::emitInferenceError(location, getOperationName());
      });
      if (failed(type))
        return ::mlir::failure();
      types.push_back(*type);
      return ::mlir::success();
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::atc::graph::detail::areCompatibleTypes(lhs, rhs);
    }
    ::llvm::LogicalResult $cppClass::verify() {
      auto emitError = [&] { return emitOpError(); };
      return ::atc::graph::detail::verifyResultType(getResult(), inferType(Adaptor(*this), emitError),
                                                    emitError);
    }
  }];
  let extraClassDefinition = inferDefinition;
}

#endif // OPENATC_GRAPH_DIALECT_TD
