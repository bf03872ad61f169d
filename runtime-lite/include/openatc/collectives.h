/*===-- openatc/collectives.h - what connects the ranks of a model ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A network that was split over several ranks when it was compiled is one file per
 * rank. Its schedule has collectives, in which ranks meet. The runtime knows no
 * network: a session is given an om_collectives, which moves the bytes. The library
 * openatc_collectives has one for the threads of a process, the plug-in openatc_mpi
 * one on MPI.
 *
 * All calls come from the thread that runs the session. A call that fails returns a
 * status other than OM_OK and fills the error, which is never NULL; its message, a
 * sentence that names the rank that is at error, is what the caller of the run reads.
 */
#ifndef OPENATC_COLLECTIVES_H
#define OPENATC_COLLECTIVES_H

#include "openatc/om.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations that all ranks of a group perform together. n is the number of ranks of the group.
 * Divided tensors are divided into n equal consecutive ranges of elements, in the order of the
 * group. */
typedef enum om_collective_kind OM_ENUM_TYPE {
  OM_ALL_REDUCE = 0,     /* every rank: the elements of all ranks combined               */
  OM_ALL_GATHER = 1,     /* every rank: the inputs of all ranks one behind the other     */
  OM_REDUCE_SCATTER = 2, /* rank i: range i of what OM_ALL_REDUCE computes               */
  OM_ALL_TO_ALL = 3,     /* rank i: range i of the inputs of all ranks                   */
  OM_BROADCAST = 4,      /* every rank: the input of the root                            */
  OM_SEND = 5,           /* to the receive of the other rank that has the same tag       */
  OM_RECEIVE = 6
} om_collective_kind;

/* The operation that combines elements. The order in which it takes the ranks is not defined, but
 * the result is the same, bit by bit, on all of them. */
typedef enum om_reduction OM_ENUM_TYPE {
  OM_REDUCE_SUM = 0,
  OM_REDUCE_MAX = 1,
  OM_REDUCE_MIN = 2
} om_reduction;

/* A collective. The pointers are valid until it is complete. */
typedef struct om_collective {
  const char *name; /* of the node, for messages */
  om_collective_kind kind;
  om_reduction reduction;
  om_dtype dtype;
  const uint32_t *ranks; /* the group; of a send or receive the other rank alone */
  uint32_t rank_count;
  uint32_t root;     /* of a broadcast: a rank                               */
  uint32_t tag;      /* of a send or receive                                 */
  const void *input; /* dense, 64-byte aligned; NULL for a receive           */
  uint64_t input_bytes;
  void *output; /* overlaps no input; NULL for a send                   */
  uint64_t output_bytes;
} om_collective;

/* The connection of one rank to the others. All functions must be set. */
typedef struct om_collectives {
  size_t struct_size;
  void *user;
  uint32_t rank;  /* of this session */
  uint32_t ranks; /* how many there are */
  /* Begins a collective, which goes on while the caller does other things. Collectives
   * of one group are begun by all of its ranks in the same order. A send is complete,
   * for the caller, when its input may be written again. */
  om_status (*start)(void *user, const om_collective *collective, void **request, om_error *error);
  /* Waits until a collective is complete, or has failed, and forgets it. Called once per
   * request, in any order, also after another one has failed: no memory of the caller is
   * used afterwards. */
  om_status (*wait)(void *user, void *request, om_error *error);
} om_collectives;

/* Connects a session to the other ranks from its next run on; NULL disconnects it.
 * `collectives` must outlive the session or the next call. OM_ERROR_ARGUMENT where the
 * model is not the program of this rank among as many. A run of a model with
 * collectives whose session is not connected ends with OM_ERROR_NO_DEVICE. */
OM_API om_status om_session_set_collectives(om_session *session, const om_collectives *collectives,
                                            om_error *error);

/* Returns the rank that the model is the program of, and in `*ranks`, which may be NULL,
 * how many there are: 0 and 1 for a model that was not split. */
OM_API uint32_t om_model_get_rank(const om_model *model, uint32_t *ranks);

#ifdef __cplusplus
}
#endif

#endif
