// RUN: atc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a buffer has at least one byte, not 0}}
npu.program @p(%g: !npu.buffer<gm, 0>) grid(%x = 2) soc "Ascend310P3" {
}

// -----

// expected-error @+1 {{has a grid without cores}}
npu.program @p() grid(%x = 0) soc "Ascend310P3" {
}

// -----

// expected-error @+1 {{has a grid of 4 dims, 1 to 3 are possible}}
npu.program @p() grid(%x = 1, %y = 1, %z = 1, %w = 1) soc "Ascend310P3" {
}

// -----

// expected-error @+1 {{argument 0 must be a buffer in gm, not '!npu.buffer<ub, 64>'}}
npu.program @p(%g: !npu.buffer<ub, 64>) grid(%x = 1) soc "Ascend310P3" {
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{makes local buffers; gm comes with the launch}}
  %u = npu.alloc : !npu.buffer<gm, 64>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{offset 48 must be a multiple of 32}}
  %u = npu.alloc {offset = 48} : !npu.buffer<ub, 64>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{has 0 buffers, one is the least}}
  %u = npu.alloc {buffers = 0} : !npu.buffer<ub, 64>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{runs 0 times, once is the least}}
  npu.loop %i = 0 {
  }
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  npu.loop %i0 = 2 {
    npu.loop %i1 = 2 {
      npu.loop %i2 = 2 {
        npu.loop %i3 = 2 {
          npu.loop %i4 = 2 {
            npu.loop %i5 = 2 {
  // expected-error @+1 {{is 7 loops deep, 6 are possible}}
 npu.loop %i6 = 2 {
}
  }
  }
  }
  }
  }
  }
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has 1 addresses for 2 buffers}}
  npu.move %u, %g {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{address 0 is not always a multiple of 32 bytes, as ub needs}}
  npu.move %u, %g at %x {offsets = [#npu.affine<0, [16]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{address 1 has 2 strides for 1 ivs}}
  npu.move %u, %g at %x {offsets = [#npu.affine<0>, #npu.affine<0, [32, 32]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{the start of 'bytes' has 2 strides for 0 ivs}}
  npu.move %u, %g {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64 from <0, [1, 2]>>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{is guarded by iv 1 of 1}}
  npu.move %u, %g at %x {guard = #npu.guard<last, 1>, offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<l0c, 4096>
  // expected-error @+1 {{cannot go from gm to l0c; it goes gm to l1, gm to ub, ub to gm, ub to l1, l1 to ub, l1 to bt}}
  npu.move %u, %g {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<l0c, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{a range has at least one position, not 0}}
  npu.move %u, %g {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<0>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has the type 'i16', which it cannot work on}}
  npu.move_nd2nz %l, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<16>, cols = #npu.range<16>, type = i16, src_row = 32, dst_col = 512} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{c0 is 8, it must be 4 or 16}}
  npu.load_image %l, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, type = f32, channels = 3, width = 16, c0 = 8, src_plane = 1024, src_row = 64, dst_row = 128} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has 5 channels for c0 4}}
  npu.load_image %l, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, type = f32, channels = 5, width = 16, c0 = 4, src_plane = 1024, src_row = 64, dst_row = 128} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{knows no operation "cosine"}}
  npu.vector "cosine" %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<128>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{"add" takes a b}}
  npu.vector "add" %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<128>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{a is in l1, it must be in ub}}
  npu.vector "relu" %u, %l {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<128>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<l1, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %a = npu.alloc : !npu.buffer<l0a, 4096>
  %b = npu.alloc : !npu.buffer<l0b, 4096>
  %c = npu.alloc : !npu.buffer<l0c, 4096>
  // expected-error @+1 {{b is in l0a, it must be in l0b}}
  npu.mmad %c, %a, %a {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<16>, k = #npu.range<16>, dst_col = 1024, a_row = 512, b_row = 512, type = f16, first = array<i64>} : !npu.buffer<l0c, 4096>, !npu.buffer<l0a, 4096>, !npu.buffer<l0a, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %a = npu.alloc : !npu.buffer<l0a, 4096>
  %b = npu.alloc : !npu.buffer<l0b, 4096>
  %c = npu.alloc : !npu.buffer<l0c, 4096>
  // expected-error @+1 {{first names iv 0 of 0}}
  npu.mmad %c, %a, %b {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<16>, k = #npu.range<16>, dst_col = 1024, a_row = 512, b_row = 512, type = f16, first = array<i64: 0>} : !npu.buffer<l0c, 4096>, !npu.buffer<l0a, 4096>, !npu.buffer<l0b, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %a = npu.alloc : !npu.buffer<l0a, 4096>
  %b = npu.alloc : !npu.buffer<l0b, 4096>
  %c = npu.alloc : !npu.buffer<l0c, 4096>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has the dst_type 'i8', which it cannot work on}}
  npu.move_l0c %u, %c {offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<16>, type = f32, dst_type = i8, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 4096>, !npu.buffer<l0c, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{orders two different queues, not the scalar one}}
  npu.set_flag v to v id 0
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{uses flags 7 to 8 of 8}}
  npu.set_flag v to m id 7 {slots = 2}
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{counts 1 loops, there are 0}}
  npu.wait_flag v to m id 0 {slots = 2, depth = 1}
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{uses event 16 of 16}}
  npu.signal v event 16
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{addend is in l1, it must be in ub}}
  npu.requantize_add %u, %c, %u, %l {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = ui8, stored = ui8, factor = 1.0, addend_type = ui8, addend_factor = 1.0, result_factor = 1.0, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 4096>, !npu.buffer<l1, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has the dst_type 'f32', which it cannot work on}}
  npu.requantize_add %u, %c, %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = f32, stored = ui8, factor = 1.0, addend_type = ui8, addend_factor = 1.0, result_factor = 1.0, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has the addend_type 'f16', which it cannot work on}}
  npu.requantize_add %u, %c, %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = ui8, stored = ui8, factor = 1.0, addend_type = f16, addend_factor = 1.0, result_factor = 1.0, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has the stored 'i32', which it cannot work on}}
  npu.requantize_add %u, %c, %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = ui8, stored = i32, factor = 1.0, addend_type = ui8, addend_factor = 1.0, result_factor = 1.0, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend910B1" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has scales in ub, they must be in l1: it writes to gm}}
  npu.requantize %g, %c, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = ui8, stored = ui8, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<gm, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{quantizes f32 and f16, not 'ui8'}}
  npu.load_image %l, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, type = ui8, channels = 3, width = 16, c0 = 4, src_plane = 256, src_row = 16, dst_row = 128, scale = 0.5} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has the attribute 'dst_outr', which is no part of the instruction}}
  npu.move %u, %g {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<2>, inner = #npu.range<1>, bytes = #npu.range<64>, dst_outr = 64} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{requires attribute 'dst_row'}}
  npu.transpose %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, src_row = 32} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  %b = npu.alloc : !npu.buffer<l0b, 4096>
  // expected-error @+1 {{cannot go from l0b to l1; it goes l1 to l0a, l1 to l0b}}
  npu.load2d %l, %b {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>} : !npu.buffer<l1, 4096>, !npu.buffer<l0b, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has a table of 0 rows, it must have 1 to 2147483647}}
  npu.gather_rows %u, %g, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, bytes = #npu.range<32>, table_rows = 0, src_row = 64, dst_row = 32} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{has a table of 2147483648 rows, it must have 1 to 2147483647}}
  npu.gather_rows %u, %g, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, bytes = #npu.range<32>, table_rows = 2147483648, src_row = 64, dst_row = 32} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{src_row is -64, 0 is the least}}
  npu.gather_rows %u, %g, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, bytes = #npu.range<32>, table_rows = 64, src_row = -64, dst_row = 32} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{index_step is 2, it must be 4 or 8}}
  npu.gather_rows %u, %g, %u {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, bytes = #npu.range<32>, table_rows = 64, src_row = 64, dst_row = 32, index_step = 2} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{can only broadcast and cast integers of 64 bits}}
  npu.vector "relu" %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = i64, dst_type = i64} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

// expected-error @+1 {{runs on cube cores with @none, which must be a program with vector_core}}
npu.program @p(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" with @none {
}

// -----

// expected-error @+1 {{runs on cube cores with @other, which must be a program with vector_core}}
npu.program @p(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" with @other {
}
npu.program @other(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" {
}

// -----

// expected-error @+1 {{runs on cube cores with @other, which must be a program with vector_core}}
npu.program @p(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" vector_core with @other {
}
npu.program @other(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" vector_core {
}

// -----

// expected-error @+1 {{and its part @other must have the same buffers and the same SoC}}
npu.program @p(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" with @other {
}
npu.program @other(%g: !npu.buffer<gm, 128>) grid(%x = 1) soc "Ascend910B1" vector_core {
}

// -----

// expected-error @+1 {{and its part @other must have the same buffers and the same SoC}}
npu.program @p(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B1" with @other {
}
npu.program @other(%g: !npu.buffer<gm, 64>) grid(%x = 1) soc "Ascend910B3" vector_core {
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{c0 is 8, it must be 4 or 16}}
  npu.load_yuv %l, %g, %g {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4 below 4>, channels = 3, width = 16, c0 = 8, src_row = 16, chroma_rows = 2, dst_row = 128,
    y0 = 256.0, u0 = 0.0, v0 = 0.0, y1 = 256.0, u1 = 0.0, v1 = 0.0, y2 = 256.0, u2 = 0.0, v2 = 0.0} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{makes 4 channels of 3}}
  npu.load_yuv %l, %g, %g {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4 below 4>, channels = 4, width = 16, c0 = 4, src_row = 16, chroma_rows = 2, dst_row = 128,
    y0 = 256.0, u0 = 0.0, v0 = 0.0, y1 = 256.0, u1 = 0.0, v1 = 0.0, y2 = 256.0, u2 = 0.0, v2 = 0.0} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<gm, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has rows of 15 pixels, which are no pairs}}
  npu.load_yuv %l, %g, %g {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<4 below 4>, channels = 3, width = 15, c0 = 4, src_row = 16, chroma_rows = 2, dst_row = 128,
    y0 = 256.0, u0 = 0.0, v0 = 0.0, y1 = 256.0, u1 = 0.0, v1 = 0.0, y2 = 256.0, u2 = 0.0, v2 = 0.0} : !npu.buffer<l1, 4096>, !npu.buffer<gm, 4096>, !npu.buffer<gm, 4096>
}

// -----

// expected-error @+1 {{has not a coordinate for each dim of its grid}}
"npu.program"() <{sym_name = "p", grid = array<i64: 2>, soc = "Ascend310P3"}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @+1 {{stands in no npu.program}}
npu.loop %i = 2 {
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  // expected-error @+1 {{needs one iv}}
  "npu.loop"() <{trips = 2 : i64}> ({
  ^bb0:
  }) : () -> ()
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  %i = arith.constant 1 : index
  // expected-error @+1 {{takes ivs of loops and coordinates of the program only}}
  npu.vector "relu" %u, %u at %i {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<128>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %u = npu.alloc : !npu.buffer<ub, 4096>
  // expected-error @+1 {{"fill" takes no buffers}}
  npu.vector "fill" %u, %u {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<128>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend910B1" {
  %c = npu.alloc : !npu.buffer<l0c, 2048>
  %l = npu.alloc : !npu.buffer<l1, 4096>
  // expected-error @+1 {{has the dst_type 'i8', which is neither 'ui8' nor f32}}
  npu.requantize %g, %c, %l {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<32>, type = i32, dst_type = i8, stored = ui8, src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<gm, 4096>, !npu.buffer<l0c, 2048>, !npu.buffer<l1, 4096>
}

// -----

npu.program @p(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend910B1" {
  %l1 = npu.alloc : !npu.buffer<l1, 131072>
  %a = npu.alloc : !npu.buffer<l0a, 32768>
  // expected-error @+1 {{c0 8 of 2-byte elements is not a block of 32 bytes}}
  npu.img2col %a, %l1 {
    offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<128 below 196>, k = #npu.range<4>,
    row0 = #npu.range<1 from <-1>>, c0 = 8, channels1 = 1, height = 14, width = 14, out_height = 14, out_width = 14,
    kernel_h = 3, kernel_w = 3, stride_h = 1, stride_w = 1, pad_top = 1, pad_left = 1, src_channel = 6272, dst_row = 2048
  } : !npu.buffer<l0a, 32768>, !npu.buffer<l1, 131072>
}
