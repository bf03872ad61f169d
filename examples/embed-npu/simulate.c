/*===-- simulate.c - a C program that runs a network on the simulated NPU ---===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*
 *   simulate digits.om digit_3.npy [own-soc.txt]
 *
 * runs a network that was compiled with --soc_version on one input, a .npy file of
 * the type and size that the network takes, prints its first output, if that is
 * float32, and then what the run took on the NPU, as JSON. A third argument is a
 * table that is simulated in place of the model's.
 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */

#include <openatc/npu.h>
#include <openatc/om.h>

#include <stdio.h>
#include <stdlib.h>

/* Reads what follows the header of a .npy file: "\x93NUMPY", two bytes of version,
 * two bytes of header length, the header, then the numbers. */
static int read_npy(const char *path, void *data, size_t bytes) {
  unsigned char start[10];
  FILE *file = fopen(path, "rb");
  int good = file && fread(start, 1, sizeof(start), file) == sizeof(start) &&
             fseek(file, start[8] + 256L * start[9], SEEK_CUR) == 0 &&
             fread(data, 1, bytes, file) == bytes;
  if (file)
    fclose(file);
  return good;
}

/* Aligned as a session wants it. */
static void *allocate(size_t bytes) {
  void *data = NULL;
  return posix_memalign(&data, OM_ALIGNMENT, bytes) ? NULL : data;
}

int main(int argc, char **argv) {
  om_error error;
  om_model *model = NULL;
  om_npu *npu = NULL;
  om_session *session = NULL;
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  om_session_options with_npu = OM_SESSION_OPTIONS_INIT;
  om_tensor_info in = OM_TENSOR_INFO_INIT, out = OM_TENSOR_INFO_INIT;
  const void *inputs[1];
  void *outputs[1] = {NULL}, *input = NULL;
  size_t i;
  int status = 1;

  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: %s network.om input.npy [own-soc.txt]\n", argv[0]);
    return 2;
  }
  options.soc_file = argc == 4 ? argv[3] : NULL;
  if (om_model_load_file(argv[1], NULL, &model, &error) != OM_OK ||
      om_npu_simulator(&options, &npu, &error) != OM_OK) {
    fprintf(stderr, "%s\n", error.message);
  } else {
    with_npu.device = om_npu_device(npu);
    if (om_session_create(model, &with_npu, &session, &error) != OM_OK) {
      fprintf(stderr, "%s\n%s", error.message, om_npu_text(npu, OM_NPU_FAULTS));
    } else if (om_model_get_input(model, 0, &in) != OM_OK ||
               om_model_get_output(model, 0, &out) != OM_OK || !(input = allocate(in.bytes)) ||
               !(outputs[0] = allocate(out.bytes))) {
      fprintf(stderr, "%s has no input or no output\n", argv[1]);
    } else if (!read_npy(argv[2], input, in.bytes)) {
      fprintf(stderr, "%s does not hold %lu bytes\n", argv[2], (unsigned long)in.bytes);
    } else {
      inputs[0] = input;
      if (om_session_run(session, inputs, outputs, &error) != OM_OK) {
        fprintf(stderr, "%s\n", error.message);
      } else {
        for (i = 0; out.dtype == OM_F32 && i < out.bytes / sizeof(float); ++i)
          printf("%.9g%c", ((float *)outputs[0])[i],
                 i + 1 < out.bytes / sizeof(float) ? ' ' : '\n');
        puts(om_npu_text(npu, OM_NPU_STATISTICS));
        status = 0;
      }
    }
  }
  om_session_free(session); /* before its device */
  om_npu_free(npu);
  om_model_free(model);
  free(outputs[0]);
  free(input);
  return status;
}
