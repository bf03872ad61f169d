/*===-- size_probe.c - a C program that uses the whole interface -----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Linked by the C compiler, without the C++ library; runtime-size.py measures
 * how much code the runtime brings.
 */
#include "openatc/om.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const om_error *error) {
  fprintf(stderr, "%s: %s\n", om_status_name(error->code), error->message);
  return 1;
}

int main(int argc, char **argv) {
  om_error error;
  om_model *model;
  om_session *session;
  om_model_info info = OM_MODEL_INFO_INIT;
  if (argc < 2)
    return 1;
  if (om_model_load_file(argv[1], NULL, &model, &error) != OM_OK)
    return fail(&error);
  if (om_model_verify_weights(model, &error) != OM_OK)
    return fail(&error);
  om_model_get_info(model, &info);
  if (om_session_create(model, NULL, &session, &error) != OM_OK)
    return fail(&error);

  const void **inputs = calloc(info.inputs + 1, sizeof(void *));
  void **outputs = calloc(info.outputs + 1, sizeof(void *));
  om_tensor_info tensor = OM_TENSOR_INFO_INIT;
  for (uint32_t i = 0; i < info.inputs; ++i) {
    om_model_get_input(model, i, &tensor);
    inputs[i] = calloc(1, tensor.bytes + OM_ALIGNMENT);
    inputs[i] =
        (const void *)(((uintptr_t)inputs[i] + OM_ALIGNMENT - 1) / OM_ALIGNMENT * OM_ALIGNMENT);
  }
  for (uint32_t i = 0; i < info.outputs; ++i) {
    om_model_get_output(model, i, &tensor);
    outputs[i] = calloc(1, tensor.bytes + OM_ALIGNMENT);
    outputs[i] = (void *)(((uintptr_t)outputs[i] + OM_ALIGNMENT - 1) / OM_ALIGNMENT * OM_ALIGNMENT);
  }
  om_session_set_profile(session, 1);
  if (om_session_run(session, inputs, outputs, &error) != OM_OK)
    return fail(&error);
  if (om_session_run_observed(session, inputs, outputs, NULL, NULL, &error) != OM_OK)
    return fail(&error);
  if (om_session_start_run(session, inputs, outputs, NULL, NULL, &error) != OM_OK ||
      om_session_wait(session, &error) != OM_OK)
    return fail(&error);
  printf("input 'x' is %u, a dim of it '%s', %u facts\n", om_model_find_input(model, "x"),
         om_model_dim_name(model, OM_INPUT, 0, 0), om_model_metadata_count(model));
  for (uint32_t i = 0; i < info.launches; ++i) {
    om_launch_info launch = OM_LAUNCH_INFO_INIT;
    uint64_t nanoseconds, runs;
    om_model_get_launch(model, i, &launch);
    om_session_get_profile(session, i, &nanoseconds, &runs);
    printf("%s %s %llu ns in %llu runs\n", launch.name, launch.kernel,
           (unsigned long long)nanoseconds, (unsigned long long)runs);
  }
  om_model_get_tensor(model, 0, &tensor);
  void *copy = malloc(tensor.bytes);
  if (om_session_read_tensor(session, 0, copy, tensor.bytes, &error) != OM_OK)
    return fail(&error);
  printf("%s: %s %u threads, %s\n", om_version(), om_dtype_name(tensor.dtype),
         om_session_threads(session), info.cpu_level);
  om_session_cancel(session);
  om_session_free(session);
  om_model_free(model);
  om_model *none = NULL;
  return om_model_load_memory(argv[1], 4, NULL, &none, &error) == OM_OK;
}
