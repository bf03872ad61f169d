/*===-- openatc/om.h - run .om files: the C interface ----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A model is a verified, mapped `.om` file: constant, and free to be shared by
 * any number of sessions and threads. A session owns the memory and the threads
 * of one inference at a time; every function on one session except
 * om_session_cancel must be called by one thread at a time. `om_session_run` of a
 * model with static shapes allocates no memory.
 *
 * Every function that can fail returns an om_status and, where it has an `error`
 * that is not NULL, fills it with the same code and one sentence for a person.
 * Results behind pointers are set only on success, unless stated otherwise.
 *
 * A model and a session must exist. Functions that run a session, wait for it or read its
 * tensors, and om_model_get_info, _tensor, _input, _output and _launch return
 * OM_ERROR_ARGUMENT for NULL; others must not be given it where their comment does not
 * allow it.
 *
 * Structures that cross the interface start with `struct_size`; set it with the
 * OM_..._INIT macro beside each structure. Fields are only ever added at the
 * end, so a program keeps working with a newer library.
 */
#ifndef OPENATC_OM_H
#define OPENATC_OM_H

#include "openatc/types.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded model; om_model_free frees it. */
typedef struct om_model om_model;
/* The memory and threads of one inference at a time; om_session_free frees it. */
typedef struct om_session om_session;

/* Pointers in these structures belong to the model and live as long as it does. */

/* Facts about a model. Sizes are in bytes. */
typedef struct om_model_info {
  size_t struct_size;
  const char *name;
  const char *producer;
  const char *command_line;
  const char *target;
  const char *cpu_level; /* the code image chosen for this machine; "" where no
                          * launch runs on the CPU */
  uint32_t schema_major, schema_minor;
  uint32_t inputs, outputs, tensors, launches;
  uint64_t file_bytes, weights_bytes, code_bytes, arena_bytes;
  uint64_t scratch_bytes; /* per thread */
  const char *soc;        /* the NPU that `npu_launches` need; "" where there are none */
  uint32_t npu_launches;
  uint64_t npu_bytes; /* size of the encoded NPU programs */
} om_model_info;
#define OM_MODEL_INFO_INIT                                                                         \
  {sizeof(om_model_info), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0}

/* A tensor of a model. */
typedef struct om_tensor_info {
  size_t struct_size;
  const char *name;
  om_dtype dtype;
  uint32_t rank;
  const int64_t *dims; /* logical dims */
  uint64_t elements;   /* the product of the dims */
  uint64_t bytes;      /* size in dense row-major layout: what a caller passes */
  om_space space;      /* where the tensor is stored while it lives */
  uint32_t block;      /* channels per block of the stored layout, 0 = not blocked */
  /* For the inputs and outputs of a model with a dynamic schedule: a dim of -1 is
   * dynamic, and then `elements` and `bytes` are 0. `dtype` is that of the items
   * of a sequence, OM_UNDEFINED where any type is accepted. */
  om_kind kind;
  int ranked;   /* 0: the tensor may have any rank; `rank` is 0 then    */
  int optional; /* 1: the value may be of kind OM_KIND_NONE             */
} om_tensor_info;
#define OM_TENSOR_INFO_INIT                                                                        \
  {sizeof(om_tensor_info), NULL, OM_UNDEFINED, 0, NULL, 0, 0, OM_ARENA, 0, OM_KIND_TENSOR, 1, 0}

/* A launch of a model's schedule, or a call of a host kernel. */
typedef struct om_launch_info {
  size_t struct_size;
  const char *name;
  const char *kernel;
  uint64_t cost;  /* estimated floating-point operations or bytes moved */
  uint64_t tasks; /* number of independent tasks of the kernel          */
  uint32_t reads_count, writes_count;
  const uint32_t *reads; /* tensor indices */
  const uint32_t *writes;
  int npu;            /* 1: `kernel` is a program of the NPU, `tasks` is the number of its cores */
  uint64_t macs;      /* multiply-accumulates of an NPU launch, else 0              */
  int host;           /* 1: a call of a host kernel; these are numbered behind all
                       * launches, in the order of the dynamic schedule              */
  const char *tensor; /* the name of output 0 of a host kernel's call; NULL for launches */
} om_launch_info;
#define OM_LAUNCH_INFO_INIT                                                                        \
  {sizeof(om_launch_info), NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, NULL}

#define OM_KEY_BYTES 32
#define OM_SIGNATURE_BYTES 64
#define OM_DIGEST_BYTES 32

/* An Ed25519 public key. */
typedef struct om_public_key {
  uint8_t bytes[OM_KEY_BYTES];
} om_public_key;

/* The cryptography that a caller provides for `require_signature`; this library
 * has none. openatc/trust.h has an implementation on libsodium. Both functions
 * return 0 for success. */
typedef struct om_crypto {
  size_t struct_size;
  void *user;
  /* Verifies that `signature` is the Ed25519 signature of the message under the key. */
  int (*verify)(void *user, const om_public_key *key, const uint8_t signature[OM_SIGNATURE_BYTES],
                const void *message, size_t bytes);
  /* Computes BLAKE2b of `bytes` bytes, 32 bytes long and without a key. */
  int (*digest)(void *user, const void *data, size_t bytes, uint8_t result[OM_DIGEST_BYTES]);
} om_crypto;

/* Options for loading a model. Initialize them with OM_LOAD_OPTIONS_INIT. */
typedef struct om_load_options {
  size_t struct_size;
  /* 1 (the default): om_model_load_... checks the weights. 0: it does not read
   * them; om_model_verify_weights checks them when the caller wants. Tables that
   * code computes addresses from are always checked, and so are the weights of a
   * model whose signature is required. */
  int verify_weights;
  const char *cpu_level;             /* use this code image; NULL: the best that fits  */
  int refuse_native_code;            /* OM_ERROR_NATIVE_CODE for a model with any native code */
  int require_signature;             /* accept only models signed with one of `trusted_keys`  */
  const om_public_key *trusted_keys; /* used during the call only            */
  size_t trusted_key_count;
  const om_crypto *crypto; /* used during the call only; om_trust_crypto()   */
  /* that read large weights to check them, with the caller, and end with the call; 0: as many as
   * pay of those that the process may use */
  uint32_t threads;
} om_load_options;
#define OM_LOAD_OPTIONS_INIT {sizeof(om_load_options), 1, NULL, 0, 0, NULL, 0, NULL, 0}

#define OM_DEFAULT_SERIAL_COST 30000
#define OM_DEFAULT_SPIN_US 200

/* The value of a limit that stands for "no limit". */
#define OM_NO_LIMIT UINT64_MAX

struct om_device; /* openatc/device.h */

/* Options of a session. Initialize them with OM_SESSION_OPTIONS_INIT. */
typedef struct om_session_options {
  size_t struct_size;
  uint32_t threads;     /* including the caller; 0: as many as the process may use */
  uint32_t spin_us;     /* microseconds that an idle thread spins before it sleeps */
  uint64_t serial_cost; /* a launch of lower cost stays on the calling thread      */
  /* Runs the NPU launches of a model that has any, for one session at a time;
   * must outlive the session. openatc/npu.h has a simulated one. */
  const struct om_device *device;
  uint64_t seed; /* of random generators whose node has no seed; 0: from the time */
  /* Limits; 0 is the default, OM_NO_LIMIT is no limit. A run that exceeds one ends
   * with OM_ERROR_LIMIT and a sentence that names the node, its request and the
   * limit. The session can be used again, and holds nothing of the run. */
  /* Bytes that the session holds at once: arena, scratch of its threads, and all
   * values of a run, including outputs. Not counted are inputs (they are the
   * caller's) and outputs after the run. Default: three quarters of the machine's
   * memory, or of the container's (cgroup 2) where that is less. */
  uint64_t max_memory;
  /* Iterations per run, of all loops of its dynamic schedule together. Default: none. */
  uint64_t max_iterations;
  /* Microseconds per run. The clock is read between steps, and between the tasks
   * of a host kernel; a kernel in generated code and a launch of a device are not
   * interrupted. Default: none. */
  uint64_t max_run_us;
} om_session_options;
#define OM_SESSION_OPTIONS_INIT                                                                    \
  {sizeof(om_session_options), 0, OM_DEFAULT_SPIN_US, OM_DEFAULT_SERIAL_COST, NULL, 0, 0, 0, 0}

/* ---- models ------------------------------------------------------------- */

/* Maps and verifies a file. `options` may be NULL. On failure `*model` is NULL. */
OM_API om_status om_model_load_file(const char *path, const om_load_options *options,
                                    om_model **model, om_error *error);

/* Verifies a model in memory, which must stay unchanged until om_model_free. It is
 * used in place where `data` is 64-byte aligned, else copied once. */
OM_API om_status om_model_load_memory(const void *data, size_t bytes,
                                      const om_load_options *options, om_model **model,
                                      om_error *error);

/* Frees a model. All its sessions must have been freed. NULL is allowed. */
OM_API void om_model_free(om_model *model);

/* Reads all weights and compares their hash with the file's; OM_ERROR_CORRUPT where
 * they differ. */
OM_API om_status om_model_verify_weights(const om_model *model, om_error *error);

/* Fill `info`, whose struct_size must be set, with facts about the model or about one
 * of its inputs, outputs, tensors or launches. OM_ERROR_ARGUMENT where `index` is out
 * of range; om_model_info has the counts. */
OM_API om_status om_model_get_info(const om_model *model, om_model_info *info);
OM_API om_status om_model_get_input(const om_model *model, uint32_t index, om_tensor_info *info);
OM_API om_status om_model_get_output(const om_model *model, uint32_t index, om_tensor_info *info);
OM_API om_status om_model_get_tensor(const om_model *model, uint32_t index, om_tensor_info *info);
OM_API om_status om_model_get_launch(const om_model *model, uint32_t index, om_launch_info *info);

/* Return the index of the input or output with this name, OM_NO_INDEX where the model has none. */
OM_API uint32_t om_model_find_input(const om_model *model, const char *name);
OM_API uint32_t om_model_find_output(const om_model *model, const char *name);

/* Returns the model's name of a dynamic dim of an input or output, such as "batch"; "" where the
 * dim has none, is static, or where there is no such dim. Dims of one name have one size in a
 * run. `space` is OM_INPUT or OM_OUTPUT. The text belongs to the model. */
OM_API const char *om_model_dim_name(const om_model *model, om_space space, uint32_t index,
                                     uint32_t dim);

/* Facts that the author of the model has stated about it, pairs of a key and a value: the
 * metadata of an ONNX file. The texts belong to the model. */

/* Returns the number of facts. */
OM_API uint32_t om_model_metadata_count(const om_model *model);
/* Returns fact `index`, in the order of the keys; OM_ERROR_ARGUMENT where there is none. */
OM_API om_status om_model_get_metadata(const om_model *model, uint32_t index, const char **key,
                                       const char **value);
/* Returns the value of a fact; NULL where the model does not state it. */
OM_API const char *om_model_find_metadata(const om_model *model, const char *key);

/* ---- sessions ----------------------------------------------------------- */

/* Allocates the memory and starts the threads of a session. `options` may be NULL.
 * The model must outlive the session. On failure `*session` is NULL. */
OM_API om_status om_session_create(const om_model *model, const om_session_options *options,
                                   om_session **session, om_error *error);
/* Frees a session and ends its threads. NULL is allowed. */
OM_API void om_session_free(om_session *session);
/* Returns the number of threads, including the caller's. */
OM_API uint32_t om_session_threads(const om_session *session);

/* Ends the run in progress at its next step with OM_ERROR_CANCELLED; where there is
 * none, the next run before its first step. This is the only function that another
 * thread, or a signal handler, may call while a thread runs the session. */
OM_API void om_session_cancel(om_session *session);

/* Runs the model. inputs[i] and outputs[i] are the caller's dense row-major tensors
 * in the model's order, 64-byte aligned, used in place; outputs must not overlap each
 * other or an input. Returns OM_ERROR_ARGUMENT for a model with an input or output
 * whose size is not known in advance: use om_session_run_values. In a model with gears
 * the tensors have the sizes of the gear that the run uses; see "gears" below. */
OM_API om_status om_session_run(om_session *session, const void *const *inputs,
                                void *const *outputs, om_error *error);

/* Called when a run that was started has ended, on the session's own thread: it must not call
 * functions of the session. `error` is NULL for OM_OK, and lives as long as the call. */
typedef void (*om_done_callback)(void *user, om_status status, const om_error *error);

/* Starts a run as om_session_run does it, on a thread of the session, and returns at once. The
 * arrays of pointers and what they point to must stay until the run has ended. `done` may be NULL.
 * Until om_session_wait has returned, only om_session_cancel, om_session_is_running,
 * om_session_wait and om_session_free may be called. OM_ERROR_ARGUMENT where the last run that was
 * started has not been waited for. */
OM_API om_status om_session_start_run(om_session *session, const void *const *inputs,
                                      void *const *outputs, om_done_callback done, void *user,
                                      om_error *error);
/* Returns 1 while a run that was started has not ended, else 0. */
OM_API int om_session_is_running(om_session *session);
/* Waits for the run that was started and returns its status and error; OM_ERROR_ARGUMENT where
 * none was. om_session_free waits too. */
OM_API om_status om_session_wait(om_session *session, om_error *error);

/* Called after each launch and each call of a host kernel of an observed run, on the calling
 * thread; om_launch_info says how both are numbered. A value other than 0 ends the run with
 * OM_ERROR_ARGUMENT. */
typedef int (*om_launch_callback)(void *user, uint32_t launch);

/* Runs the model as om_session_run does and calls `callback` after each launch. */
OM_API om_status om_session_run_observed(om_session *session, const void *const *inputs,
                                         void *const *outputs, om_launch_callback callback,
                                         void *user, om_error *error);

/* Copies a tensor into dense row-major layout; `bytes` must be om_tensor_info.bytes.
 * Tensors in the arena share memory: a tensor is intact only between the launch that
 * writes it and the next one that reuses its memory, that is, in an
 * om_launch_callback. */
OM_API om_status om_session_read_tensor(const om_session *session, uint32_t tensor, void *data,
                                        size_t bytes, om_error *error);

/* Switches the per-launch clock of later runs and resets all times. */
OM_API void om_session_set_profile(om_session *session, int on);

/* Returns the total time spent in `launch` over the `runs` runs since the profile was
 * switched on. Both pointers may be NULL. OM_ERROR_ARGUMENT where there is no such
 * launch. */
OM_API om_status om_session_get_profile(const om_session *session, uint32_t launch,
                                        uint64_t *nanoseconds, uint64_t *runs);

/* ---- gears -------------------------------------------------------------- */

/* A model compiled with --dynamic_batch_size, --dynamic_image_size or --dynamic_dims holds
 * one static schedule per gear over one set of weights. A gear is one choice of the dynamic
 * dims: its `values`. Ranges in --input_shape (kind OM_GEARS_RANGE) become gears as well.
 *
 * Inputs and outputs of such a model (om_model_get_input, om_model_get_output) have dims of
 * -1 where they depend on the gear; their `elements` and `bytes` are 0. The shapes of one
 * gear are those of om_model_get_gear_input and om_model_get_gear_output.
 *
 * Every run uses one gear. It is, in this order:
 * 1. the one of om_session_set_gear, until that is called again;
 * 2. that of the values in the input OM_GEAR_INPUT_NAME, where it is given: a tensor of
 *    OM_I64 with dims [values], the last input of the model;
 * 3. with om_session_run_values, the one that has the shapes of the inputs.
 * Where there is none, or the shapes of om_session_run_values are not those of the gear, the
 * run ends with OM_ERROR_ARGUMENT and a sentence that lists the gears. */

/* The name of the input that chooses the gear; ACL_DYNAMIC_TENSOR_NAME has the same text. */
#define OM_GEAR_INPUT_NAME "ascend_mbatch_shape_data"

/* A gear, and an index of an input, where there is none. */
#define OM_NO_GEAR UINT32_MAX
#define OM_NO_INPUT UINT32_MAX

/* The meaning of the values of a gear. */
typedef enum om_gear_kind OM_ENUM_TYPE {
  OM_GEARS_NONE = 0,  /* the model has no gears                                           */
  OM_GEARS_BATCH = 1, /* --dynamic_batch_size: one value, the batch                       */
  OM_GEARS_IMAGE = 2, /* --dynamic_image_size: two values, height and width               */
  OM_GEARS_DIMS = 3,  /* --dynamic_dims: one value per -1 in --input_shape, in its order  */
  OM_GEARS_RANGE = 4  /* -1 and a~b in --input_shape for an NPU: one value per such dim. A run
                       * takes every value from `min` to `max` of its axis: inputs are padded
                       * with zeros to the smallest gear that holds them, outputs cropped. The
                       * compiler has proved that this does not change what is left. There is
                       * no input OM_GEAR_INPUT_NAME.                                       */
} om_gear_kind;

typedef struct om_gears_info {
  size_t struct_size;
  om_gear_kind kind;
  uint32_t gears;       /* how many; 0 for OM_GEARS_NONE                             */
  uint32_t values;      /* how many each gear has                                    */
  uint32_t axes;        /* how many om_model_get_gear_axis knows                     */
  uint32_t shape_input; /* the input OM_GEAR_INPUT_NAME; OM_NO_INPUT: there is none  */
} om_gears_info;
#define OM_GEARS_INFO_INIT {sizeof(om_gears_info), OM_GEARS_NONE, 0, 0, 0, OM_NO_INPUT}

/* One gear. `values` belongs to the model. */
typedef struct om_gear_info {
  size_t struct_size;
  const int64_t *values; /* om_gears_info.values of them                           */
  uint32_t first_launch; /* its launches are [first_launch, first_launch + launches) */
  uint32_t launches;     /*   of those that om_model_get_launch counts              */
  uint64_t arena_bytes;  /* of om_model_info.arena_bytes, what this gear uses       */
} om_gear_info;
#define OM_GEAR_INFO_INIT {sizeof(om_gear_info), NULL, 0, 0, 0}

/* A dim of an input, or for OM_GEARS_RANGE of an output, that is a value of the gear. A dim
 * of an output that depends on the gear in any other way is no axis. */
typedef struct om_gear_axis {
  size_t struct_size;
  int output;       /* 0: of an input, 1: of an output                              */
  uint32_t index;   /* of the input or output                                       */
  uint32_t dim;     /* 0 is the outermost                                           */
  uint32_t value;   /* which of the gear's values the dim is                        */
  int64_t min, max; /* of all gears; for OM_GEARS_RANGE the bounds that a run takes */
} om_gear_axis;
#define OM_GEAR_AXIS_INIT {sizeof(om_gear_axis), 0, 0, 0, 0, 0, 0}

/* Describes the gears of a model; `kind` is OM_GEARS_NONE and `gears` 0 where it has none. */
OM_API om_status om_model_get_gears(const om_model *model, om_gears_info *info);

/* Describe a gear, an axis, and an input or output as it is in a gear: static dims and the
 * bytes that om_session_run reads or writes. OM_ERROR_ARGUMENT for an index that the model
 * does not have. `space` is OM_INPUT or OM_OUTPUT. */
OM_API om_status om_model_get_gear(const om_model *model, uint32_t gear, om_gear_info *info);
OM_API om_status om_model_get_gear_axis(const om_model *model, uint32_t axis, om_gear_axis *info);
OM_API om_status om_model_get_gear_input(const om_model *model, uint32_t gear, uint32_t index,
                                         om_tensor_info *info);
OM_API om_status om_model_get_gear_output(const om_model *model, uint32_t gear, uint32_t index,
                                          om_tensor_info *info);

/* Chooses the gear with these `count` values for all runs from now on; the input
 * OM_GEAR_INPUT_NAME is not read then and may be NULL. For OM_GEARS_RANGE the values may be
 * any within the bounds: inputs and outputs of om_session_run then have these sizes, which no
 * gear need have. With a count of 0 each run finds its gear again. OM_ERROR_ARGUMENT with a
 * sentence that lists the gears where the model has none with these values; the choice before
 * stays. Nothing is allocated. */
OM_API om_status om_session_set_gear(om_session *session, const int64_t *values, uint32_t count,
                                     om_error *error);

/* Returns the gear that om_session_set_gear has chosen, or else that of the last run;
 * OM_NO_GEAR where there was none yet. */
OM_API uint32_t om_session_gear(const om_session *session);

/* ---- values ------------------------------------------------------------- */

/* A tensor of any shape, a sequence, a map, or none. A value never changes, and may be
 * shared by sessions and threads. It has a reference count: whoever creates or is given
 * a value releases it. */
typedef struct om_value om_value;

/* Creates a tensor with a copy of the elements, which are dense and row-major; where
 * `data` is NULL they are zeros. Not for strings. */
OM_API om_status om_value_create_tensor(om_dtype dtype, uint32_t rank, const int64_t *dims,
                                        const void *data, om_value **value, om_error *error);
/* Creates a tensor that uses the caller's elements, 64-byte aligned, which must stay
 * unchanged as long as the value lives. */
OM_API om_status om_value_borrow_tensor(om_dtype dtype, uint32_t rank, const int64_t *dims,
                                        const void *data, om_value **value, om_error *error);
/* Creates a tensor of strings with copies of the texts, none of which is NULL. `sizes`
 * are in bytes; where it is NULL the texts are null-terminated. */
OM_API om_status om_value_create_strings(uint32_t rank, const int64_t *dims,
                                         const char *const *texts, const size_t *sizes,
                                         om_value **value, om_error *error);
/* Creates a sequence that shares its items: tensors of `dtype`; or sequences, or maps,
 * that all have the same element type (maps: and the same key type), and then `dtype` is
 * ignored. */
OM_API om_status om_value_create_sequence(om_dtype dtype, size_t count,
                                          const om_value *const *items, om_value **value,
                                          om_error *error);
/* Creates a map that shares two tensors of rank 1 and equal length. */
OM_API om_status om_value_create_map(const om_value *keys, const om_value *values, om_value **value,
                                     om_error *error);
/* Creates an optional without a value. */
OM_API om_status om_value_create_none(om_value **value, om_error *error);
/* Adds a reference. NULL is allowed. */
OM_API void om_value_retain(const om_value *value);
/* Drops a reference and frees the value with the last one. NULL is allowed. */
OM_API void om_value_release(const om_value *value);

/* Returns the kind of a value; OM_KIND_NONE for NULL. */
OM_API om_kind om_value_kind(const om_value *value);
/* Returns the description and the elements of a tensor, which live as long as it.
 * Results whose pointer is NULL are skipped. OM_ERROR_ARGUMENT for other kinds. For
 * tensors of strings use om_value_get_string. */
OM_API om_status om_value_get_tensor(const om_value *value, om_dtype *dtype, uint32_t *rank,
                                     const int64_t **dims, const void **data);
/* Returns an element of a tensor of strings; its bytes are not terminated and live as
 * long as the value. OM_ERROR_ARGUMENT where there is no such string. */
OM_API om_status om_value_get_string(const om_value *value, uint64_t index, const char **data,
                                     size_t *size);
/* Returns the number of elements of a tensor or of items of a sequence (of a map: 2). */
OM_API uint64_t om_value_size(const om_value *value);
/* Returns an item of a sequence or map, which lives as long as the list; NULL where
 * there is none. No reference is added. */
OM_API const om_value *om_value_item(const om_value *value, uint64_t index);

/* Runs any model on values and returns new ones in `outputs`, in the model's order; the
 * caller releases them. An input that is NULL has no value. Shapes and types are
 * checked. On failure no output is returned. */
OM_API om_status om_session_run_values(om_session *session, const om_value *const *inputs,
                                       om_value **outputs, om_error *error);

/* Runs the model as om_session_run_values does and calls `callback` after each launch and each
 * call of a host kernel. */
OM_API om_status om_session_run_values_observed(om_session *session, const om_value *const *inputs,
                                                om_value **outputs, om_launch_callback callback,
                                                void *user, om_error *error);

/* Returns output `output` of the call of a host kernel that an om_launch_callback is called for;
 * it lives until the callback returns. NULL where the output is not used, where its elements are
 * not dense (the caches of attention), for a launch and where there is no such output. */
OM_API const om_value *om_session_result(const om_session *session, uint32_t launch,
                                         uint32_t output);

/* Returns how many indices of a dynamic dim the launch computes that an om_launch_callback is
 * called for, and in `begin` the first of them, where the launch is one of a loop over tiles of
 * that dim; 0 for others. */
OM_API int64_t om_session_tile(const om_session *session, int64_t *begin);

/* Starts a run on values; see om_session_start_run. The outputs are set when om_session_wait has
 * returned OM_OK, and released by the caller. */
OM_API om_status om_session_start_run_values(om_session *session, const om_value *const *inputs,
                                             om_value **outputs, om_done_callback done, void *user,
                                             om_error *error);

/* ---- state -------------------------------------------------------------- */

/* A model may declare that an output is the value of an input in the next run: the keys and
 * values of a language model, the state of a recurrent one. A session keeps such values where
 * om_session_keep_state asks for it; without that, they are inputs and outputs like all
 * others. A session that keeps its state is run with om_session_run_values:
 * - A state's input may be NULL: it is the state. A value that is given replaces the state.
 * - A state's output is not returned: outputs[i] is NULL, and the value is the state now.
 * - Before the first run, and after a reset, a state is zeros, or what the file has for it.
 *   Its dynamic dims are those of other inputs, where the model declares it (the batch), and
 *   else 0 (the positions so far).
 * - After a run that failed the state is what it was before.
 * Values move without a copy. Attention appends to the keys and values it has cached in place;
 * memory grows by half when it is full. The bytes of the state count against max_memory. */

/* A state of a model. */
typedef struct om_state_info {
  size_t struct_size;
  const char *name; /* of the input */
  uint32_t input;   /* the index of the input that reads it    */
  uint32_t output;  /* the index of the output that becomes it */
  uint32_t initial; /* 1 + the index of the tensor that holds its first value; 0: zeros */
} om_state_info;
#define OM_STATE_INFO_INIT {sizeof(om_state_info), NULL, 0, 0, 0}

/* Returns the number of states that a model declares. */
OM_API uint32_t om_model_states(const om_model *model);
/* Describes a state; OM_ERROR_ARGUMENT where `index` is out of range. */
OM_API om_status om_model_get_state(const om_model *model, uint32_t index, om_state_info *info);

/* Makes the session keep its state from run to run (on != 0), or treat states as inputs and
 * outputs; both forget the state. OM_ERROR_ARGUMENT where the model declares none. */
OM_API om_status om_session_keep_state(om_session *session, int on, om_error *error);
/* Forgets the state: the next run starts from the beginning. */
OM_API void om_session_reset_state(om_session *session);
/* Returns a dense copy of a state, which the caller releases; a value of OM_KIND_NONE where no
 * run has made one since the last reset. OM_ERROR_ARGUMENT where `index` is out of range or the
 * session keeps no state. */
OM_API om_status om_session_read_state(om_session *session, uint32_t index, om_value **value,
                                       om_error *error);
/* Sets a state, which shares `value`; NULL resets it. OM_ERROR_ARGUMENT where the value does not
 * have the type of the state's input, and as for om_session_read_state. */
OM_API om_status om_session_write_state(om_session *session, uint32_t index, const om_value *value,
                                        om_error *error);

/* ---- names -------------------------------------------------------------- */

/* These strings are constants. */
OM_API const char *om_version(void);               /* version of this library    */
OM_API const char *om_status_name(om_status code); /* "OM_ERROR_CORRUPT"          */
OM_API const char *om_dtype_name(om_dtype dtype);  /* "f32"; "undefined" otherwise */
OM_API uint32_t om_dtype_bits(om_dtype dtype);     /* bits per element; 0: strings, no type */

#ifdef __cplusplus
}
#endif

#endif
