/*===-- openatc/npu.h - a simulated NPU for sessions ------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A library of its own (openatc_npu), so that the runtime needs nothing of it:
 *
 *   om_npu *npu = om_npu_simulator(NULL, &error);
 *   om_session_options options = OM_SESSION_OPTIONS_INIT;
 *   options.device = om_npu_device(npu);
 *   ... om_session_create, om_session_run ...
 *   puts(om_npu_text(npu, OM_NPU_STATISTICS));
 *
 * A model says itself which NPU it is for. Results are those of the instruction
 * set, bit for bit the same in every run, and so are the times.
 */
#ifndef OPENATC_NPU_H
#define OPENATC_NPU_H

#include "openatc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct om_npu om_npu;

typedef struct om_npu_options {
  size_t struct_size;
  int functional;       /* 1 (the default): launches compute. 0: outputs mean nothing */
  int timed;            /* 1 (the default): launches take time. 0: cycles are 0       */
  int check_hazards;    /* 1: also look for accesses that nothing orders              */
  int prefetch;         /* 1 (the default): weights are brought into L2 ahead         */
  uint64_t max_spans;   /* instructions that are kept for the timeline                */
  uint32_t threads;     /* of this machine; 0: as many as it has                      */
  const char *soc_file; /* simulate this table instead of the model's; NULL: do not   */
} om_npu_options;
#define OM_NPU_OPTIONS_INIT {sizeof(om_npu_options), 1, 1, 0, 1, 0, 0, NULL}

/* `options` may be NULL. A table that cannot be read is an error here. */
OM_API om_status om_npu_simulator(const om_npu_options *options, om_npu **npu, om_error *error);
/* Frees it; its session must be gone. NULL is allowed. */
OM_API void om_npu_free(om_npu *npu);

/* For om_session_options.device, of one session at a time. */
OM_API const om_device *om_npu_device(om_npu *npu);

typedef enum om_npu_text_kind {
  OM_NPU_STATISTICS = 0, /* JSON: the last run of the session, which starts with what
                          * the run before has left in L2 */
  OM_NPU_TIMELINE = 1,   /* JSON of Chrome's trace viewer and Perfetto: all runs */
  OM_NPU_REPORT = 2,     /* an HTML page: the last run */
  OM_NPU_FAULTS = 3,     /* one line for each fault of the programs that were loaded */
  OM_NPU_HAZARDS = 4     /* one line for each pair of accesses that nothing orders */
} om_npu_text_kind;

/* Terminated, and good until the next call for the same kind or om_npu_free. */
OM_API const char *om_npu_text(om_npu *npu, om_npu_text_kind kind);

#ifdef __cplusplus
}
#endif

#endif
