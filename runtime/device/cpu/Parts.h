// Functions that the files of the CPU device provide to each other. Private to this folder.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Scratch.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace cleave::device {

// A matmul without the operands' offsets and without batch dims of size 1, in which batch dims are
// merged with each other and with the rows where the strides allow it. Strides count elements.
struct MatmulShape {
  std::vector<int64_t> batch;
  int64_t m, n, k;
  std::vector<int64_t> lhs, rhs, out; // strides: batch…, then rows, columns
};
// The simplified form of an instruction.
MatmulShape simplified(const plan::Matmul &matmul);

// Whether oneDNN multiplies elements of this type; false for all in a build without oneDNN.
bool isDnnlType(DType dtype);

// A matmul by oneDNN (f32, bf16), or as loops if oneDNN refuses it. The operands include their
// offsets.
PreparedAction prepareDnnlMatmul(const MatmulShape &shape, bool accumulate,
                                 const MatmulOperands &operands, Scratch &scratch);

// A matmul as loops, for dtypes and strides that oneDNN does not support.
PreparedAction preparePlainMatmul(const MatmulShape &shape, bool accumulate,
                                  const MatmulOperands &operands);

// The form of products out[m, n] = sum over k of lhs[m, k] * rhs[k, n]. Strides (rows, then
// columns) count elements. One of m, n and k is kUnknown: it is known when a product runs.
constexpr int64_t kUnknown = -1;
struct ProductForm {
  int64_t m, n, k;
  std::array<int64_t, 2> lhs, rhs, out;
  DType dtype, outDtype; // of the factors and of out, as in MatmulOperands
};

// Multiplies matrices of one form.
class Product {
public:
  virtual ~Product() = default;
  // `unknown` is the size that the form leaves open. The addresses include offsets.
  virtual Status run(int64_t unknown, const void *lhs, const void *rhs, void *out) = 0;
};

// A product by oneDNN, null where it refuses the form; as loops.
std::unique_ptr<Product> makeDnnlProduct(const ProductForm &form, Scratch &scratch);
std::unique_ptr<Product> makePlainProduct(const ProductForm &form);

// Products of groups of rows: one product per group that has rows.
PreparedAction prepareGroupedMatmul(const plan::GroupedMatmul &matmul,
                                    const GroupedMatmulOperands &operands, Scratch &scratch);

// A convolution or one of its gradients: by oneDNN, or as loops if oneDNN refuses it; as loops.
PreparedAction prepareDnnlConvolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands, Scratch &scratch);
PreparedAction preparePlainConvolution(const plan::Convolution &convolution,
                                       const ConvolutionOperands &operands);

// Attention or its gradient, by own kernels: those given, or the fastest of this processor.
struct AttentionKernels;
PreparedAction prepareAttention(const plan::Attention &attention, const AttentionOperands &operands,
                                const AttentionKernels &kernels);
PreparedAction prepareAttention(const plan::Attention &attention,
                                const AttentionOperands &operands);

// Calls part(begin, end) for parts of [0, extent) in the threads of the calling thread's OpenMP
// team.
void inParallel(int64_t extent, const std::function<void(int64_t, int64_t)> &part);

} // namespace cleave::device
