// BlasTable: the functions of cuBLASLt that products use, with own declarations; see DriverTable.h.
// Types and values are those of cublasLt.h (12 and 13).
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/cuda/DriverTable.h"

#include <cstddef>
#include <cstdint>

namespace cleave::device::blas {

struct HandleBody;
struct LayoutBody;
struct DescBody;
struct PreferenceBody;
using Handle = HandleBody *;         // cublasLtHandle_t
using Layout = LayoutBody *;         // cublasLtMatrixLayout_t
using Desc = DescBody *;             // cublasLtMatmulDesc_t
using Preference = PreferenceBody *; // cublasLtMatmulPreference_t

// cublasLtMatmulAlgo_t
struct Algorithm {
  uint64_t data[8];
};
// cublasLtMatmulHeuristicResult_t
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

// cublasStatus_t
constexpr int kSuccess = 0, kAllocFailed = 3, kNotSupported = 15;
// cudaDataType_t
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBF16 = 14;
// cublasComputeType_t
constexpr int kCompute32F = 68, kCompute64F = 70, kComputeTF32 = 77;
// cublasOperation_t
constexpr int32_t kOpN = 0, kOpT = 1;
// cublasLtMatrixLayoutAttribute_t
constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
// cublasLtMatmulDescAttributes_t
constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7, kDescBiasPointer = 8;
// cublasLtEpilogue_t
constexpr int32_t kEpilogueBias = 4;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kPreferenceWorkspace = 1, kPreferenceAlignmentA = 5, kPreferenceAlignmentB = 6,
              kPreferenceAlignmentC = 7, kPreferenceAlignmentD = 8;
// cublasLtMatmulAlgoConfigAttributes_t
constexpr int kAlgorithmId = 0, kAlgorithmSplits = 2, kAlgorithmOption = 5;

// One member per function, whose name is cublasLt and the member's.
struct BlasTable {
  int (*create)(Handle *handle);
  int (*destroy)(Handle handle);
  size_t (*getVersion)();
  int (*matrixLayoutCreate)(Layout *layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
  int (*matrixLayoutSetAttribute)(Layout layout, int attribute, const void *value, size_t bytes);
  int (*matrixLayoutDestroy)(Layout layout);
  int (*matmulDescCreate)(Desc *desc, int computeType, int scaleType);
  int (*matmulDescSetAttribute)(Desc desc, int attribute, const void *value, size_t bytes);
  int (*matmulDescDestroy)(Desc desc);
  int (*matmulPreferenceCreate)(Preference *preference);
  int (*matmulPreferenceSetAttribute)(Preference preference, int attribute, const void *value,
                                      size_t bytes);
  int (*matmulPreferenceDestroy)(Preference preference);
  int (*matmulAlgoGetHeuristic)(Handle handle, Desc desc, Layout a, Layout b, Layout c, Layout d,
                                Preference preference, int wanted, HeuristicResult *results,
                                int *found);
  int (*matmulAlgoConfigGetAttribute)(const Algorithm *algorithm, int attribute, void *value,
                                      size_t bytes, size_t *written);
  int (*matmul)(Handle handle, Desc desc, const void *alpha, const void *a, Layout aLayout,
                const void *b, Layout bLayout, const void *beta, const void *c, Layout cLayout,
                void *d, Layout dLayout, const Algorithm *algorithm, void *workspace,
                size_t workspaceBytes, driver::Stream stream);
};

// cuBLASLt of this machine. A user error if there is none.
Result<const BlasTable *> loadBlas();

} // namespace cleave::device::blas
