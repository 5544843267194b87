// Compares the declarations of DnnTable.h with cudnn_graph.h of a toolkit, when compiled.
#include "runtime/device/cuda/DnnTable.h"
#include "test/unit/runtime_device_cuda/Alike.h"

#include <cudnn_graph.h>

namespace cleave::device::dnn {

static_assert(test::kAlike<decltype(DnnTable::getVersion), decltype(&cudnnGetVersion)>);
static_assert(test::kAlike<decltype(DnnTable::getErrorString), decltype(&cudnnGetErrorString)>);
static_assert(
    test::kAlike<decltype(DnnTable::getLastErrorString), decltype(&cudnnGetLastErrorString)>);
static_assert(test::kAlike<decltype(DnnTable::create), decltype(&cudnnCreate)>);
static_assert(test::kAlike<decltype(DnnTable::destroy), decltype(&cudnnDestroy)>);
static_assert(test::kAlike<decltype(DnnTable::setStream), decltype(&cudnnSetStream)>);
static_assert(
    test::kAlike<decltype(DnnTable::createDescriptor), decltype(&cudnnBackendCreateDescriptor)>);
static_assert(
    test::kAlike<decltype(DnnTable::destroyDescriptor), decltype(&cudnnBackendDestroyDescriptor)>);
static_assert(test::kAlike<decltype(DnnTable::finalize), decltype(&cudnnBackendFinalize)>);
static_assert(test::kAlike<decltype(DnnTable::setAttribute), decltype(&cudnnBackendSetAttribute)>);
static_assert(test::kAlike<decltype(DnnTable::getAttribute), decltype(&cudnnBackendGetAttribute)>);
static_assert(test::kAlike<decltype(DnnTable::execute), decltype(&cudnnBackendExecute)>);
static_assert(int(kSuccess) == int(CUDNN_STATUS_SUCCESS));
static_assert(int(kF32) == int(CUDNN_DATA_FLOAT));
static_assert(int(kF64) == int(CUDNN_DATA_DOUBLE));
static_assert(int(kF16) == int(CUDNN_DATA_HALF));
static_assert(int(kI32) == int(CUDNN_DATA_INT32));
static_assert(int(kBF16) == int(CUDNN_DATA_BFLOAT16));
static_assert(int(kI64) == int(CUDNN_DATA_INT64));
static_assert(int(kBool) == int(CUDNN_DATA_BOOLEAN));
static_assert(int(kCrossCorrelation) == int(CUDNN_CROSS_CORRELATION));
static_assert(int(kAdd) == int(CUDNN_POINTWISE_ADD));
static_assert(int(kMul) == int(CUDNN_POINTWISE_MUL));
static_assert(int(kDiv) == int(CUDNN_POINTWISE_DIV));
static_assert(int(kSub) == int(CUDNN_POINTWISE_SUB));
static_assert(int(kExp) == int(CUDNN_POINTWISE_EXP));
static_assert(int(kLog) == int(CUDNN_POINTWISE_LOG));
static_assert(int(kCompareGe) == int(CUDNN_POINTWISE_CMP_GE));
static_assert(int(kGenIndex) == int(CUDNN_POINTWISE_GEN_INDEX));
static_assert(int(kBinarySelect) == int(CUDNN_POINTWISE_BINARY_SELECT));
static_assert(int(kReduceAdd) == int(CUDNN_REDUCE_TENSOR_ADD));
static_assert(int(kReduceMax) == int(CUDNN_REDUCE_TENSOR_MAX));
static_assert(int(kHeurFallback) == int(CUDNN_HEUR_MODE_FALLBACK));
static_assert(int(kHeurA) == int(CUDNN_HEUR_MODE_A));
static_assert(int(kNoteTensorCore) == int(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
static_assert(int(kNoteDownConvert) == int(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
static_assert(int(kNoteReducedReduction) == int(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
static_assert(int(kNoteNondeterministic) == int(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
static_assert(int(kNoteCount) == int(CUDNN_NUMERICAL_NOTE_TYPE_COUNT));
static_assert(int(kPointwise) == int(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
static_assert(int(kConvolution) == int(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
static_assert(int(kEngine) == int(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
static_assert(int(kEngineConfig) == int(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
static_assert(int(kEngineHeuristics) == int(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
static_assert(int(kExecutionPlan) == int(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
static_assert(int(kConvolutionForward) ==
              int(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR));
static_assert(int(kConvolutionBackwardFilter) ==
              int(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR));
static_assert(int(kConvolutionBackwardData) ==
              int(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR));
static_assert(int(kOperationPointwise) == int(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
static_assert(int(kOperationGraph) == int(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
static_assert(int(kVariantPack) == int(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
static_assert(int(kTensor) == int(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
static_assert(int(kMatmul) == int(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
static_assert(int(kOperationMatmul) == int(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR));
static_assert(int(kReduction) == int(CUDNN_BACKEND_REDUCTION_DESCRIPTOR));
static_assert(int(kOperationReduction) == int(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR));
static_assert(int(kOperationReshape) == int(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR));
static_assert(int(kTypeHandle) == int(CUDNN_TYPE_HANDLE));
static_assert(int(kTypeDataType) == int(CUDNN_TYPE_DATA_TYPE));
static_assert(int(kTypeBoolean) == int(CUDNN_TYPE_BOOLEAN));
static_assert(int(kTypeInt64) == int(CUDNN_TYPE_INT64));
static_assert(int(kTypeFloat) == int(CUDNN_TYPE_FLOAT));
static_assert(int(kTypeDouble) == int(CUDNN_TYPE_DOUBLE));
static_assert(int(kTypeVoidPtr) == int(CUDNN_TYPE_VOID_PTR));
static_assert(int(kTypeConvolutionMode) == int(CUDNN_TYPE_CONVOLUTION_MODE));
static_assert(int(kTypeHeurMode) == int(CUDNN_TYPE_HEUR_MODE));
static_assert(int(kTypeNumericalNote) == int(CUDNN_TYPE_NUMERICAL_NOTE));
static_assert(int(kTypePointwiseMode) == int(CUDNN_TYPE_POINTWISE_MODE));
static_assert(int(kTypeDescriptor) == int(CUDNN_TYPE_BACKEND_DESCRIPTOR));
static_assert(int(kTypeReductionOperator) == int(CUDNN_TYPE_REDUCTION_OPERATOR_TYPE));
static_assert(int(kPointwiseMode) == int(CUDNN_ATTR_POINTWISE_MODE));
static_assert(int(kPointwisePrecision) == int(CUDNN_ATTR_POINTWISE_MATH_PREC));
static_assert(int(kPointwiseAxis) == int(CUDNN_ATTR_POINTWISE_AXIS));
static_assert(int(kConvolutionType) == int(CUDNN_ATTR_CONVOLUTION_COMP_TYPE));
static_assert(int(kConvolutionMode) == int(CUDNN_ATTR_CONVOLUTION_CONV_MODE));
static_assert(int(kConvolutionDilations) == int(CUDNN_ATTR_CONVOLUTION_DILATIONS));
static_assert(int(kConvolutionStrides) == int(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
static_assert(int(kConvolutionPostPaddings) == int(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS));
static_assert(int(kConvolutionPrePaddings) == int(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS));
static_assert(int(kConvolutionSpatialDims) == int(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
static_assert(int(kHeuristicsMode) == int(CUDNN_ATTR_ENGINEHEUR_MODE));
static_assert(int(kHeuristicsGraph) == int(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
static_assert(int(kHeuristicsResults) == int(CUDNN_ATTR_ENGINEHEUR_RESULTS));
static_assert(int(kConfigEngine) == int(CUDNN_ATTR_ENGINECFG_ENGINE));
static_assert(int(kPlanHandle) == int(CUDNN_ATTR_EXECUTION_PLAN_HANDLE));
static_assert(int(kPlanConfig) == int(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
static_assert(int(kPlanWorkspaceBytes) == int(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
static_assert(int(kGraphHandle) == int(CUDNN_ATTR_OPERATIONGRAPH_HANDLE));
static_assert(int(kGraphOperations) == int(CUDNN_ATTR_OPERATIONGRAPH_OPS));
static_assert(int(kTensorAlignment) == int(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
static_assert(int(kTensorDataType) == int(CUDNN_ATTR_TENSOR_DATA_TYPE));
static_assert(int(kTensorDims) == int(CUDNN_ATTR_TENSOR_DIMENSIONS));
static_assert(int(kTensorStrides) == int(CUDNN_ATTR_TENSOR_STRIDES));
static_assert(int(kTensorId) == int(CUDNN_ATTR_TENSOR_UNIQUE_ID));
static_assert(int(kTensorIsVirtual) == int(CUDNN_ATTR_TENSOR_IS_VIRTUAL));
static_assert(int(kTensorIsByValue) == int(CUDNN_ATTR_TENSOR_IS_BY_VALUE));
static_assert(int(kPackIds) == int(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS));
static_assert(int(kPackPointers) == int(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS));
static_assert(int(kPackWorkspace) == int(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
static_assert(int(kEngineNumericalNote) == int(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE));
static_assert(int(kMatmulType) == int(CUDNN_ATTR_MATMUL_COMP_TYPE));
static_assert(int(kOperationMatmulA) == int(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
static_assert(int(kOperationMatmulB) == int(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
static_assert(int(kOperationMatmulC) == int(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
static_assert(int(kOperationMatmulDescriptor) == int(CUDNN_ATTR_OPERATION_MATMUL_DESC));
static_assert(int(kReductionOperator) == int(CUDNN_ATTR_REDUCTION_OPERATOR));
static_assert(int(kReductionType) == int(CUDNN_ATTR_REDUCTION_COMP_TYPE));
static_assert(int(kOperationReductionX) == int(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
static_assert(int(kOperationReductionY) == int(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
static_assert(int(kOperationReductionDescriptor) == int(CUDNN_ATTR_OPERATION_REDUCTION_DESC));
static_assert(int(kOperationReshapeX) == int(CUDNN_ATTR_OPERATION_RESHAPE_XDESC));
static_assert(int(kOperationReshapeY) == int(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
static_assert(int(kOperationPointwiseDescriptor) ==
              int(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR));
static_assert(int(kOperationPointwiseX) == int(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
static_assert(int(kOperationPointwiseB) == int(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
static_assert(int(kOperationPointwiseY) == int(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
static_assert(int(kOperationPointwiseT) == int(CUDNN_ATTR_OPERATION_POINTWISE_TDESC));
static_assert(int(kForwardAlpha) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA));
static_assert(int(kForwardBeta) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA));
static_assert(int(kForwardConvolution) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC));
static_assert(int(kDataAlpha) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA));
static_assert(int(kDataBeta) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA));
static_assert(int(kDataConvolution) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC));
static_assert(int(kFilterAlpha) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA));
static_assert(int(kFilterBeta) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA));
static_assert(int(kFilterConvolution) ==
              int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC));
static_assert(int(kForwardW) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
static_assert(int(kForwardX) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
static_assert(int(kForwardY) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
static_assert(int(kDataW) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W));
static_assert(int(kDataDx) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX));
static_assert(int(kDataDy) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY));
static_assert(int(kFilterDw) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW));
static_assert(int(kFilterX) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X));
static_assert(int(kFilterDy) == int(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY));
static_assert(sizeof(bool) == 1);

} // namespace cleave::device::dnn
