// RUN: atc-opt %s --graph-release-constants | FileCheck %s

// What the module refers to keeps its data, also where it is not an operand.
// CHECK-LABEL: func @constants
// CHECK-SAME: dense_resource<atc_attribute>
// CHECK: graph.constant dense_resource<atc_used> : tensor<2xf32>
// CHECK-DAG: atc_used: "0x040000000000803F00000040"
// CHECK-DAG: atc_attribute: "0x0400000000004040"
func.func @constants() -> tensor<2xf32> attributes {test.value = dense_resource<atc_attribute> : tensor<1xf32>} {
  %0 = graph.constant dense_resource<atc_used> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      atc_used: "0x040000000000803F00000040",
      atc_attribute: "0x0400000000004040",
      atc_dead: "0x040000000000803F0000004000004040"
    }
  }
#-}
