// Compares the declarations of BlasTable.h with cublasLt.h of a toolkit, when compiled.
#include "runtime/device/cuda/BlasTable.h"
#include "test/unit/runtime_device_cuda/Alike.h"

#include <cublasLt.h>

namespace cleave::device::blas {

static_assert(test::kAlike<decltype(BlasTable::create), decltype(&cublasLtCreate)>);
static_assert(test::kAlike<decltype(BlasTable::destroy), decltype(&cublasLtDestroy)>);
static_assert(test::kAlike<decltype(BlasTable::getVersion), decltype(&cublasLtGetVersion)>);
static_assert(
    test::kAlike<decltype(BlasTable::matrixLayoutCreate), decltype(&cublasLtMatrixLayoutCreate)>);
static_assert(test::kAlike<decltype(BlasTable::matrixLayoutSetAttribute),
                           decltype(&cublasLtMatrixLayoutSetAttribute)>);
static_assert(
    test::kAlike<decltype(BlasTable::matrixLayoutDestroy), decltype(&cublasLtMatrixLayoutDestroy)>);
static_assert(
    test::kAlike<decltype(BlasTable::matmulDescCreate), decltype(&cublasLtMatmulDescCreate)>);
static_assert(test::kAlike<decltype(BlasTable::matmulDescSetAttribute),
                           decltype(&cublasLtMatmulDescSetAttribute)>);
static_assert(
    test::kAlike<decltype(BlasTable::matmulDescDestroy), decltype(&cublasLtMatmulDescDestroy)>);
static_assert(test::kAlike<decltype(BlasTable::matmulPreferenceCreate),
                           decltype(&cublasLtMatmulPreferenceCreate)>);
static_assert(test::kAlike<decltype(BlasTable::matmulPreferenceSetAttribute),
                           decltype(&cublasLtMatmulPreferenceSetAttribute)>);
static_assert(test::kAlike<decltype(BlasTable::matmulPreferenceDestroy),
                           decltype(&cublasLtMatmulPreferenceDestroy)>);
static_assert(test::kAlike<decltype(BlasTable::matmulAlgoGetHeuristic),
                           decltype(&cublasLtMatmulAlgoGetHeuristic)>);
static_assert(test::kAlike<decltype(BlasTable::matmulAlgoConfigGetAttribute),
                           decltype(&cublasLtMatmulAlgoConfigGetAttribute)>);
static_assert(test::kAlike<decltype(BlasTable::matmul), decltype(&cublasLtMatmul)>);
static_assert(int(kSuccess) == int(CUBLAS_STATUS_SUCCESS));
static_assert(int(kAllocFailed) == int(CUBLAS_STATUS_ALLOC_FAILED));
static_assert(int(kNotSupported) == int(CUBLAS_STATUS_NOT_SUPPORTED));
static_assert(int(kF32) == int(CUDA_R_32F));
static_assert(int(kF64) == int(CUDA_R_64F));
static_assert(int(kF16) == int(CUDA_R_16F));
static_assert(int(kBF16) == int(CUDA_R_16BF));
static_assert(int(kCompute32F) == int(CUBLAS_COMPUTE_32F));
static_assert(int(kCompute64F) == int(CUBLAS_COMPUTE_64F));
static_assert(int(kComputeTF32) == int(CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(int(kOpN) == int(CUBLAS_OP_N));
static_assert(int(kOpT) == int(CUBLAS_OP_T));
static_assert(int(kLayoutBatchCount) == int(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
static_assert(int(kLayoutBatchStride) == int(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(int(kDescTransA) == int(CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(int(kDescTransB) == int(CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(int(kDescEpilogue) == int(CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(int(kDescBiasPointer) == int(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(int(kEpilogueBias) == int(CUBLASLT_EPILOGUE_BIAS));
static_assert(int(kPreferenceWorkspace) == int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(int(kPreferenceAlignmentA) == int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(int(kPreferenceAlignmentB) == int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(int(kPreferenceAlignmentC) == int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(int(kPreferenceAlignmentD) == int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(int(kAlgorithmId) == int(CUBLASLT_ALGO_CONFIG_ID));
static_assert(int(kAlgorithmSplits) == int(CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
static_assert(int(kAlgorithmOption) == int(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION));
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(HeuristicResult, waves) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

} // namespace cleave::device::blas
