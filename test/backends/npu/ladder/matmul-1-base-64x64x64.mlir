// 8192^3 matmul, step 1: one core, 64x64x64 a mmad, all waits for all.
// The program runs 1/128 of the rows of tiles of each core.
npu.program @matmul(%a: !npu.buffer<gm, 134217728>, %b: !npu.buffer<gm, 134217728>,
                    %c: !npu.buffer<gm, 134217728>)
    grid(%gm = 1, %gn = 1) soc "Ascend910B1" {
  %c0 = npu.alloc {offset = 0} : !npu.buffer<l0c, 16384>
  npu.loop %i = 1 {
    npu.loop %j = 128 {
      npu.loop %p = 128 {
        %a1 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l1, 8192>
        %b1 = npu.alloc {buffers = 1, offset = 8192} : !npu.buffer<l1, 8192>
        npu.move_nd2nz %a1, %a at %i, %p {
          offsets = [#npu.affine<0>, #npu.affine<0, [1048576, 128]>],
          rows = #npu.range<64 from <0, [64, 0]> below 8192>, cols = #npu.range<64>, type = f16,
          src_row = 16384, dst_col = 2048
        } : !npu.buffer<l1, 8192>, !npu.buffer<gm, 134217728>
        npu.move_nd2nz %b1, %b at %j, %p {
          offsets = [#npu.affine<0>, #npu.affine<0, [128, 1048576]>], rows = #npu.range<64>,
          cols = #npu.range<64 from <0, [64, 0]> below 8192>, type = f16, src_row = 16384,
          dst_col = 2048
        } : !npu.buffer<l1, 8192>, !npu.buffer<gm, 134217728>
        npu.pipe_barrier s
        npu.loop %k = 1 {
          %a0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0a, 8192>
          %b0 = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l0b, 8192>
          npu.load2d %a0, %a1 at %i, %k {
            offsets = [#npu.affine<0>, #npu.affine<0, [0, 8192]>],
            outer = #npu.range<4 from <0, [4, 0]> below 512>, inner = #npu.range<4>,
            dst_outer = 2048, dst_inner = 512, src_outer = 512, src_inner = 2048
          } : !npu.buffer<l0a, 8192>, !npu.buffer<l1, 8192>
          npu.load2d %b0, %b1 at %j, %k {
            offsets = [#npu.affine<0>, #npu.affine<0, [0, 2048]>], outer = #npu.range<4>,
            inner = #npu.range<4 from <0, [4, 0]> below 512>, dst_outer = 2048, dst_inner = 512,
            src_outer = 512, src_inner = 2048, transpose
          } : !npu.buffer<l0b, 8192>, !npu.buffer<l1, 8192>
          npu.pipe_barrier s
          npu.mmad %c0, %a0, %b0 at %i, %j, %p, %k {
            offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
            m = #npu.range<64 from <0, [64, 0, 0, 0]> below 8192>,
            n = #npu.range<64 from <0, [0, 64, 0, 0]> below 8192>,
            k = #npu.range<64>, type = f16, first = array<i64: 2, 3>, 
            dst_col = 4096, a_row = 2048, b_row = 2048
          } : !npu.buffer<l0c, 16384>, !npu.buffer<l0a, 8192>, !npu.buffer<l0b, 8192>
          npu.pipe_barrier s
        }
      }
      npu.move_l0c %c, %c0 at %i, %j {
        offsets = [#npu.affine<0, [1048576, 128]>, #npu.affine<0>],
        m = #npu.range<64 from <0, [64, 0]> below 8192>,
        n = #npu.range<64 from <0, [0, 64]> below 8192>, type = f32, dst_type = f16,
        src_col = 4096, dst_row = 16384, dst_col = 32
      } : !npu.buffer<gm, 134217728>, !npu.buffer<l0c, 16384>
      npu.pipe_barrier s
    }
  }
}
