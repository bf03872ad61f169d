//===-- mpi.h - the part of MPI that the plug-in calls ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for the header of an MPI: fuzz-rank-messages compiles collectives/mpi/Mpi.cpp with it,
// so that the messages of other ranks are what an input says.

#ifndef OPENATC_TEST_FUZZ_MPI_MPI_H
#define OPENATC_TEST_FUZZ_MPI_MPI_H

using MPI_Comm = int;
using MPI_Datatype = int;
using MPI_Errhandler = int;
using MPI_Request = int;

struct MPI_Status {
  int bytes;
};

inline constexpr MPI_Comm MPI_COMM_WORLD = 0;
inline constexpr MPI_Datatype MPI_BYTE = 1;
inline constexpr MPI_Errhandler MPI_ERRORS_RETURN = 1;
inline constexpr MPI_Request MPI_REQUEST_NULL = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1;
inline constexpr int MPI_SUCCESS = 0, MPI_ERR_RANK = 6, MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16;
inline constexpr int MPI_MAX_ERROR_STRING = 256;

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided);
int MPI_Finalize();
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Error_string(int code, char *text, int *length);
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);

#endif // OPENATC_TEST_FUZZ_MPI_MPI_H
