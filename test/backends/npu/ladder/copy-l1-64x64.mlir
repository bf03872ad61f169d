// 12288 x 12288 f16 into L1 as fractals in tiles of 64 x 64.
npu.program @copy(%x: !npu.buffer<gm, 301989888>)
    grid(%core = 24) soc "Ascend910B1" {
  npu.loop %i = 8 {
    npu.loop %j = 192 {
      %to = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<l1, 8192>
      npu.move_nd2nz %to, %x at %core, %i, %j {
        offsets = [#npu.affine<0>, #npu.affine<0, [12582912, 1572864, 128]>],
        rows = #npu.range<64>, cols = #npu.range<64>, type = f16, src_row = 24576, dst_col = 2048
      } : !npu.buffer<l1, 8192>, !npu.buffer<gm, 301989888>
    }
  }
}
