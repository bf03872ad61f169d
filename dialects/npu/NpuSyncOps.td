//===-- NpuSyncOps.td - synchronization of queues and cores -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SYNC_OPS_TD
#define OPENATC_NPU_SYNC_OPS_TD

include "dialects/npu/NpuMemory.td"

class Npu_FlagOp<string mnemonic> : Npu_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let description = [{
    The id is `id` + counter mod `slots`; the counter is the number of
    iterations of the outermost `depth` loops, taken as one loop.
  }];
  let arguments = (ins Npu_QueueAttr:$from, Npu_QueueAttr:$to, I64Attr:$id,
                       DefaultValuedAttr<I64Attr, "1">:$slots, DefaultValuedAttr<I64Attr, "0">:$depth);
  let assemblyFormat = "$from `to` $to `id` $id attr-dict";
  let hasVerifier = 1;
}
def Npu_SetFlagOp : Npu_FlagOp<"set_flag"> {
  let summary = "Sets a flag when queue `from` reaches it";
}
def Npu_WaitFlagOp : Npu_FlagOp<"wait_flag"> {
  let summary = "Makes queue `to` wait for a flag and clears it";
}

def Npu_PipeBarrierOp : Npu_Op<"pipe_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a queue (s: all queues) finish its instructions before it continues";
  let arguments = (ins Npu_QueueAttr:$queue);
  let assemblyFormat = "$queue attr-dict";
}

def Npu_SignalOp : Npu_Op<"signal", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Increments a counter that all cores of the launch share";
  let arguments = (ins Npu_QueueAttr:$queue, I64Attr:$event);
  let assemblyFormat = "$queue `event` $event attr-dict";
  let hasVerifier = 1;
}

def Npu_AwaitOp : Npu_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a queue wait until a shared counter has reached the start of `value`";
  let arguments = (ins Npu_QueueAttr:$queue, I64Attr:$event, Variadic<Index>:$ivs,
                       Npu_RangeAttr:$value);
  let assemblyFormat = "$queue `event` $event (`at` $ivs^)? attr-dict";
  let hasVerifier = 1;
}

#endif // OPENATC_NPU_SYNC_OPS_TD
