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
 * The model names the NPU that it is for. Results and times are deterministic:
 * bit for bit the same in every run.
 */
#ifndef OPENATC_NPU_H
#define OPENATC_NPU_H

#include "openatc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A simulated NPU with its statistics; om_npu_free frees it. */
typedef struct om_npu om_npu;

/* The parts of the NPU that are simulated. Initialize it with OM_NPU_OPTIONS_INIT. */
typedef struct om_npu_options {
  size_t struct_size;
  int functional;       /* 1 (the default): launches compute. 0: outputs mean nothing */
  int timed;            /* 1 (the default): launches take time. 0: cycles are 0       */
  int check_hazards;    /* 1: also find accesses without an order between them        */
  int prefetch;         /* 1 (the default): weights are brought into L2 ahead         */
  uint64_t max_spans;   /* maximum number of instructions kept for the timeline       */
  uint32_t threads;     /* of this machine; 0: one per processor                      */
  const char *soc_file; /* simulate this table instead of the model's; NULL: do not   */
  /* The maximum number of instructions and loop iterations per run, on all cores
   * together: a run that needs more ends with OM_ERROR_DEVICE, and the session can run
   * again. 0 (the default): 2^36, an hour or more. */
  uint64_t max_instructions;
} om_npu_options;
#define OM_NPU_OPTIONS_INIT {sizeof(om_npu_options), 1, 1, 0, 1, 0, 0, NULL, 0}

/* Makes a simulated NPU. `options` may be NULL. A `soc_file` that cannot be read is an
 * error. On failure `*npu` is NULL. */
OM_API om_status om_npu_simulator(const om_npu_options *options, om_npu **npu, om_error *error);
/* Frees an NPU, whose session must have been freed. NULL is allowed. */
OM_API void om_npu_free(om_npu *npu);

/* Returns the device for om_session_options.device, for one session at a time. It lives
 * as long as the NPU. */
OM_API const om_device *om_npu_device(om_npu *npu);

/* The texts about runs. */
typedef enum om_npu_text_kind OM_ENUM_TYPE {
  OM_NPU_STATISTICS = 0, /* JSON: the last run of the session, which starts with the
                          * contents of L2 after the run before */
  OM_NPU_TIMELINE = 1,   /* JSON of Chrome's trace viewer and Perfetto: all runs up to the one
                          * that exceeds `max_spans`, and the last one */
  OM_NPU_REPORT = 2,     /* an HTML page: the last run */
  OM_NPU_FAULTS = 3,     /* one line per error of the programs that were loaded */
  OM_NPU_HAZARDS = 4     /* one line per pair of accesses without an order */
} om_npu_text_kind;

/* Returns a null-terminated text, which is valid until the next call for the same kind or
 * om_npu_free; an empty one where there is no memory for it. */
OM_API const char *om_npu_text(om_npu *npu, om_npu_text_kind kind);

#ifdef __cplusplus
}
#endif

#endif
