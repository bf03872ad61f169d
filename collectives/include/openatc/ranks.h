/*===-- openatc/ranks.h - connections between the ranks of a model ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Implementations of openatc/collectives.h: for threads of one process, and for MPI
 * (the plug-in openatc_mpi, which a program may load with dlopen where MPI need not be
 * there). Collectives run on a thread of their own, beside the session's, with ring
 * algorithms; a rank that does not answer in time ends them with a sentence that names
 * it.
 */
#ifndef OPENATC_RANKS_H
#define OPENATC_RANKS_H

#include "openatc/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OM_COLLECTIVE_KINDS 7

/* The calls and bytes of a rank since it was opened, indexed by om_collective_kind. */
typedef struct om_traffic {
  uint64_t calls[OM_COLLECTIVE_KINDS];
  uint64_t sent_bytes[OM_COLLECTIVE_KINDS];
  uint64_t received_bytes[OM_COLLECTIVE_KINDS];
  uint64_t busy_nanoseconds[OM_COLLECTIVE_KINDS]; /* from begin to completion */
  uint64_t waited_nanoseconds; /* how long the caller has waited for collectives */
} om_traffic;

/* The connection of one rank; a table of functions, so that one that comes from a
 * plug-in is used like one that is linked. */
typedef struct om_ranks om_ranks;
struct om_ranks {
  const om_collectives *collectives; /* for om_session_set_collectives */
  void (*traffic)(om_ranks *ranks, om_traffic *traffic);
  /* Ends the other ranks, too: their collectives fail with `sentence`. Does not return
   * where the processes end together (MPI). */
  void (*abort)(om_ranks *ranks, const char *sentence);
  /* Waits for messages that are on their way, and frees the connection. */
  void (*close)(om_ranks *ranks);
};

/* Connects `count` ranks in this process: ranks[i] is for the thread that runs rank i. A
 * rank that waits longer than `timeout_seconds` for a message fails. */
om_status om_loopback_open(uint32_t count, double timeout_seconds, om_ranks **ranks,
                           om_error *error);

/* Connects this process to the others of MPI_COMM_WORLD. Defined by the plug-in openatc_mpi; call
 * it once per process. The caller owns *ranks. */
om_status om_mpi_open(double timeout_seconds, om_ranks **ranks, om_error *error);
typedef om_status (*om_mpi_open_function)(double, om_ranks **, om_error *);

#ifdef __cplusplus
}
#endif

#endif
