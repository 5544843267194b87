// DnnTable: the functions of cuDNN's backend interface that convolution and attention use, with own
// declarations; see DriverTable.h. Types and values are those of cudnn_graph.h (9).
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/cuda/DriverTable.h"

#include <cstddef>
#include <cstdint>

namespace cleave::device::dnn {

struct HandleBody;
using Handle = HandleBody *;  // cudnnHandle_t
using DescriptorRef = void *; // cudnnBackendDescriptor_t

// cudnnStatus_t
constexpr int kSuccess = 0;
// cudnnDataType_t
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kI32 = 4, kBF16 = 9, kI64 = 10, kBool = 11;
// cudnnConvolutionMode_t
constexpr int kCrossCorrelation = 1;
// cudnnPointwiseMode_t
constexpr int kAdd = 0, kMul = 1, kDiv = 6, kSub = 9, kExp = 13, kLog = 15, kCompareGe = 303,
              kGenIndex = 501, kBinarySelect = 601;
// cudnnReduceTensorOp_t
constexpr int kReduceAdd = 0, kReduceMax = 3;
// cudnnBackendHeurMode_t
constexpr int kHeurFallback = 2, kHeurA = 3;
// cudnnBackendNumericalNote_t
constexpr int kNoteTensorCore = 0, kNoteDownConvert = 1, kNoteReducedReduction = 2,
              kNoteNondeterministic = 4, kNoteCount = 10;

// cudnnBackendDescriptorType_t
enum DescriptorType : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kOperationPointwise = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kOperationMatmul = 19,
  kReduction = 21,
  kOperationReduction = 22,
  kOperationReshape = 31,
};

// cudnnBackendAttributeType_t
enum AttributeType : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypeDouble = 5,
  kTypeVoidPtr = 6,
  kTypeConvolutionMode = 7,
  kTypeHeurMode = 8,
  kTypeNumericalNote = 11,
  kTypePointwiseMode = 14,
  kTypeDescriptor = 15,
  kTypeReductionOperator = 18,
};

// cudnnBackendAttributeName_t
enum Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kConvolutionType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspaceBytes = 402,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataAlpha = 706,
  kDataBeta = 707,
  kDataConvolution = 708,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterAlpha = 712,
  kFilterBeta = 713,
  kFilterConvolution = 714,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kOperationPointwiseDescriptor = 750,
  kOperationPointwiseX = 751,
  kOperationPointwiseB = 752,
  kOperationPointwiseY = 753,
  kOperationPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNumericalNote = 1303,
  kMatmulType = 1500,
  kOperationMatmulA = 1520,
  kOperationMatmulB = 1521,
  kOperationMatmulC = 1522,
  kOperationMatmulDescriptor = 1523,
  kReductionOperator = 1600,
  kReductionType = 1601,
  kOperationReductionX = 1610,
  kOperationReductionY = 1611,
  kOperationReductionDescriptor = 1612,
  kOperationReshapeX = 2200,
  kOperationReshapeY = 2201,
};

// One member per function.
struct DnnTable {
  size_t (*getVersion)();                                 // cudnnGetVersion
  const char *(*getErrorString)(int status);              // cudnnGetErrorString
  void (*getLastErrorString)(char *text, size_t bytes);   // cudnnGetLastErrorString
  int (*create)(Handle *handle);                          // cudnnCreate
  int (*destroy)(Handle handle);                          // cudnnDestroy
  int (*setStream)(Handle handle, driver::Stream stream); // cudnnSetStream
  int (*createDescriptor)(int type, DescriptorRef *);     // cudnnBackendCreateDescriptor
  int (*destroyDescriptor)(DescriptorRef descriptor);     // cudnnBackendDestroyDescriptor
  int (*finalize)(DescriptorRef descriptor);              // cudnnBackendFinalize
  // cudnnBackendSetAttribute, cudnnBackendGetAttribute
  int (*setAttribute)(DescriptorRef descriptor, int attribute, int type, int64_t count,
                      const void *values);
  int (*getAttribute)(DescriptorRef descriptor, int attribute, int type, int64_t wanted,
                      int64_t *count, void *values);
  // cudnnBackendExecute
  int (*execute)(Handle handle, DescriptorRef plan, DescriptorRef variantPack);
};

// cuDNN of this machine. A user error if there is none.
Result<const DnnTable *> loadDnn();

} // namespace cleave::device::dnn
