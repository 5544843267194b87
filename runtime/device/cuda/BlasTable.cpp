// See BlasTable.h.
#include "runtime/device/cuda/BlasTable.h"

#include "runtime/device/cuda/SharedLibrary.h"

namespace cleave::device::blas {

static Result<BlasTable> findBlas() {
  CLEAVE_TRY_ASSIGN(SharedLibrary library,
                    SharedLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12"}));
  BlasTable t;
  library.find("cublasLtCreate", t.create);
  library.find("cublasLtDestroy", t.destroy);
  library.find("cublasLtGetVersion", t.getVersion);
  library.find("cublasLtMatrixLayoutCreate", t.matrixLayoutCreate);
  library.find("cublasLtMatrixLayoutSetAttribute", t.matrixLayoutSetAttribute);
  library.find("cublasLtMatrixLayoutDestroy", t.matrixLayoutDestroy);
  library.find("cublasLtMatmulDescCreate", t.matmulDescCreate);
  library.find("cublasLtMatmulDescSetAttribute", t.matmulDescSetAttribute);
  library.find("cublasLtMatmulDescDestroy", t.matmulDescDestroy);
  library.find("cublasLtMatmulPreferenceCreate", t.matmulPreferenceCreate);
  library.find("cublasLtMatmulPreferenceSetAttribute", t.matmulPreferenceSetAttribute);
  library.find("cublasLtMatmulPreferenceDestroy", t.matmulPreferenceDestroy);
  library.find("cublasLtMatmulAlgoGetHeuristic", t.matmulAlgoGetHeuristic);
  library.find("cublasLtMatmulAlgoConfigGetAttribute", t.matmulAlgoConfigGetAttribute);
  library.find("cublasLtMatmul", t.matmul);
  CLEAVE_TRY(library.complete());
  return t;
}

Result<const BlasTable *> loadBlas() {
  static const Result<BlasTable> table = findBlas();
  if (!table)
    return table.status();
  return &*table;
}

} // namespace cleave::device::blas
