/*===-- openatc/bare.h - run static models without an operating system ------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * The smallest runtime: for models with static shapes that run on one thread of the CPU. It calls
 * no allocator, opens no file, starts no thread and needs nothing of an operating system, only
 * memcpy, memset, memcmp, strlen, strchr, strcmp and strncmp of the C library. All memory is the
 * caller's.
 *
 * The code of a model runs where it is in the file: the file must be in memory that is readable
 * and executable, at a multiple of 4096. `atc --emit=object` makes an object file of a model that
 * the linker puts there, and a C header with its sizes.
 *
 * Functions, structures and errors are those of openatc/om.h, whose other functions this library
 * does not have. A model is used by one thread at a time.
 */
#ifndef OPENATC_BARE_H
#define OPENATC_BARE_H

#include "openatc/om.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An opened model in the caller's memory. It needs no release: the memory may be used again. */
typedef struct om_bare om_bare;

/* Returns how many bytes om_bare_open needs for the model in the `bytes` bytes at `file`; 0 where
 * it cannot be run by this library, with the reason in `error`. */
size_t om_bare_memory(const void *file, size_t bytes, om_error *error);

/* Verifies a model and prepares its run in `memory`, 64-byte aligned, whose `memory_bytes` bytes
 * are om_bare_memory's or more; it and the file must stay as long as the model is used. Of
 * `options`, which may be NULL, `verify_weights` and `cpu_level` are used. Without a level the code
 * for this architecture that needs the fewest features is run: whether the processor has them is
 * not checked. OM_ERROR_UNSUPPORTED for models with dynamic shapes, gears or NPU launches, and for
 * code with AMX where Linux does not permit it. */
om_status om_bare_open(const void *file, size_t bytes, const om_load_options *options, void *memory,
                       size_t memory_bytes, om_bare **model, om_error *error);

/* Describe an input or output; OM_ERROR_ARGUMENT where there is none of this index. */
om_status om_bare_get_input(const om_bare *model, uint32_t index, om_tensor_info *info);
om_status om_bare_get_output(const om_bare *model, uint32_t index, om_tensor_info *info);

/* Runs the model as om_session_run does: inputs[i] and outputs[i] are dense row-major tensors,
 * 64-byte aligned, used in place. */
om_status om_bare_run(om_bare *model, const void *const *inputs, void *const *outputs,
                      om_error *error);

/* Memory from a program's own allocator, for om_bare_create. */
typedef struct om_allocator {
  void *user;
  /* Returns `bytes` bytes at a multiple of `alignment`, or NULL. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes);
} om_allocator;

/* Opens a model in memory of an allocator, which is called once and must stay as long as the
 * model; om_bare_free returns the memory to it. */
om_status om_bare_create(const void *file, size_t bytes, const om_load_options *options,
                         const om_allocator *allocator, om_bare **model, om_error *error);
/* Releases a model from om_bare_create. NULL is allowed. */
void om_bare_free(om_bare *model);

#ifdef __cplusplus
}
#endif

#endif
