//===-- GraphTypes.td - values other than dense tensors --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_TYPES_TD
#define OPENATC_GRAPH_TYPES_TD

include "dialects/graph/GraphDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Graph_Type<string name, string mnemonic_, list<Trait> traits = []>
    : TypeDef<Graph_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def Graph_StringType : Graph_Type<"String", "string"> {
  let summary = "Characters, the element type of a tensor";
}

def Graph_SequenceType : Graph_Type<"Sequence", "sequence"> {
  let summary = "A list of values of one type";
  let parameters = (ins "::mlir::Type":$item);
  let assemblyFormat = "`<` $item `>`";
}

def Graph_OptionalType : Graph_Type<"Optional", "optional"> {
  let summary = "A value or none";
  let parameters = (ins "::mlir::Type":$item);
  let assemblyFormat = "`<` $item `>`";
}

def Graph_MapType : Graph_Type<"Map", "map"> {
  let summary = "Values by keys; both are elements of tensors";
  let parameters = (ins "::mlir::Type":$key, "::mlir::Type":$value);
  let assemblyFormat = "`<` $key `,` $value `>`";
}

#endif // OPENATC_GRAPH_TYPES_TD
