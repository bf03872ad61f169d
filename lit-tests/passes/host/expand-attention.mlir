// RUN: atc-opt %s --host-expand-attention --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-attention --split-input-file --remarks-filter=host-expand-attention --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-attention{{.*}}Attention becomes products and maps
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}Attention stays a call of a host kernel: it has a window
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}MultiHeadAttention stays a call of a host kernel: its projections are packed
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}MultiHeadAttention stays a call of a host kernel: its addend is longer than the keys
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}MultiHeadAttention stays a call of a host kernel: its queries and keys are not the same positions
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}MsRotaryEmbedding stays a call of a host kernel: its positions are not known

// REMARK-DAG: [Passed] {{.*}}Category:host-expand-attention{{.*}}GroupQueryAttention becomes products and maps
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}GroupQueryAttention stays a call of a host kernel: its cache holds a window
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}GroupQueryAttention stays a call of a host kernel: its tables of angles have less positions than the keys
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}GroupQueryAttention stays a call of a host kernel: its stated positions may be those of padding
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-attention{{.*}}GroupQueryAttention stays a call of a host kernel: how many positions there are in all is not known

// CHECK-LABEL: func @plain
// CHECK: %[[K:.*]] = graph.transpose %arg1 {permutation = array<i64: 0, 1, 3, 2>}
// CHECK: %[[P:.*]] = graph.matmul %arg0, %[[K]] : (tensor<1x2x4x8xf32>, tensor<1x2x8x5xf32>)
// CHECK: %[[S:.*]] = graph.mul %[[P]]
// CHECK: %[[W:.*]] = graph.softmax %[[S]] {axis = 3 : i64}
// CHECK: %[[Y:.*]] = graph.matmul %[[W]], %arg2
// CHECK: return %[[Y]]
func.func @plain(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x2x4x6xf32> {
  %y = graph.host_call "Attention"(%q, %k, %v) {} : (tensor<1x2x4x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x4x6xf32>
  return %y : tensor<1x2x4x6xf32>
}

// -----

// Four heads share two heads of keys: their queries are rows of one matrix. The past comes first, and is as visible.
// CHECK-LABEL: func @shared
// CHECK: %[[K:.*]] = graph.concat %arg3, %{{.*}} {axis = 2 : i64} : (tensor<1x2x2x4xf32>, tensor<1x2x3x4xf32>)
// CHECK: graph.matmul {{.*}} : (tensor<1x2x6x4xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x6x5xf32>
// CHECK: graph.reshape {{.*}} -> tensor<1x4x3x5xf32>
// CHECK: graph.constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, -3.{{[0-9]*}}E+38, -3.{{[0-9]*}}E+38], [
// CHECK: graph.softmax
// CHECK: return %{{.*}}, %[[K]]
func.func @shared(%q: tensor<1x3x16xf32>, %k: tensor<1x3x8xf32>, %v: tensor<1x3x8xf32>, %pk: tensor<1x2x2x4xf32>, %pv: tensor<1x2x2x4xf32>) -> (tensor<1x3x16xf32>, tensor<1x2x5x4xf32>) {
  %y:2 = graph.host_call "Attention"(%q, %k, %v, %pk, %pv) at [0, 1, 2, 4, 5] {is_causal = array<i64: 1>, kv_num_heads = array<i64: 2>, q_num_heads = array<i64: 4>} : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) -> (tensor<1x3x16xf32>, tensor<1x2x5x4xf32>)
  return %y#0, %y#1 : tensor<1x3x16xf32>, tensor<1x2x5x4xf32>
}

// -----

// A query that sees no key has the result 0.
// CHECK-LABEL: func @bools
// CHECK: graph.where %arg3
// CHECK: %[[W:.*]] = graph.softmax
// CHECK: %[[Z:.*]] = graph.where %arg3, %[[W]], %{{.*}}
// CHECK: graph.matmul %[[Z]]
func.func @bools(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>, %m: tensor<4x4xi1>) -> tensor<1x2x4x8xf32> {
  %y = graph.host_call "Attention"(%q, %k, %v, %m) {} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4x4xi1>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: func @window
// CHECK: host_call "Attention"
func.func @window(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %y = graph.host_call "Attention"(%q, %q, %q) {left_window_size = array<i64: 2>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: func @packed
// CHECK: host_call "MultiHeadAttention"
func.func @packed(%q: tensor<1x4x2x3x8xf32>) -> tensor<1x4x16xf32> {
  %y = graph.host_call "MultiHeadAttention"(%q) {num_heads = array<i64: 2>} : (tensor<1x4x2x3x8xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// An addend for more keys than there are.
// CHECK-LABEL: func @addend_of_more_keys
// CHECK: host_call "MultiHeadAttention"
func.func @addend_of_more_keys(%q: tensor<1x4x16xf32>, %k: tensor<1x5x16xf32>, %v: tensor<1x5x16xf32>, %a: tensor<1x2x4x6xf32>) -> tensor<1x4x16xf32> {
  %y = graph.host_call "MultiHeadAttention"(%q, %k, %v, %a) at [0, 1, 2, 5] {num_heads = array<i64: 2>} : (tensor<1x4x16xf32>, tensor<1x5x16xf32>, tensor<1x5x16xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// Which keys come before a query is not known where there are more of them.
// CHECK-LABEL: func @causal_of_more_keys
// CHECK: host_call "MultiHeadAttention"
func.func @causal_of_more_keys(%q: tensor<1x4x16xf32>, %k: tensor<1x5x16xf32>, %v: tensor<1x5x16xf32>) -> tensor<1x4x16xf32> {
  %y = graph.host_call "MultiHeadAttention"(%q, %k, %v) {num_heads = array<i64: 2>, unidirectional = array<i64: 1>} : (tensor<1x4x16xf32>, tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// Without a mask, queries see all keys.
// CHECK-LABEL: func @more_keys
// CHECK: graph.matmul {{.*}} : (tensor<1x2x4x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x4x5xf32>
// CHECK-NOT: host_call
func.func @more_keys(%q: tensor<1x4x16xf32>, %k: tensor<1x5x16xf32>, %v: tensor<1x5x16xf32>) -> tensor<1x4x16xf32> {
  %y = graph.host_call "MultiHeadAttention"(%q, %k, %v) {num_heads = array<i64: 2>} : (tensor<1x4x16xf32>, tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// Lengths of sequences hide the keys behind them.
// CHECK-LABEL: func @projected
// CHECK: graph.matmul %arg0, %arg1 : (tensor<2x4x8xf32>, tensor<8x24xf32>)
// CHECK: %[[SEEN:.*]] = graph.compare %{{.*}}, %{{.*}} {predicate = #graph<compare_predicate gt>} : (tensor<2x1x1x1xi32>, tensor<1x1x1x4xi32>)
// CHECK: graph.where %[[SEEN]]
// CHECK: graph.softmax
func.func @projected(%x: tensor<2x4x8xf32>, %w: tensor<8x24xf32>, %n: tensor<2xi32>) -> tensor<2x4x8xf32> {
  %y = graph.host_call "MsAttention"(%x, %w, %n) at [0, 1, 3] {num_heads = array<i64: 2>} : (tensor<2x4x8xf32>, tensor<8x24xf32>, tensor<2xi32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// What is not rotated stays behind.
// CHECK-LABEL: func @rotary
// CHECK: graph.slice %arg0 {sizes = array<i64: 1, 2, 4, 2>, starts = array<i64: 0, 0, 0, 6>
// CHECK: graph.sub
// CHECK: graph.add
// CHECK: graph.concat {{.*}} -> tensor<1x2x4x6xf32>
// CHECK: graph.concat {{.*}} -> tensor<1x2x4x8xf32>
func.func @rotary(%x: tensor<1x2x4x8xf32>, %c: tensor<1x4x3xf32>, %s: tensor<1x4x3xf32>) -> tensor<1x2x4x8xf32> {
  %y = graph.host_call "RotaryEmbedding"(%x, %c, %s) {rotary_embedding_dim = array<i64: 6>} : (tensor<1x2x4x8xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: func @positions
// CHECK: graph.slice %arg1 {sizes = array<i64: 4, 4>, starts = array<i64: 5, 0>
// CHECK-NOT: host_call
func.func @positions(%x: tensor<1x4x16xf32>, %c: tensor<12x4xf32>, %s: tensor<12x4xf32>) -> tensor<1x4x16xf32> {
  %p = graph.constant dense<5> : tensor<1xi64>
  %y = graph.host_call "MsRotaryEmbedding"(%x, %p, %c, %s) {} : (tensor<1x4x16xf32>, tensor<1xi64>, tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// CHECK-LABEL: func @unknown_positions
// CHECK: host_call "MsRotaryEmbedding"
func.func @unknown_positions(%x: tensor<1x4x16xf32>, %p: tensor<1x4xi64>, %c: tensor<12x4xf32>) -> tensor<1x4x16xf32> {
  %y = graph.host_call "MsRotaryEmbedding"(%x, %p, %c, %c) {} : (tensor<1x4x16xf32>, tensor<1x4xi64>, tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// -----

// A step of a decoder: the new row is selected into the cache behind the valid ones, the tables are read at its position, and later
// rows of the cache are hidden. Two heads share the keys.
// CHECK-LABEL: func @step
// CHECK: %[[LAST:.*]] = graph.max
// CHECK: graph.gather %arg6, %[[AT:[0-9a-z]*]] {axis = 0 : i64} : (tensor<32x4xf32>, tensor<1x1xi32>)
// CHECK: graph.gather %arg7, %[[AT]]
// CHECK: %[[OLD:.*]] = graph.concat %arg3, %{{.*}} {axis = 2 : i64} : (tensor<1x1x7x8xf32>, tensor<1x1x1x8xf32>)
// CHECK: %[[KEYS:.*]] = graph.where %{{.*}}, %[[OLD]], %{{.*}} : (tensor<1x1x8x1xi1>
// CHECK: graph.matmul %{{.*}} : (tensor<1x1x2x8xf32>, tensor<1x1x8x8xf32>)
// CHECK: graph.where %{{.*}} : (tensor<1x1x1x8xi1>, tensor<1x2x1x8xf32>
// CHECK: graph.softmax
// CHECK: return %{{.*}}, %[[KEYS]]
func.func @step(%q: tensor<1x1x16xf32>, %k: tensor<1x1x8xf32>, %v: tensor<1x1x8xf32>, %pk: tensor<1x1x7x8xf32>, %pv: tensor<1x1x7x8xf32>, %last: tensor<1xi32>, %cos: tensor<32x4xf32>, %sin: tensor<32x4xf32>) -> (tensor<1x1x16xf32>, tensor<1x1x8x8xf32>) {
  %total = graph.constant dense<8> : tensor<1xi32>
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %v, %pk, %pv, %last, %total, %cos, %sin) {do_rotary = array<i64: 1>, kv_num_heads = array<i64: 1>, num_heads = array<i64: 2>} : (tensor<1x1x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x7x8xf32>, tensor<1x1x7x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<32x4xf32>, tensor<32x4xf32>) -> (tensor<1x1x16xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
  return %y#0, %y#1 : tensor<1x1x16xf32>, tensor<1x1x8x8xf32>
}

// -----

// CHECK-LABEL: func @window_cache
// CHECK: host_call "GroupQueryAttention"
func.func @window_cache(%q: tensor<1x1x16xf32>, %k: tensor<1x1x8xf32>, %pk: tensor<1x1x8x8xf32>, %last: tensor<1xi32>) -> tensor<1x1x16xf32> {
  %total = graph.constant dense<8> : tensor<1xi32>
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %k, %pk, %pk, %last, %total) {kv_num_heads = array<i64: 1>, local_window_size = array<i64: 4>, num_heads = array<i64: 2>, sliding_window_cache = array<i64: 1>} : (tensor<1x1x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x1x16xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
  return %y#0 : tensor<1x1x16xf32>
}

// -----

// CHECK-LABEL: func @open_total
// CHECK: host_call "GroupQueryAttention"
func.func @open_total(%q: tensor<1x1x16xf32>, %k: tensor<1x1x8xf32>, %pk: tensor<1x1x8x8xf32>, %last: tensor<1xi32>, %total: tensor<1xi32>) -> tensor<1x1x16xf32> {
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %k, %pk, %pk, %last, %total) {kv_num_heads = array<i64: 1>, num_heads = array<i64: 2>} : (tensor<1x1x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x1x16xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
  return %y#0 : tensor<1x1x16xf32>
}

// -----

// The kernel refuses positions behind the table; a gather would read its last row.
// CHECK-LABEL: func @short_table
// CHECK: host_call "GroupQueryAttention"
func.func @short_table(%q: tensor<1x1x16xf32>, %k: tensor<1x1x8xf32>, %pk: tensor<1x1x7x8xf32>, %last: tensor<1xi32>, %cos: tensor<7x4xf32>) -> tensor<1x1x16xf32> {
  %total = graph.constant dense<8> : tensor<1xi32>
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %k, %pk, %pk, %last, %total, %cos, %cos) {do_rotary = array<i64: 1>, kv_num_heads = array<i64: 1>, num_heads = array<i64: 2>} : (tensor<1x1x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x7x8xf32>, tensor<1x1x7x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<7x4xf32>, tensor<7x4xf32>) -> (tensor<1x1x16xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
  return %y#0 : tensor<1x1x16xf32>
}

// -----

// The kernel rotates padding by position 0, and refuses stated positions of other rows that the tables lack.
// CHECK-LABEL: func @stated_positions
// CHECK: host_call "GroupQueryAttention"
func.func @stated_positions(%q: tensor<1x3x16xf32>, %k: tensor<1x3x8xf32>, %pk: tensor<1x1x8x8xf32>, %last: tensor<1xi32>, %cos: tensor<8x4xf32>, %ids: tensor<1x3xi64>) -> tensor<1x3x16xf32> {
  %total = graph.constant dense<8> : tensor<1xi32>
  %y:3 = graph.host_call "GroupQueryAttention"(%q, %k, %k, %pk, %pk, %last, %total, %cos, %cos, %ids) {do_rotary = array<i64: 1>, kv_num_heads = array<i64: 1>, num_heads = array<i64: 2>} : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1x3xi64>) -> (tensor<1x3x16xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>)
  return %y#0 : tensor<1x3x16xf32>
}
