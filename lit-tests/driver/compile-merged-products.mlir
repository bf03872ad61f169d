// RUN: atc-opt %s --compile="stop-after=graph soc=Ascend910B1" | FileCheck %s --check-prefix=ONE
// RUN: atc-opt %s --compile="stop-after=graph" | FileCheck %s --check-prefix=ONE
// RUN: atc-opt %s --compile="stop-after=graph soc=Ascend310P3" | FileCheck %s --check-prefix=TWO
// RUN: atc-opt %s --compile="stop-after=graph soc=Ascend310B1" | FileCheck %s --check-prefix=TWO

// Queries and keys are one product on the CPU and where weights wait in L2.

// ONE: graph.fully_connected {{.*}} -> tensor<16x64xf32>
// ONE-COUNT-2: graph.slice {{.*}} -> tensor<16x32xf32>
// ONE-NOT: graph.fully_connected
// TWO-COUNT-2: graph.fully_connected {{.*}} -> tensor<16x32xf32>
// TWO-NOT: graph.slice
func.func @main(%x: tensor<16x32xf32> {om.name = "x"}) -> (tensor<16x16xf32> {om.name = "y"}) {
  %wq = graph.constant dense<0.25> : tensor<32x32xf32>
  %wk = graph.constant dense<0.5> : tensor<32x32xf32>
  %q = graph.fully_connected %x, %wq : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %k = graph.fully_connected %x, %wk : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %t = graph.transpose %k {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %y = graph.matmul %q, %t : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
