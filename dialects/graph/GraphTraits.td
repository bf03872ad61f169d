//===-- GraphTraits.td - facts about graph ops ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fact that several passes ask for is a trait that an op states once. OpTraits.h
// defines what each means.
//
//===----------------------------------------------------------------------===//

#ifndef OPENATC_GRAPH_TRAITS_TD
#define OPENATC_GRAPH_TRAITS_TD

include "mlir/IR/OpBase.td"

class Graph_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::atc::graph";
}

def Graph_IsContraction : Graph_Trait<"IsContraction">;
def Graph_AddsBias : Graph_Trait<"AddsBias">;
def Graph_OnlyMovesElements : Graph_Trait<"OnlyMovesElements">;
def Graph_KeepsShape : Graph_Trait<"KeepsShape">;
def Graph_ConvertsQuantized : Graph_Trait<"ConvertsQuantized">;
def Graph_RunsOnHost : Graph_Trait<"RunsOnHost">;

#endif // OPENATC_GRAPH_TRAITS_TD
