// See Nccl.h.
#include "runtime/comm/nccl/Nccl.h"

#include <dlfcn.h>

namespace cleave::comm::nccl {
namespace {

constexpr const char *kLibrary = "libnccl.so.2";

template <typename Function> Status find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, name));
  return function ? Status::ok() : Status::userError(kLibrary, " has no function ", name);
}

Result<Table> load() {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL); // stays for the life of the process
  if (!library)
    return Status::userError("NCCL cannot be loaded: ", dlerror());
  Table table{};
  CLEAVE_TRY(find(library, "ncclGetVersion", table.getVersion));
  int version = 0;
  if (table.getVersion(&version) != Code::Success || version < int(Config{}.version))
    return Status::userError("found NCCL ", versionText(version), ", expected 2.17 or later");
  CLEAVE_TRY(find(library, "ncclGetUniqueId", table.getUniqueId));
  CLEAVE_TRY(find(library, "ncclCommInitRankConfig", table.commInitRankConfig));
  CLEAVE_TRY(find(library, "ncclCommFinalize", table.commFinalize));
  CLEAVE_TRY(find(library, "ncclCommDestroy", table.commDestroy));
  CLEAVE_TRY(find(library, "ncclCommAbort", table.commAbort));
  CLEAVE_TRY(find(library, "ncclCommGetAsyncError", table.commGetAsyncError));
  CLEAVE_TRY(find(library, "ncclGetErrorString", table.getErrorString));
  CLEAVE_TRY(find(library, "ncclGetLastError", table.getLastError));
  CLEAVE_TRY(find(library, "ncclGroupStart", table.groupStart));
  CLEAVE_TRY(find(library, "ncclGroupEnd", table.groupEnd));
  CLEAVE_TRY(find(library, "ncclAllReduce", table.allReduce));
  CLEAVE_TRY(find(library, "ncclAllGather", table.allGather));
  CLEAVE_TRY(find(library, "ncclReduceScatter", table.reduceScatter));
  CLEAVE_TRY(find(library, "ncclSend", table.send));
  CLEAVE_TRY(find(library, "ncclRecv", table.recv));
  return table;
}

} // namespace

Result<const Table *> loadNccl() {
  static const Result<Table> table = load();
  if (!table)
    return table.status();
  return &*table;
}

std::string versionText(int version) {
  return concat(version / 10000, '.', version / 100 % 100, '.', version % 100);
}

} // namespace cleave::comm::nccl
