// 8192^3 matmul, step 4: 4 parts of the rows times 6 of the columns.
// The program runs 1/4 of the rows of tiles of each core.
npu.program @matmul(%a: !npu.buffer<gm, 134217728>, %b: !npu.buffer<gm, 134217728>,
                    %c: !npu.buffer<gm, 134217728>)
    grid(%gm = 4, %gn = 6) soc "Ascend910B1" {
  %c0 = npu.alloc {offset = 0} : !npu.buffer<l0c, 131072>
  npu.loop %i = 4 {
    // The whole tiles of the share of columns.
    npu.loop %j = 5 {
      npu.loop %p = 128 {
        %a1 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l1, 16384>
        %b1 = npu.alloc {buffers = 1, offset = 16384} : !npu.buffer<l1, 32768>
        npu.move_nd2nz %a1, %a at %gm, %i, %p {
          offsets = [#npu.affine<0>, #npu.affine<0, [33554432, 2097152, 128]>],
          rows = #npu.range<128 from <0, [2048, 128, 0]> below 8192>, cols = #npu.range<64>,
          type = f16, src_row = 16384, dst_col = 4096
        } : !npu.buffer<l1, 16384>, !npu.buffer<gm, 134217728>
        npu.move_nd2nz %b1, %b at %gn, %j, %p {
          offsets = [#npu.affine<0>, #npu.affine<0, [2752, 512, 1048576]>], rows = #npu.range<64>,
          cols = #npu.range<256 from <0, [1376, 256, 0]> below 8192>, type = f16, src_row = 16384,
          dst_col = 2048
        } : !npu.buffer<l1, 32768>, !npu.buffer<gm, 134217728>
        npu.pipe_barrier s
        npu.loop %k = 1 {
          %a0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0a, 16384>
          %b0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0b, 32768>
          npu.load2d %a0, %a1 at %gm, %i, %k {
            offsets = [#npu.affine<0>, #npu.affine<0, [0, 0, 16384]>],
            outer = #npu.range<8 from <0, [128, 8, 0]> below 512>, inner = #npu.range<4>,
            dst_outer = 2048, dst_inner = 512, src_outer = 512, src_inner = 4096
          } : !npu.buffer<l0a, 16384>, !npu.buffer<l1, 16384>
          npu.load2d %b0, %b1 at %gn, %j, %k {
            offsets = [#npu.affine<0>, #npu.affine<0, [0, 0, 2048]>], outer = #npu.range<4>,
            inner = #npu.range<16 from <0, [86, 16, 0]> below 512>, dst_outer = 8192,
            dst_inner = 512, src_outer = 512, src_inner = 2048, transpose
          } : !npu.buffer<l0b, 32768>, !npu.buffer<l1, 32768>
          npu.pipe_barrier s
          npu.mmad %c0, %a0, %b0 at %gm, %gn, %i, %j, %p, %k {
            offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
            m = #npu.range<128 from <0, [2048, 0, 128, 0, 0, 0]> below 8192>,
            n = #npu.range<256 from <0, [0, 1376, 0, 256, 0, 0]> below 8192>,
            k = #npu.range<64>, type = f16, first = array<i64: 4, 5>, 
            dst_col = 8192, a_row = 2048, b_row = 8192
          } : !npu.buffer<l0c, 131072>, !npu.buffer<l0a, 16384>, !npu.buffer<l0b, 32768>
          npu.pipe_barrier s
        }
      }
      npu.move_l0c %c, %c0 at %gm, %gn, %i, %j {
        offsets = [#npu.affine<0, [33554432, 2752, 2097152, 512]>, #npu.affine<0>],
        m = #npu.range<128 from <0, [2048, 0, 128, 0]> below 8192>,
        n = #npu.range<256 from <0, [0, 1376, 0, 256]> below 8192>, type = f32, dst_type = f16,
        src_col = 8192, dst_row = 16384, dst_col = 32
      } : !npu.buffer<gm, 134217728>, !npu.buffer<l0c, 131072>
      npu.pipe_barrier s
    }
    // The last 96 columns.
    npu.loop %p = 128 {
      %a1 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l1, 16384>
      %b1 = npu.alloc {buffers = 1, offset = 16384} : !npu.buffer<l1, 32768>
      npu.move_nd2nz %a1, %a at %gm, %i, %p {
        offsets = [#npu.affine<0>, #npu.affine<0, [33554432, 2097152, 128]>],
        rows = #npu.range<128 from <0, [2048, 128, 0]> below 8192>, cols = #npu.range<64>,
        type = f16, src_row = 16384, dst_col = 4096
      } : !npu.buffer<l1, 16384>, !npu.buffer<gm, 134217728>
      npu.move_nd2nz %b1, %b at %gn, %p {
        offsets = [#npu.affine<0>, #npu.affine<2560, [2752, 1048576]>], rows = #npu.range<64>,
        cols = #npu.range<96 from <1280, [1376, 0]> below 8192>, type = f16, src_row = 16384,
        dst_col = 2048
      } : !npu.buffer<l1, 32768>, !npu.buffer<gm, 134217728>
      npu.pipe_barrier s
      npu.loop %k = 1 {
        %a0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0a, 16384>
        %b0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0b, 32768>
        npu.load2d %a0, %a1 at %gm, %i, %k {
          offsets = [#npu.affine<0>, #npu.affine<0, [0, 0, 16384]>],
          outer = #npu.range<8 from <0, [128, 8, 0]> below 512>, inner = #npu.range<4>,
          dst_outer = 2048, dst_inner = 512, src_outer = 512, src_inner = 4096
        } : !npu.buffer<l0a, 16384>, !npu.buffer<l1, 16384>
        npu.load2d %b0, %b1 at %gn, %k {
          offsets = [#npu.affine<0>, #npu.affine<0, [0, 2048]>], outer = #npu.range<4>,
          inner = #npu.range<6 from <80, [86, 0]> below 512>, dst_outer = 8192, dst_inner = 512,
          src_outer = 512, src_inner = 2048, transpose
        } : !npu.buffer<l0b, 32768>, !npu.buffer<l1, 32768>
        npu.pipe_barrier s
        npu.mmad %c0, %a0, %b0 at %gm, %gn, %i, %p, %k {
          offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
          m = #npu.range<128 from <0, [2048, 0, 128, 0, 0]> below 8192>,
          n = #npu.range<96 from <1280, [0, 1376, 0, 0, 0]> below 8192>,
          k = #npu.range<64>, type = f16, first = array<i64: 3, 4>, 
          dst_col = 8192, a_row = 2048, b_row = 8192
        } : !npu.buffer<l0c, 131072>, !npu.buffer<l0a, 16384>, !npu.buffer<l0b, 32768>
        npu.pipe_barrier s
      }
    }
    npu.move_l0c %c, %c0 at %gm, %gn, %i {
      offsets = [#npu.affine<2560, [33554432, 2752, 2097152]>, #npu.affine<0>],
      m = #npu.range<128 from <0, [2048, 0, 128]> below 8192>,
      n = #npu.range<96 from <1280, [0, 1376, 0]> below 8192>, type = f32, dst_type = f16,
      src_col = 8192, dst_row = 16384, dst_col = 32
    } : !npu.buffer<gm, 134217728>, !npu.buffer<l0c, 131072>
    npu.pipe_barrier s
  }
}
