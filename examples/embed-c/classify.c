/*===-- classify.c - a C program that runs a compiled network ---------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*
 *   classify digits.om digit_3.npy
 *
 * prints the digit with the highest score, then the scores.
 */
#include <openatc/om.h>

#include <stdio.h>
#include <stdlib.h>

static float input[28 * 28] __attribute__((aligned(OM_ALIGNMENT)));
static float scores[10] __attribute__((aligned(OM_ALIGNMENT)));

/* Reads the numbers of a .npy file: "\x93NUMPY", two bytes of version, two bytes of
 * header length, the header, then float32. */
static int read_picture(const char *path) {
  unsigned char start[10];
  FILE *file = fopen(path, "rb");
  int good = file && fread(start, 1, sizeof(start), file) == sizeof(start) &&
             fseek(file, start[8] + 256L * start[9], SEEK_CUR) == 0 &&
             fread(input, 1, sizeof(input), file) == sizeof(input);
  if (file)
    fclose(file);
  return good;
}

int main(int argc, char **argv) {
  om_error error;
  om_model *model = NULL;
  om_session *session = NULL;
  om_tensor_info in = OM_TENSOR_INFO_INIT, out = OM_TENSOR_INFO_INIT;
  const void *inputs[] = {input};
  void *outputs[] = {scores};
  int i, best = 0, status = 1;

  if (argc != 3) {
    fprintf(stderr, "usage: %s digits.om picture.npy\n", argv[0]);
    return 2;
  }
  if (om_model_load_file(argv[1], NULL, &model, &error) != OM_OK ||
      om_session_create(model, NULL, &session, &error) != OM_OK) {
    fprintf(stderr, "%s\n", error.message);
  } else if (om_model_get_input(model, 0, &in) != OM_OK || in.bytes != sizeof(input) ||
             om_model_get_output(model, 0, &out) != OM_OK || out.bytes != sizeof(scores)) {
    fprintf(stderr, "%s takes no 28 x 28 picture or gives no 10 scores\n", argv[1]);
  } else if (!read_picture(argv[2])) {
    fprintf(stderr, "%s is no picture of 28 x 28 float32\n", argv[2]);
  } else if (om_session_run(session, inputs, outputs, &error) != OM_OK) {
    fprintf(stderr, "%s\n", error.message);
  } else {
    for (i = 1; i < 10; ++i)
      if (scores[i] > scores[best])
        best = i;
    printf("%d\n", best);
    for (i = 0; i < 10; ++i)
      printf("%.9g%c", scores[i], i < 9 ? ' ' : '\n');
    status = 0;
  }
  om_session_free(session);
  om_model_free(model);
  return status;
}
