/* Runs a model on tensors that a file holds and writes the results, for tests that have no om-run
 * on the machine: run_values MODEL INPUTS OUTPUTS [THREADS]. A tensor is its type, its rank and its
 * dims, each a number of 64 bits, and its elements; inputs and outputs follow each other.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "openatc/om.h"

#include <stdio.h>
#include <stdlib.h>

enum { maxPorts = 32 };

static om_error error;

static int fail(void) {
  fprintf(stderr, "%d: %s\n", (int)error.code, error.message);
  return 1;
}

static size_t bytes_of(om_dtype dtype, uint64_t elements) {
  return (size_t)(elements * om_dtype_bits(dtype) / 8);
}

static om_value *read_value(FILE *file) {
  int64_t head[2], dims[OM_MAX_RANK];
  om_value *value = NULL;
  uint64_t elements = 1;
  void *data;
  size_t bytes;
  int64_t i;
  if (fread(head, sizeof(int64_t), 2, file) != 2 ||
      fread(dims, sizeof(int64_t), (size_t)head[1], file) != (size_t)head[1])
    return NULL;
  for (i = 0; i < head[1]; ++i)
    elements *= (uint64_t)dims[i];
  bytes = bytes_of((om_dtype)head[0], elements);
  data = malloc(bytes + 1);
  if (data && fread(data, 1, bytes, file) == bytes)
    om_value_create_tensor((om_dtype)head[0], (uint32_t)head[1], dims, data, &value, &error);
  free(data);
  return value;
}

static int write_value(FILE *file, const om_value *value) {
  om_dtype dtype;
  uint32_t rank;
  const int64_t *dims;
  const void *data;
  int64_t head[2];
  size_t bytes;
  if (om_value_get_tensor(value, &dtype, &rank, &dims, &data) != OM_OK)
    return 1;
  head[0] = (int64_t)dtype;
  head[1] = rank;
  bytes = bytes_of(dtype, om_value_size(value));
  return fwrite(head, sizeof(int64_t), 2, file) != 2 ||
         fwrite(dims, sizeof(int64_t), rank, file) != rank || fwrite(data, 1, bytes, file) != bytes;
}

int main(int argc, char **argv) {
  om_load_options load = OM_LOAD_OPTIONS_INIT;
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  om_model_info info = OM_MODEL_INFO_INIT;
  om_model *model;
  om_session *session;
  om_value *inputs[maxPorts], *outputs[maxPorts];
  FILE *file;
  uint32_t i;
  if (argc < 4)
    return 2;
  options.serial_cost = 0; /* all launches are divided among the threads */
  options.threads = argc > 4 ? (uint32_t)atoi(argv[4]) : 2;
  if (om_model_load_file(argv[1], &load, &model, &error) != OM_OK ||
      om_model_get_info(model, &info) != OM_OK ||
      om_session_create(model, &options, &session, &error) != OM_OK)
    return fail();
  file = fopen(argv[2], "rb");
  if (!file || info.inputs > maxPorts || info.outputs > maxPorts)
    return 2;
  for (i = 0; i < info.inputs; ++i)
    if (!(inputs[i] = read_value(file)))
      return fail();
  fclose(file);
  if (om_session_run_values(session, (const om_value *const *)inputs, outputs, &error) != OM_OK)
    return fail();
  file = fopen(argv[3], "wb");
  if (!file)
    return 2;
  for (i = 0; i < info.outputs; ++i)
    if (write_value(file, outputs[i]))
      return 2;
  for (i = 0; i < info.inputs; ++i)
    om_value_release(inputs[i]);
  for (i = 0; i < info.outputs; ++i)
    om_value_release(outputs[i]);
  om_session_free(session);
  om_model_free(model);
  return fclose(file) != 0;
}
