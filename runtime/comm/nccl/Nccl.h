// The part of NCCL's interface that Cleave uses, declared here, so that it builds without NCCL:
// types, enums, and the functions as a table that is loaded from the library at run time. Where
// NCCL's own header is installed, test/unit/comm_devices compares the two.
#pragma once

#include "runtime/base/Status.h"

#include <climits>
#include <cstddef>
#include <string>

namespace cleave::comm::nccl {

// ncclResult_t
enum class Code : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7,
};

// ncclDataType_t
enum class Type : int {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Bfloat16 = 9,
};

// ncclRedOp_t
enum class Op : int { Sum = 0, Max = 2, Min = 3 };

using Comm = struct OpaqueComm *; // ncclComm_t
using Stream = void *;            // cudaStream_t

// ncclUniqueId
struct UniqueId {
  char bytes[128];
};

// The fields of ncclConfig_t as of version 2.17; the library sets those that came later.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21700;
  int blocking = 0; // calls return Code::InProgress instead of waiting for other ranks
  int cgaClusterSize = INT_MIN;
  int minCTAs = INT_MIN;
  int maxCTAs = INT_MIN;
  const char *netName = nullptr;
};

// The functions, without the prefix `nccl`.
struct Table {
  Code (*getVersion)(int *version);
  Code (*getUniqueId)(UniqueId *id);
  Code (*commInitRankConfig)(Comm *comm, int ranks, UniqueId id, int rank, Config *config);
  Code (*commFinalize)(Comm comm);
  Code (*commDestroy)(Comm comm);
  Code (*commAbort)(Comm comm);
  Code (*commGetAsyncError)(Comm comm, Code *error);
  const char *(*getErrorString)(Code code);
  const char *(*getLastError)(Comm comm);
  Code (*groupStart)();
  Code (*groupEnd)();
  Code (*allReduce)(const void *send, void *recv, size_t count, Type type, Op op, Comm comm,
                    Stream stream);
  Code (*allGather)(const void *send, void *recv, size_t sendCount, Type type, Comm comm,
                    Stream stream);
  Code (*reduceScatter)(const void *send, void *recv, size_t recvCount, Type type, Op op, Comm comm,
                        Stream stream);
  Code (*send)(const void *send, size_t count, Type type, int peer, Comm comm, Stream stream);
  Code (*recv)(void *recv, size_t count, Type type, int peer, Comm comm, Stream stream);
};

// The table of libnccl.so.2, loaded once per process. A user error if the library is not found, is
// older than 2.17, or lacks a function.
Result<const Table *> loadNccl();

// `2.28.3`, of the number that getVersion() gives.
std::string versionText(int version);

} // namespace cleave::comm::nccl
