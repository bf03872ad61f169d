// RUN: atc-opt %s -split-input-file -host-tile-dynamic-dim=sizes=8,1 --remarks-filter=host-tile-dynamic-dim --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// REMARK: [Passed] Tiled | Category:host-tile-dynamic-dim{{.*}}the model runs in tiles of 8, 1 along dynamic dim 'N'

// The dim is carried through convolutions, pools, reshapes, products and softmax. Each size
// has its function; @main calls the loop.
// CHECK-LABEL: module attributes {graph.name = "net"}
// CHECK: func.func @main(%[[X:.*]]: tensor<?x4x8x8xf32> {om.name = "x"}, %[[S:.*]]: tensor<4xf32>) -> tensor<?x10xf32>
// CHECK-NEXT: %[[Y:.*]] = call @tiles(%[[X]], %[[S]]) : (tensor<?x4x8x8xf32>, tensor<4xf32>) -> tensor<?x10xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @tile_8(%{{.*}}: tensor<8x4x8x8xf32> {om.name = "x"}, %{{.*}}: tensor<4xf32>) -> tensor<8x10xf32> attributes {host.part}
// CHECK: graph.conv {{.*}} -> tensor<8x6x8x8xf32>
// CHECK: graph.slice {{.*}}{sizes = array<i64: 8, 6, 8, 4>{{.*}} -> tensor<8x6x8x4xf32>
// CHECK: graph.concat {{.*}} -> tensor<8x6x8x12xf32>
// CHECK: graph.max_pool {{.*}} -> tensor<8x6x4x6xf32>
// CHECK: graph.reshape {{.*}} -> tensor<8x144xf32>
// CHECK: graph.matmul {{.*}} -> tensor<8x10xf32>
// CHECK: graph.softmax {{.*}} -> tensor<8x10xf32>
// CHECK: func.func private @tile_1(%{{.*}}: tensor<1x4x8x8xf32> {om.name = "x"}, %{{.*}}: tensor<4xf32>) -> tensor<1x10xf32> attributes {host.part}
// CHECK: graph.slice {{.*}}{sizes = array<i64: 1, 6, 8, 4>
// CHECK: func.func private @tiles(tensor<?x4x8x8xf32>, tensor<4xf32>) -> tensor<?x10xf32> attributes {host.input_dims = array<i64: 0, -1>, host.output_dims = array<i64: 0>, host.tile_sizes = array<i64: 8, 1>, host.tiles = [@tile_8, @tile_1]}
module attributes {graph.name = "net", graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4x8x8xf32> {om.name = "x"}, %s: tensor<4xf32>) -> tensor<10007x10xf32> {
    %w = graph.constant dense<1.0> : tensor<6x4x3x3xf32>
    %v = graph.constant dense<1.0> : tensor<144x10xf32>
    %r = graph.reshape %s : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %a = graph.mul %x, %r : (tensor<10007x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<10007x4x8x8xf32>
    %c = graph.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<10007x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<10007x6x8x8xf32>
    %p = graph.slice %c {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 10007, 6, 8, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<10007x6x8x8xf32>) -> tensor<10007x6x8x4xf32>
    %k = graph.concat %c, %p {axis = 3 : i64} : (tensor<10007x6x8x8xf32>, tensor<10007x6x8x4xf32>) -> tensor<10007x6x8x12xf32>
    %m = graph.max_pool %k {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<10007x6x8x12xf32>) -> tensor<10007x6x4x6xf32>
    %f = graph.reshape %m : (tensor<10007x6x4x6xf32>) -> tensor<10007x144xf32>
    %l = graph.matmul %f, %v : (tensor<10007x144xf32>, tensor<144x10xf32>) -> tensor<10007x10xf32>
    %y = graph.softmax %l {axis = 1 : i64} : (tensor<10007x10xf32>) -> tensor<10007x10xf32>
    return %y : tensor<10007x10xf32>
  }
}

// -----

// Heads merge with the dim and part from it again; a position embedding that stands once for
// each index is cut to the tile; embeddings are chosen by indices that carry the dim.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x6xi64>) -> (tensor<6x?x4xf32>, tensor<?x6xi64>)
// CHECK: func.func private @tile_8(
// CHECK: graph.constant dense<{{.*}}> : tensor<8x1xf32>
// CHECK: graph.gather {{.*}} -> tensor<8x6x4xf32>
// CHECK: graph.reshape {{.*}} -> tensor<16x3x4xf32>
// CHECK: graph.matmul {{.*}} -> tensor<16x3x3xf32>
// CHECK: graph.expand {{.*}} -> tensor<8x1xf32>
// CHECK: graph.transpose {{.*}} -> tensor<6x8x4xf32>
// CHECK: host.output_dims = array<i64: 1, 0>
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x6xi64>) -> (tensor<6x10007x4xf32>, tensor<10007x6xi64>) {
    %e = graph.constant dense<1.0> : tensor<100x4xf32>
    %one = graph.constant dense<1.0> : tensor<1x1xf32>
    %p = graph.constant dense<2.0> : tensor<10007x1xf32>
    %t = graph.gather %e, %x {axis = 0 : i64} : (tensor<100x4xf32>, tensor<10007x6xi64>) -> tensor<10007x6x4xf32>
    %h = graph.reshape %t : (tensor<10007x6x4xf32>) -> tensor<20014x3x4xf32>
    %k = graph.transpose %h {permutation = array<i64: 0, 2, 1>} : (tensor<20014x3x4xf32>) -> tensor<20014x4x3xf32>
    %s = graph.matmul %h, %k : (tensor<20014x3x4xf32>, tensor<20014x4x3xf32>) -> tensor<20014x3x3xf32>
    %o = graph.matmul %s, %h : (tensor<20014x3x3xf32>, tensor<20014x3x4xf32>) -> tensor<20014x3x4xf32>
    %m = graph.reshape %o : (tensor<20014x3x4xf32>) -> tensor<10007x6x4xf32>
    %q = graph.expand %one : (tensor<1x1xf32>) -> tensor<10007x1xf32>
    %r = graph.add %q, %p : (tensor<10007x1xf32>, tensor<10007x1xf32>) -> tensor<10007x1xf32>
    %u = graph.reshape %r : (tensor<10007x1xf32>) -> tensor<10007x1x1xf32>
    %v = graph.add %m, %u : (tensor<10007x6x4xf32>, tensor<10007x1x1xf32>) -> tensor<10007x6x4xf32>
    %w = graph.transpose %v {permutation = array<i64: 1, 0, 2>} : (tensor<10007x6x4xf32>) -> tensor<6x10007x4xf32>
    return %w, %x : tensor<6x10007x4xf32>, tensor<10007x6xi64>
  }
}

// -----

// A module without a placeholder is none of this pass's.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<10007xf32>) -> tensor<10007xf32>
// CHECK-NOT: call
// CHECK: return
func.func @main(%x: tensor<10007xf32>) -> tensor<10007xf32> {
  %a = graph.relu %x : (tensor<10007xf32>) -> tensor<10007xf32>
  return %a : tensor<10007xf32>
}

// -----

// Whatever mixes the indices leaves the model as it is.
// REMARK: [Missed] NotTiled | Category:host-tile-dynamic-dim{{.*}}not tiled along dynamic dim 'N': graph.reduce reduces it
// CHECK-LABEL: module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64}
// CHECK: func.func @main(%{{.*}}: tensor<10007x4xf32>)
// CHECK-NOT: call
// CHECK: return
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x4xf32> {
    %m = graph.reduce %x {kind = #graph<reduce_kind mean>, axes = array<i64: 0>, keepdims = true} : (tensor<10007x4xf32>) -> tensor<1x4xf32>
    %a = graph.sub %x, %m : (tensor<10007x4xf32>, tensor<1x4xf32>) -> tensor<10007x4xf32>
    return %a : tensor<10007x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.softmax normalizes along it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x4xf32> {
    %a = graph.softmax %x {axis = 0 : i64} : (tensor<10007x4xf32>) -> tensor<10007x4xf32>
    return %a : tensor<10007x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.reshape mixes it with the dims before it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<2x10007x4xf32>) -> tensor<20014x4xf32> {
    %a = graph.reshape %x : (tensor<2x10007x4xf32>) -> tensor<20014x4xf32>
    return %a : tensor<20014x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.matmul sums over it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<4x10007xf32>, %y: tensor<10007x4xf32>) -> tensor<4x4xf32> {
    %a = graph.matmul %x, %y : (tensor<4x10007xf32>, tensor<10007x4xf32>) -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}

// -----

// Every index with every other: a square of the dim.
// REMARK: not tiled along dynamic dim 'N': graph.matmul combines each of its indices with each
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x10007xf32> {
    %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<10007x4xf32>) -> tensor<4x10007xf32>
    %a = graph.matmul %x, %t : (tensor<10007x4xf32>, tensor<4x10007xf32>) -> tensor<10007x10007xf32>
    return %a : tensor<10007x10007xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.add has it at different dims of two operands
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x1xf32>) -> tensor<10007x10007xf32> {
    %t = graph.reshape %x : (tensor<10007x1xf32>) -> tensor<1x10007xf32>
    %a = graph.add %x, %t : (tensor<10007x1xf32>, tensor<1x10007xf32>) -> tensor<10007x10007xf32>
    return %a : tensor<10007x10007xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.concat concatenates along it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<20014x4xf32> {
    %a = graph.concat %x, %x {axis = 0 : i64} : (tensor<10007x4xf32>, tensor<10007x4xf32>) -> tensor<20014x4xf32>
    return %a : tensor<20014x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.slice takes some of its elements
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x4xf32> {
    %a = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 1, 4>, steps = array<i64: 1, 1>} : (tensor<10007x4xf32>) -> tensor<1x4xf32>
    %b = graph.add %x, %a : (tensor<10007x4xf32>, tensor<1x4xf32>) -> tensor<10007x4xf32>
    return %b : tensor<10007x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.gather chooses elements along it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
    %a = graph.gather %x, %i {axis = 0 : i64} : (tensor<10007x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    return %a : tensor<3x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.pad pads it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10008x4xf32> {
    %a = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>, mode = #graph<pad_mode constant>} : (tensor<10007x4xf32>) -> tensor<10008x4xf32>
    return %a : tensor<10008x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': graph.tile repeats it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<20014x4xf32> {
    %a = graph.tile %x {repeats = array<i64: 2, 1>} : (tensor<10007x4xf32>) -> tensor<20014x4xf32>
    return %a : tensor<20014x4xf32>
  }
}

// -----

// The channels of a convolution are summed over.
// REMARK: not tiled along dynamic dim 'N': graph.conv combines elements along it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<1x1x10007x4xf32>) -> tensor<1x2x10007x4xf32> {
    %w = graph.constant dense<1.0> : tensor<2x1x3x3xf32>
    %a = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x10007x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x10007x4xf32>
    return %a : tensor<1x2x10007x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': a constant differs along it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 5 : i64} {
  func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
    %c = graph.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
    %a = graph.add %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    return %a : tensor<5xf32>
  }
}

// -----

// What an importer computes from the dim: a number of elements, and one over it.
// REMARK: not tiled along dynamic dim 'N': a constant is computed from its size
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x4xf32> {
    %c = graph.constant dense<2.498251e-05> : tensor<f32>
    %a = graph.mul %x, %c : (tensor<10007x4xf32>, tensor<f32>) -> tensor<10007x4xf32>
    return %a : tensor<10007x4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': a constant is computed from its size
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xi64>) -> tensor<10007x4xi64> {
    %c = graph.constant dense<40028> : tensor<i64>
    %a = graph.add %x, %c : (tensor<10007x4xi64>, tensor<i64>) -> tensor<10007x4xi64>
    return %a : tensor<10007x4xi64>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': there is no rule for a call of Identity
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007xf32>) -> tensor<10007xf32> {
    %a = graph.host_call "Identity"(%x) {} : (tensor<10007xf32>) -> tensor<10007xf32>
    return %a : tensor<10007xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': a result of the model does not grow with it
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007xf32>, %y: tensor<4xf32>) -> (tensor<10007xf32>, tensor<4xf32>) {
    return %x, %y : tensor<10007xf32>, tensor<4xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': an input has it in two dims
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x10007xf32>) -> tensor<10007x10007xf32> {
    return %x : tensor<10007x10007xf32>
  }
}

// -----

// Sums of products of bytes carry the dim, as those of floats do.
// CHECK-LABEL: func.func private @tile_8(%{{.*}}: tensor<8x4x4x4xui8>
// CHECK: graph.integer_conv {{.*}} -> tensor<8x6x4x4xi32>
// CHECK: graph.integer_fully_connected {{.*}} -> tensor<8x5xi32>
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4x4x4xui8>) -> tensor<10007x5xi32> {
    %w = graph.constant dense<1> : tensor<6x4x3x3xi8>
    %v = graph.constant dense<1> : tensor<5x96xi8>
    %c = graph.integer_conv %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<10007x4x4x4xui8>, tensor<6x4x3x3xi8>) -> tensor<10007x6x4x4xi32>
    %b = graph.cast %c : (tensor<10007x6x4x4xi32>) -> tensor<10007x6x4x4xui8>
    %f = graph.reshape %b : (tensor<10007x6x4x4xui8>) -> tensor<10007x96xui8>
    %l = graph.integer_fully_connected %f, %v {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<10007x96xui8>, tensor<5x96xi8>) -> tensor<10007x5xi32>
    return %l : tensor<10007x5xi32>
  }
}

// -----

// Calls that compute each image of a batch alone have ops once the size of a tile is known.
// CHECK-LABEL: func.func private @tile_8(%{{.*}}: tensor<8x4x6x6xf32>
// CHECK: graph.host_call "GridSample"{{.*}} -> tensor<8x4x3x3xf32>
// CHECK: graph.host_call "TopK"{{.*}} -> (tensor<8x2x3x3xf32>, tensor<8x2x3x3xi64>)
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4x6x6xf32>, %g: tensor<10007x3x3x2xf32>) -> tensor<10007x2x3x3xf32> {
    %k = graph.constant dense<2> : tensor<1xi64>
    %s = graph.host_call "GridSample"(%x, %g) {} : (tensor<10007x4x6x6xf32>, tensor<10007x3x3x2xf32>) -> tensor<10007x4x3x3xf32>
    %t:2 = graph.host_call "TopK"(%s, %k) {axis = array<i64: 1>} : (tensor<10007x4x3x3xf32>, tensor<1xi64>) -> (tensor<10007x2x3x3xf32>, tensor<10007x2x3x3xi64>)
    return %t#0 : tensor<10007x2x3x3xf32>
  }
}

// -----

// REMARK: not tiled along dynamic dim 'N': there is no rule for a call of TopK
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%x: tensor<10007x4xf32>) -> tensor<2x4xf32> {
    %k = graph.constant dense<2> : tensor<1xi64>
    %t:2 = graph.host_call "TopK"(%x, %k) {axis = array<i64: 0>} : (tensor<10007x4xf32>, tensor<1xi64>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
    return %t#0 : tensor<2x4xf32>
  }
}

// -----

// The first dim of a mask of three is that of the heads.
// REMARK: not tiled along dynamic dim 'N': there is no rule for a call of Attention
module attributes {graph.dynamic_dim = "N", graph.dynamic_dim_size = 10007 : i64} {
  func.func @main(%q: tensor<10007x4x3x8xf32>, %m: tensor<10007x3x3xf32>) -> tensor<10007x4x3x8xf32> {
    %a = graph.host_call "Attention"(%q, %q, %q, %m) {} : (tensor<10007x4x3x8xf32>, tensor<10007x4x3x8xf32>, tensor<10007x4x3x8xf32>, tensor<10007x3x3xf32>) -> tensor<10007x4x3x8xf32>
    return %a : tensor<10007x4x3x8xf32>
  }
}
