// RUN: atc-opt %s --canonicalize --graph-release-constants --mlir-pass-statistics --mlir-pass-statistics-display=list 2>&1 | FileCheck %s

// Only the constant that nothing reads goes, and only if the project made it: its
// name begins with atc_.
// CHECK: ReleaseConstants
// CHECK-DAG: 12 num-bytes
// CHECK-DAG: 1 num-released
// CHECK-LABEL: func @constants
// CHECK: graph.constant dense_resource<atc_used> : tensor<2xf32>
// CHECK: atc_used: "0x040000000000803F00000040"
func.func @constants() -> tensor<2xf32> {
  %0 = graph.constant dense_resource<atc_used> : tensor<2xf32>
  %1 = graph.constant dense_resource<atc_dead> : tensor<3xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      atc_used: "0x040000000000803F00000040",
      atc_dead: "0x040000000000803F0000004000004040",
      foreign: "0x040000000000803F"
    }
  }
#-}
