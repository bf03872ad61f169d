/*===-- openatc/device.h - what runs the NPU launches of a session ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * The runtime itself knows nothing of NPUs: a session that runs a model with NPU
 * launches is given an om_device (om_session_options.device), which opens the SoC,
 * takes all programs and then gets the launches one by one, in the order of the
 * schedule, between those of the CPU. openatc/npu.h has one that simulates.
 *
 * All calls on one opened SoC come from one thread at a time. A call that fails
 * returns another status than OM_OK and fills the error, which is never NULL;
 * what the device says there is what the caller of the session reads.
 */
#ifndef OPENATC_DEVICE_H
#define OPENATC_DEVICE_H

#include "openatc/om.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The addresses of a model's memory on the device, the same in every run: the
 * weights segments from here up, behind them the arena, the inputs and the
 * outputs in their order, each at the next multiple of OM_DEVICE_ALIGNMENT. Each
 * gear has its inputs and outputs behind as much of the arena as it uses, where
 * they would be if the gear were a model of its own. */
#define OM_DEVICE_BASE 0x10000000u
#define OM_DEVICE_ALIGNMENT 512u

/* A program as the file holds it. `arguments` are the least bytes of its buffers. */
typedef struct om_device_program {
  const char *name;
  const void *code;
  uint64_t code_bytes;
  const uint64_t *arguments;
  uint32_t argument_count;
} om_device_program;

/* What a device is told of a model; the pointers are good during the call. */
typedef struct om_device_model {
  const om_device_program *programs;
  uint32_t program_count;
  const char *name;
  uint64_t weights_bytes, input_bytes, output_bytes, arena_bytes;
  uint64_t macs;          /* of one run, on the NPU and the CPU, as far as shapes are known */
  uint32_t host_launches; /* those of the CPU, and the calls of host kernels */
  /* For each program a byte per argument: 1 where a launch gives it memory that must
   * not be written, which are weights and the inputs of the caller. A device refuses
   * a program that writes to such an argument. */
  const uint8_t *const *read_only;
} om_device_model;

/* What a run of one gear moves and computes; see om_device_model. */
typedef struct om_device_sizes {
  uint64_t input_bytes, output_bytes, arena_bytes, macs;
  uint32_t host_launches;
} om_device_sizes;

typedef struct om_device_range {
  uint64_t address, bytes;
} om_device_range;

typedef struct om_device_launch {
  uint32_t index;   /* in the model's schedule  */
  uint32_t program; /* as they were loaded      */
  const char *name; /* lives as long as the model */
  uint64_t macs;
  int chained; /* goes on in the task of the launch before */
  uint32_t argument_count, prefetch_count;
  void *const *data;               /* where the buffers are for the host */
  const uint64_t *addresses;       /* and for the device                 */
  const om_device_range *prefetch; /* weights that later launches read */
} om_device_launch;

typedef struct om_device {
  size_t struct_size;
  void *user;
  /* A SoC by its name, or by `table` where that is not "". */
  om_status (*open)(void *user, const char *soc, const char *table, void **opened, om_error *error);
  /* Decodes and checks all programs of the model. Called once. */
  om_status (*load)(void *opened, const om_device_model *model, om_error *error);
  /* A run of the session begins. */
  om_status (*begin)(void *opened, om_error *error);
  om_status (*launch)(void *opened, const om_device_launch *launch, om_error *error);
  /* The CPU has run something between them: the launch `index`, or from the number of
   * launches up a call of a host kernel. */
  void (*host)(void *opened, uint32_t index);
  void (*close)(void *opened);
  /* The runs from now on use another gear of the model, or the first one. NULL: the device
   * need not know. It is not called for a model without gears. */
  void (*gear)(void *opened, const om_device_sizes *sizes);
} om_device;

#ifdef __cplusplus
}
#endif

#endif
