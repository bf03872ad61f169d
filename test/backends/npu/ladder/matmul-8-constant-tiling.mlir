// 8192^3 matmul, step 8: the sizes of a tile are at hand.
npu.program @matmul(%a: !npu.buffer<gm, 134217728>, %b: !npu.buffer<gm, 134217728>,
                    %c: !npu.buffer<gm, 134217728>)
    grid(%gm = 3, %gn = 8) soc "Ascend910B1" {
  %c0 = npu.alloc {offset = 0} : !npu.buffer<l0c, 131072>
  npu.set_flag mte1 to mte2 id 0
  npu.set_flag mte1 to mte2 id 1
  npu.set_flag m to mte1 id 0
  npu.set_flag m to mte1 id 1
  npu.set_flag fix to m id 0
  npu.loop %half = 2 {
    npu.loop %i = 11 {
      npu.loop %j = 4 {
        npu.wait_flag fix to m id 0
        npu.loop %p = 32 {
          npu.wait_flag mte1 to mte2 id 0 {slots = 2, depth = 4}
          %a1 = npu.alloc {buffers = 2, offset = 0} : !npu.buffer<l1, 65536>
          %b1 = npu.alloc {buffers = 2, offset = 131072} : !npu.buffer<l1, 131072>
          npu.move_nd2nz %a1, %a at %gm, %half, %i, %p {
            offsets = [#npu.affine<0>, #npu.affine<0, [23068672, 67108864, 2097152, 512]>],
            rows = #npu.range<128 from <0, [1408, 0, 128, 0]> below 4096>, cols = #npu.range<256>,
            type = f16, src_row = 16384, dst_col = 4096
          } : !npu.buffer<l1, 65536>, !npu.buffer<gm, 134217728>
          npu.move_nd2nz %b1, %b at %gn, %j, %p {
            offsets = [#npu.affine<0>, #npu.affine<0, [2048, 512, 4194304]>],
            rows = #npu.range<256>, cols = #npu.range<256 from <0, [1024, 256, 0]> below 8192>,
            type = f16, src_row = 16384, dst_col = 8192
          } : !npu.buffer<l1, 131072>, !npu.buffer<gm, 134217728>
          npu.set_flag mte2 to mte1 id 0 {slots = 2, depth = 4}
          npu.wait_flag mte2 to mte1 id 0 {slots = 2, depth = 4}
          npu.loop %k = 4 {
            npu.wait_flag m to mte1 id 0 {slots = 2, depth = 5}
            %a0 = npu.alloc {buffers = 2, offset = 0} : !npu.buffer<l0a, 16384>
            %b0 = npu.alloc {buffers = 2, offset = 0} : !npu.buffer<l0b, 32768>
            npu.load2d %a0, %a1 at %gm, %i, %k {
              offsets = [#npu.affine<0>, #npu.affine<0, [0, 0, 16384]>],
              outer = #npu.range<8 from <0, [88, 8, 0]> below 256>, inner = #npu.range<4>,
              dst_outer = 2048, dst_inner = 512, src_outer = 512, src_inner = 4096
            } : !npu.buffer<l0a, 16384>, !npu.buffer<l1, 65536>
            npu.load2d %b0, %b1 at %gn, %j, %k {
              offsets = [#npu.affine<0>, #npu.affine<0, [0, 0, 2048]>], outer = #npu.range<4>,
              inner = #npu.range<16 from <0, [64, 16, 0]> below 512>, dst_outer = 8192,
              dst_inner = 512, src_outer = 512, src_inner = 8192, transpose
            } : !npu.buffer<l0b, 32768>, !npu.buffer<l1, 131072>
            npu.set_flag mte1 to m id 0 {slots = 2, depth = 5}
            npu.wait_flag mte1 to m id 0 {slots = 2, depth = 5}
            npu.mmad %c0, %a0, %b0 at %gm, %gn, %i, %j, %p, %k {
              offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
              m = #npu.range<128 from <0, [1408, 0, 128, 0, 0, 0]> below 4096>,
              n = #npu.range<256 from <0, [0, 1024, 0, 256, 0, 0]> below 8192>,
              k = #npu.range<64>, type = f16, first = array<i64: 4, 5>, 
              dst_col = 8192, a_row = 2048, b_row = 8192
            } : !npu.buffer<l0c, 131072>, !npu.buffer<l0a, 16384>, !npu.buffer<l0b, 32768>
            npu.set_flag m to mte1 id 0 {slots = 2, depth = 5}
          }
          npu.set_flag mte1 to mte2 id 0 {slots = 2, depth = 4}
        }
        npu.set_flag m to fix id 0
        npu.wait_flag m to fix id 0
        npu.move_l0c %c, %c0 at %gm, %gn, %half, %i, %j {
          offsets = [#npu.affine<0, [23068672, 2048, 67108864, 2097152, 512]>, #npu.affine<0>],
          m = #npu.range<128 from <0, [1408, 0, 0, 128, 0]> below 4096>,
          n = #npu.range<256 from <0, [0, 1024, 0, 0, 256]> below 8192>, type = f32,
          dst_type = f16, src_col = 8192, dst_row = 16384, dst_col = 32
        } : !npu.buffer<gm, 134217728>, !npu.buffer<l0c, 131072>
        npu.set_flag fix to m id 0
      }
    }
  }
  npu.wait_flag mte1 to mte2 id 0
  npu.wait_flag mte1 to mte2 id 1
  npu.wait_flag m to mte1 id 0
  npu.wait_flag m to mte1 id 1
  npu.wait_flag fix to m id 0
}
