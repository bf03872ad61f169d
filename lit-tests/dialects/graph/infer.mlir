// RUN: atc-opt %s --graph-infer-shapes | FileCheck %s

// Results are written with unknown dims; inference must find the known ones.

// CHECK-LABEL: func.func @conv(
func.func @conv(%x0: tensor<2x4x9x8xf32>, %x1: tensor<6x2x3x3xf32>) {
  // CHECK: graph.conv {{.*}} -> tensor<2x6x5x6xf32>{{$}}
  %0 = graph.conv %x0, %x1 {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 2>, dilations = array<i64: 1, 2>, groups = 2 : i64} : (tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @conv_unknown(
func.func @conv_unknown(%x0: tensor<?x4x?x8xf32>, %x1: tensor<6x4x3x3xf32>) {
  // CHECK: graph.conv {{.*}} -> tensor<?x6x?x8xf32>{{$}}
  %0 = graph.conv %x0, %x1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x?x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @conv_1d(
func.func @conv_1d(%x0: tensor<1x2x10xf32>, %x1: tensor<3x2x4xf32>) {
  // CHECK: graph.conv {{.*}} -> tensor<1x3x3xf32>{{$}}
  %0 = graph.conv %x0, %x1 {strides = array<i64: 3>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x10xf32>, tensor<3x2x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @conv_transpose(
func.func @conv_transpose(%x0: tensor<1x4x5x5xf32>, %x1: tensor<4x3x3x3xf32>) {
  // CHECK: graph.conv_transpose {{.*}} -> tensor<1x6x10x9xf32>{{$}}
  %0 = graph.conv_transpose %x0, %x1 {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, output_padding = array<i64: 1, 0>} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @max_pool(
func.func @max_pool(%x0: tensor<1x3x7x8xf32>) {
  // CHECK: graph.max_pool {{.*}} -> tensor<1x3x4x4xf32>{{$}}
  %0 = graph.max_pool %x0 {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x7x8xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @max_pool_ceil(
func.func @max_pool_ceil(%x0: tensor<1x3x8x9xf32>) {
  // CHECK: graph.max_pool {{.*}} -> tensor<1x3x4x5xf32>{{$}}
  %0 = graph.max_pool %x0 {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x3x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// A part of a window is one in ceil mode.
// CHECK-LABEL: func.func @max_pool_ceil_part(
func.func @max_pool_ceil_part(%x0: tensor<1x3x2x9xf32>) {
  // CHECK: graph.max_pool {{.*}} -> tensor<1x3x1x5xf32>{{$}}
  %0 = graph.max_pool %x0 {kernel = array<i64: 6, 2>, strides = array<i64: 5, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x3x2x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @max_pool_ceil_left_out(
func.func @max_pool_ceil_left_out(%x0: tensor<1x1x4xf32>) {
  // CHECK: graph.max_pool {{.*}} -> tensor<1x1x2xf32>{{$}}
  %0 = graph.max_pool %x0 {kernel = array<i64: 2>, strides = array<i64: 3>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x1x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @average_pool_unknown(
func.func @average_pool_unknown(%x0: tensor<1x3x?x8xf32>) {
  // CHECK: graph.average_pool {{.*}} -> tensor<1x3x?x4xf32>{{$}}
  %0 = graph.average_pool %x0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x?x8xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm(
func.func @batch_norm(%x0: tensor<2x4x3xf32>, %x1: tensor<4xf32>, %x2: tensor<4xf32>, %x3: tensor<4xf32>, %x4: tensor<4xf32>) {
  // CHECK: graph.batch_norm {{.*}} -> tensor<2x4x3xf32>{{$}}
  %0 = graph.batch_norm %x0, %x1, %x2, %x3, %x4 {epsilon = 0.0} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%x0: tensor<5x1x2x3xf32>, %x1: tensor<4x3x7xf32>) {
  // CHECK: graph.matmul {{.*}} -> tensor<5x4x2x7xf32>{{$}}
  %0 = graph.matmul %x0, %x1 : (tensor<5x1x2x3xf32>, tensor<4x3x7xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @matmul_vectors(
func.func @matmul_vectors(%x0: tensor<3xf32>, %x1: tensor<4x3x7xf32>) {
  // CHECK: graph.matmul {{.*}} -> tensor<4x7xf32>{{$}}
  %0 = graph.matmul %x0, %x1 : (tensor<3xf32>, tensor<4x3x7xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @matmul_unknown(
func.func @matmul_unknown(%x0: tensor<?x2x3xf32>, %x1: tensor<3x7xf32>) {
  // CHECK: graph.matmul {{.*}} -> tensor<?x2x7xf32>{{$}}
  %0 = graph.matmul %x0, %x1 : (tensor<?x2x3xf32>, tensor<3x7xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @fully_connected(
func.func @fully_connected(%x0: tensor<5x2x3xf32>, %x1: tensor<4x3xf32>) {
  // CHECK: graph.fully_connected {{.*}} -> tensor<5x2x4xf32>{{$}}
  %0 = graph.fully_connected %x0, %x1 : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @reduce(
func.func @reduce(%x0: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce {{.*}} -> tensor<1x3x1xf32>{{$}}
  %0 = graph.reduce %x0 {kind = #graph<reduce_kind max>, axes = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @reduce_dropped(
func.func @reduce_dropped(%x0: tensor<2x?x4xf32>) {
  // CHECK: graph.reduce {{.*}} -> tensor<?x4xf32>{{$}}
  %0 = graph.reduce %x0 {kind = #graph<reduce_kind max>, axes = array<i64: 0>, keepdims = false} : (tensor<2x?x4xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @reduce_nothing(
func.func @reduce_nothing(%x0: tensor<2x3xf32>) {
  // CHECK: graph.reduce {{.*}} -> tensor<2x3xf32>{{$}}
  %0 = graph.reduce %x0 {kind = #graph<reduce_kind max>, axes = array<i64>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @softmax(
func.func @softmax(%x0: tensor<2x3xf32>) {
  // CHECK: graph.softmax {{.*}} -> tensor<2x3xf32>{{$}}
  %0 = graph.softmax %x0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x0: tensor<2x?x4xf32>) {
  // CHECK: graph.transpose {{.*}} -> tensor<4x2x?xf32>{{$}}
  %0 = graph.transpose %x0 {permutation = array<i64: 2, 0, 1>} : (tensor<2x?x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @tile(
func.func @tile(%x0: tensor<2x3xf32>) {
  // CHECK: graph.tile {{.*}} -> tensor<4x0xf32>{{$}}
  %0 = graph.tile %x0 {repeats = array<i64: 2, 0>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @concat(
func.func @concat(%x0: tensor<2x3x4xf32>, %x1: tensor<2x5x4xf32>) {
  // CHECK: graph.concat {{.*}} -> tensor<2x8x4xf32>{{$}}
  %0 = graph.concat %x0, %x1 {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @concat_unknown(
func.func @concat_unknown(%x0: tensor<?x3x4xf32>, %x1: tensor<2x?x4xf32>) {
  // CHECK: graph.concat {{.*}} -> tensor<2x?x4xf32>{{$}}
  %0 = graph.concat %x0, %x1 {axis = 1 : i64} : (tensor<?x3x4xf32>, tensor<2x?x4xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%x0: tensor<2x?x9xf32>) {
  // CHECK: graph.slice {{.*}} -> tensor<2x?x3xf32>{{$}}
  %0 = graph.slice %x0 {starts = array<i64: 0, 0, 8>, sizes = array<i64: -1, -1, 3>, steps = array<i64: 1, 1, -4>} : (tensor<2x?x9xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%x0: tensor<2x3xf32>) {
  // CHECK: graph.pad {{.*}} -> tensor<3x6xf32>{{$}}
  %0 = graph.pad %x0 {low = array<i64: 1, -1>, high = array<i64: 0, 4>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @pad_unknown(
func.func @pad_unknown(%x0: tensor<?x?x3xf32>) {
  // CHECK: graph.pad {{.*}} -> tensor<?x?x4xf32>{{$}}
  %0 = graph.pad %x0 {low = array<i64: 0, 1, 1>, high = array<i64: 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<?x?x3xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @gather(
func.func @gather(%x0: tensor<2x3x4xf32>, %x1: tensor<5x6xi64>) {
  // CHECK: graph.gather {{.*}} -> tensor<2x5x6x4xf32>{{$}}
  %0 = graph.gather %x0, %x1 {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<5x6xi64>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @gather_scalar(
func.func @gather_scalar(%x0: tensor<2x3xf32>, %x1: tensor<i64>) {
  // CHECK: graph.gather {{.*}} -> tensor<3xf32>{{$}}
  %0 = graph.gather %x0, %x1 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @depth_to_space(
func.func @depth_to_space(%x0: tensor<1x12x2x?xf32>) {
  // CHECK: graph.depth_to_space {{.*}} -> tensor<1x3x4x?xf32>{{$}}
  %0 = graph.depth_to_space %x0 {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x12x2x?xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @space_to_depth(
func.func @space_to_depth(%x0: tensor<1x3x4x6xf32>) {
  // CHECK: graph.space_to_depth {{.*}} -> tensor<1x12x2x3xf32>{{$}}
  %0 = graph.space_to_depth %x0 {block = 2 : i64} : (tensor<1x3x4x6xf32>) -> tensor<?x?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @relu(
func.func @relu(%x0: tensor<2x3xf32>) {
  // CHECK: graph.relu {{.*}} -> tensor<2x3xf32>{{$}}
  %0 = graph.relu %x0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @add(
func.func @add(%x0: tensor<2x1x4xf32>, %x1: tensor<3x1xf32>) {
  // CHECK: graph.add {{.*}} -> tensor<2x3x4xf32>{{$}}
  %0 = graph.add %x0, %x1 : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @add_unknown(
func.func @add_unknown(%x0: tensor<?x4xf32>, %x1: tensor<3x1xf32>) {
  // CHECK: graph.add {{.*}} -> tensor<3x4xf32>{{$}}
  %0 = graph.add %x0, %x1 : (tensor<?x4xf32>, tensor<3x1xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @where(
func.func @where(%x0: tensor<2x1xi1>, %x1: tensor<3xf32>, %x2: tensor<f32>) {
  // CHECK: graph.where {{.*}} -> tensor<2x3xf32>{{$}}
  %0 = graph.where %x0, %x1, %x2 : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @cast(
func.func @cast(%x0: tensor<2x3xi8>) {
  // CHECK: graph.cast {{.*}} -> tensor<2x3xf32>{{$}}
  %0 = graph.cast %x0 : (tensor<2x3xi8>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
func.func @reshape(%x0: tensor<2x6xf32>) {
  // CHECK: graph.reshape {{.*}} -> tensor<12xf32>{{$}}
  %0 = graph.reshape %x0 : (tensor<2x6xf32>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @arg_max(
func.func @arg_max(%x0: tensor<2x3xf32>) {
  // CHECK: graph.arg_max {{.*}} -> tensor<1x3xi64>{{$}}
  %0 = graph.arg_max %x0 {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<?x?xi64>
  return
}

// CHECK-LABEL: func.func @is_nan(
func.func @is_nan(%x0: tensor<2x3xf32>) {
  // CHECK: graph.is_nan {{.*}} -> tensor<2x3xi1>{{$}}
  %0 = graph.is_nan %x0 : (tensor<2x3xf32>) -> tensor<?x?xi1>
  return
}

// CHECK-LABEL: func.func @compare(
func.func @compare(%x0: tensor<2x3xf32>, %x1: tensor<3xf32>) {
  // CHECK: graph.compare {{.*}} -> tensor<2x3xi1>{{$}}
  %0 = graph.compare %x0, %x1 {predicate = #graph<compare_predicate lt>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<?x?xi1>
  return
}

// An encoding of the result stays.
// CHECK-LABEL: func.func @layout(
func.func @layout(%x: tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>) {
  // CHECK: graph.relu {{.*}} -> tensor<1x4x8x8xf32, #graph.layout<block = 8, halo = [1, 1, 1, 1]>>{{$}}
  %0 = graph.relu %x : (tensor<1x4x8x8xf32, #graph.layout<block = 16, halo = [0, 0, 0, 0]>>) -> tensor<1x4x?x?xf32, #graph.layout<block = 8, halo = [1, 1, 1, 1]>>
  return
}
