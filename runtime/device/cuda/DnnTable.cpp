// See DnnTable.h.
#include "runtime/device/cuda/DnnTable.h"

#include "runtime/device/cuda/SharedLibrary.h"

namespace cleave::device::dnn {

static Result<DnnTable> findDnn() {
  CLEAVE_TRY_ASSIGN(SharedLibrary library, SharedLibrary::open({"libcudnn.so.9"}));
  DnnTable t;
  library.find("cudnnGetVersion", t.getVersion);
  library.find("cudnnGetErrorString", t.getErrorString);
  library.find("cudnnGetLastErrorString", t.getLastErrorString);
  library.find("cudnnCreate", t.create);
  library.find("cudnnDestroy", t.destroy);
  library.find("cudnnSetStream", t.setStream);
  library.find("cudnnBackendCreateDescriptor", t.createDescriptor);
  library.find("cudnnBackendDestroyDescriptor", t.destroyDescriptor);
  library.find("cudnnBackendFinalize", t.finalize);
  library.find("cudnnBackendSetAttribute", t.setAttribute);
  library.find("cudnnBackendGetAttribute", t.getAttribute);
  library.find("cudnnBackendExecute", t.execute);
  CLEAVE_TRY(library.complete());
  return t;
}

Result<const DnnTable *> loadDnn() {
  static const Result<DnnTable> table = findDnn();
  if (!table)
    return table.status();
  return &*table;
}

} // namespace cleave::device::dnn
