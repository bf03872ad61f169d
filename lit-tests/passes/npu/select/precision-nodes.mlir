// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16}))' | FileCheck %s
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=origin}))' | FileCheck %s

// What the list names computes in f32 between casts, whatever the mode is. A node without a name
// goes by its tensor, also where a pass has added a suffix.
// CHECK: func.func @main(%[[X:[^:]*]]: tensor<8xf32>, %[[N:[^:]*]]: tensor<8xf16>)
// CHECK: %[[H:.*]] = graph.cast %[[X]] : (tensor<8xf32>) -> tensor<8xf16>
// CHECK: %[[E:.*]] = graph.exp %[[H]] : (tensor<8xf16>) -> tensor<8xf16>
// CHECK: %[[W:.*]] = graph.cast %[[E]] : (tensor<8xf16>) -> tensor<8xf32>
// CHECK: %[[S:.*]] = graph.mul %[[W]], %[[W]] : {{.*}} -> tensor<8xf32>
// CHECK: %[[R:.*]] = graph.sqrt %[[S]] : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: graph.tanh {{.*}} : (tensor<8xf16>) -> tensor<8xf16>
// An f16 of the model becomes f32 where that is asked for.
// CHECK: %[[M:.*]] = graph.cast %[[N]] : (tensor<8xf16>) -> tensor<8xf32>
// CHECK: graph.neg %[[M]] : (tensor<8xf32>) -> tensor<8xf32>
module attributes {graph.float32_nodes = ["negate", "root", "square"]} {
  func.func @main(%x: tensor<8xf32>, %h: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32> loc("a"("exp"))
    %1 = graph.mul %0, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("b"("square"))
    %2 = graph.sqrt %1 : (tensor<8xf32>) -> tensor<8xf32> loc("root.part")
    %3 = graph.tanh %2 : (tensor<8xf32>) -> tensor<8xf32> loc("d"("tanh"))
    %4 = graph.cast %h : (tensor<8xf16>) -> tensor<8xf32> loc("e"("cast"))
    %5 = graph.neg %4 : (tensor<8xf32>) -> tensor<8xf32> loc("f"("negate"))
    return %3, %5 : tensor<8xf32>, tensor<8xf32>
  }
}
