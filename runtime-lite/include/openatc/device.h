/*===-- openatc/device.h - what runs the NPU launches of a session ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * The runtime itself knows nothing of NPUs: a session that runs a model with NPU
 * launches is given an om_device (om_session_options.device), which opens the SoC,
 * receives all programs and then the launches one by one, in the order of the
 * schedule, between those of the CPU. openatc/npu.h has a simulated one.
 *
 * All calls on one opened SoC come from one thread at a time. A call that fails
 * returns a status other than OM_OK and fills the error, which is never NULL; its
 * message is what the caller of the session reads.
 */
#ifndef OPENATC_DEVICE_H
#define OPENATC_DEVICE_H

#include "openatc/om.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The addresses of a model's memory on the device, the same in every run: the
 * weights segments start here, followed by the arena, the inputs and the outputs
 * in their order, each at the next multiple of OM_DEVICE_ALIGNMENT bytes. Each
 * gear has its inputs and outputs after the part of the arena that it uses, as
 * if the gear were a model of its own. */
#define OM_DEVICE_BASE 0x10000000u
#define OM_DEVICE_ALIGNMENT 512u

/* A program as the file holds it. `arguments` are the minimum sizes of its buffers in
 * bytes. The pointers are valid during the call only. */
typedef struct om_device_program {
  const char *name;
  const void *code;
  uint64_t code_bytes;
  const uint64_t *arguments;
  uint32_t argument_count;
} om_device_program;

/* The description of a model for a device; the pointers are valid during the call only. */
typedef struct om_device_model {
  const om_device_program *programs;
  uint32_t program_count;
  const char *name;
  uint64_t weights_bytes, input_bytes, output_bytes, arena_bytes;
  uint64_t macs;          /* per run, on the NPU and the CPU, as far as shapes are known */
  uint32_t host_launches; /* number of CPU launches and calls of host kernels */
  /* For each program one byte per argument: 1 where a launch passes memory that must
   * not be written, that is weights and the inputs of the caller. A device refuses a
   * program that writes to such an argument. */
  const uint8_t *const *read_only;
} om_device_model;

/* The bytes and operations of a run of one gear; see om_device_model. */
typedef struct om_device_sizes {
  uint64_t input_bytes, output_bytes, arena_bytes, macs;
  uint32_t host_launches;
} om_device_sizes;

/* A range of device memory. */
typedef struct om_device_range {
  uint64_t address, bytes;
} om_device_range;

/* A launch of a program. Its pointers live as long as the model. */
typedef struct om_device_launch {
  uint32_t index;   /* in the model's schedule  */
  uint32_t program; /* in om_device_model.programs */
  const char *name; /* lives as long as the model */
  uint64_t macs;
  int chained; /* 1: continues the task of the launch before */
  uint32_t argument_count, prefetch_count;
  void *const *data;               /* host addresses of the buffers   */
  const uint64_t *addresses;       /* device addresses of the buffers */
  const om_device_range *prefetch; /* weights that later launches read */
} om_device_launch;

/* The functions of a device. All must be set. */
typedef struct om_device {
  size_t struct_size;
  void *user;
  /* Opens a SoC by its name, or by `table` where that is not "". `*opened` is passed
   * to all other functions. */
  om_status (*open)(void *user, const char *soc, const char *table, void **opened, om_error *error);
  /* Decodes and checks all programs of the model. Called once, before any launch. */
  om_status (*load)(void *opened, const om_device_model *model, om_error *error);
  /* Begins a run of the session. */
  om_status (*begin)(void *opened, om_error *error);
  /* Runs a launch and returns when it is complete. */
  om_status (*launch)(void *opened, const om_device_launch *launch, om_error *error);
  /* Reports that the CPU has run something between the NPU launches: launch `index`,
   * or, if `index` is at least the number of launches, a call of a host kernel. */
  void (*host)(void *opened, uint32_t index);
  /* Releases everything that open() made. */
  void (*close)(void *opened);
  /* The runs from now on use another gear of the model, or the first one. NULL: the device
   * need not know. It is not called for a model without gears. */
  void (*gear)(void *opened, const om_device_sizes *sizes);
} om_device;

#ifdef __cplusplus
}
#endif

#endif
