// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers: ops that move elements.

func.func @reshape_elements(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op input 'tensor<2x3xf32>' has 6 elements, but result 'tensor<2x4xf32>' has 8}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op keeps the element type, but input is 'tensor<2x3xf32>' and result is 'tensor<6xf16>'}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

func.func @transpose_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op permutation has 3 values, expected 2, one for each of the dims}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op permutation [0, 0] must name every dim of 'tensor<2x3xf32>' once}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @expand_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.expand' op input 'tensor<2x3xf32>' does not broadcast to result 'tensor<4x3xf32>'}}
  %0 = graph.expand %x : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @expand_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.expand' op input 'tensor<2x3xf32>' does not broadcast to result 'tensor<2x3xf16>'}}
  %0 = graph.expand %x : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @tile_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats has 1 values, expected 2, one for each of the dims}}
  %0 = graph.tile %x {repeats = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tile_negative(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats must be at least 0, but are [1, -1]}}
  %0 = graph.tile %x {repeats = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tile_large(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.tile' op repeats [9223372036854775807, 1] make 'tensor<2x3xf32>' too large}}
  %0 = graph.tile %x {repeats = array<i64: 9223372036854775807, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @+1 {{'graph.concat' op needs at least one input}}
  %0 = "graph.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_axis(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.concat' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.concat %a, %b {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'graph.concat' op input 1 is 'tensor<3xf32>', but must have element type and rank of input 0, 'tensor<2x3xf32>'}}
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @concat_dim(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.concat' op input 1 has 4 elements in dim 1, but the inputs before have 3}}
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_starts(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op starts has 1 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_sizes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op sizes has 1 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_steps(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op steps has 3 values, expected 2, one for each of the dims}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_step(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 0 has size 2 and step 0; sizes must be at least 0 (or -1 for a whole dim, from 0 in steps of 1), steps must not be 0}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 has size -1 and step 2; sizes must be at least 0 (or -1 for a whole dim, from 0 in steps of 1), steps must not be 0}}
  %0 = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, -1>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 of 'tensor<2x3xf32>' has 3 elements; 2 elements from 1 in steps of 2 leave it}}
  %0 = graph.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 2>, steps = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_backwards(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op dim 1 of 'tensor<2x3xf32>' has 3 elements; 3 elements from 1 in steps of -1 leave it}}
  %0 = graph.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 3>, steps = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_low(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op low has 1 values, expected 2, one for each of the dims}}
  %0 = graph.pad %x {low = array<i64: 0>, high = array<i64: 0, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_high(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op high has 3 values, expected 2, one for each of the dims}}
  %0 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_crop(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op low -2 and high -1 do not fit dim 0 of 'tensor<2x3xf32>'}}
  %0 = graph.pad %x {low = array<i64: -2, 0>, high = array<i64: -1, 0>, mode = #graph<pad_mode constant>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_reflect(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode reflect can add at most 2 elements on a side of dim 1 of 'tensor<2x3xf32>', not 3}}
  %0 = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 0>, mode = #graph<pad_mode reflect>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_wrap(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode wrap can add at most 3 elements on a side of dim 1 of 'tensor<2x3xf32>', not 4}}
  %0 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 4>, mode = #graph<pad_mode wrap>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_edge(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.pad' op mode edge can add at most 0 elements on a side of dim 0 of 'tensor<2x3xf32>', not 1}}
  %0 = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: -2, 0>, mode = #graph<pad_mode edge>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_axis(%x: tensor<2x3xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'graph.gather' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_indices(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'graph.gather' op indices must be integers, but are 'tensor<f32>'}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_bools(%x: tensor<2x3xf32>, %i: tensor<i1>) {
  // expected-error @+1 {{'graph.gather' op indices must be integers, but are 'tensor<i1>'}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i1>) -> tensor<3xf32>
  return
}

// -----

func.func @depth_to_space_rank(%x: tensor<4x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op input must have rank 4 (NCHW), but is 'tensor<4x2x2xf32>'}}
  %0 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @depth_to_space_block(%x: tensor<1x4x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op block must be in [1, 32767], but is 0}}
  %0 = graph.depth_to_space %x {block = 0 : i64, order = #graph<depth_order dcr>} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @depth_to_space_channels(%x: tensor<1x6x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op dim 1 of 'tensor<1x6x2x2xf32>' is not a multiple of 4}}
  %0 = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order dcr>} : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @space_to_depth_rank(%x: tensor<4x2x2xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op input must have rank 4 (NCHW), but is 'tensor<4x2x2xf32>'}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @space_to_depth_rows(%x: tensor<1x4x3x2xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op dim 2 of 'tensor<1x4x3x2xf32>' is not a multiple of 2}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<1x4x3x2xf32>) -> tensor<1x16x1x1xf32>
  return
}

// -----

func.func @space_to_depth_columns(%x: tensor<1x4x2x3xf32>) {
  // expected-error @+1 {{'graph.space_to_depth' op dim 3 of 'tensor<1x4x2x3xf32>' is not a multiple of 2}}
  %0 = graph.space_to_depth %x {block = 2 : i64} : (tensor<1x4x2x3xf32>) -> tensor<1x16x1x1xf32>
  return
}

// -----

func.func @resize_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op keeps rank and element type, but input is 'tensor<2x3xf32>' and result is 'tensor<6xf32>'}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @resize_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op keeps rank and element type, but input is 'tensor<2x3xf32>' and result is 'tensor<2x3xf16>'}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @resize_scales(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op scales has 1 values, expected 2, one for each of the dims}}
  %0 = graph.resize %x {scales = array<f64: 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @resize_scale(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.resize' op scale 0.000000e+00 of dim 1 must be greater than 0 and finite}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 0.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @resize_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'graph.resize' op dim 1 of 'tensor<2x0xf32>' is empty: there is nothing to sample}}
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>} : (tensor<2x0xf32>) -> tensor<2x3xf32>
  return
}
