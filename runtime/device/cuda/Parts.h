// The libraries of the CUDA device: products by cuBLASLt, convolution and attention by cuDNN.
// Private to this folder.
#pragma once

#include "runtime/device/cuda/BlasTable.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/DnnGraph.h"
#include "runtime/device/cuda/DnnTable.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cleave::device {

// Prepares products. Its actions must not outlive it.
class BlasProducts {
public:
  BlasProducts(const CudaContext &context, Result<const blas::BlasTable *> (*load)())
      : context_(context), load_(load) {}
  ~BlasProducts();
  BlasProducts(const BlasProducts &) = delete;
  BlasProducts &operator=(const BlasProducts &) = delete;

  // A product of floats, summed in f32 (f64 for f64) and multiplied in tf32 if it says so, by the
  // best algorithm of the library's heuristic that does with the workspace. A user error if the
  // library is missing, or does not support the type or the strides.
  PreparedAction prepare(const plan::Matmul &matmul, const MatmulOperands &operands);

private:
  Status open();

  const CudaContext &context_;
  Result<const blas::BlasTable *> (*load_)();
  const blas::BlasTable *table_ = nullptr; // null until the first product
  blas::Handle handle_ = nullptr;
};

// Prepares convolutions and attention. Its actions must not outlive it.
class DnnLayers {
public:
  DnnLayers(const CudaContext &context, Result<const dnn::DnnTable *> (*load)())
      : context_(context), load_(load) {}
  ~DnnLayers();
  DnnLayers(const DnnLayers &) = delete;
  DnnLayers &operator=(const DnnLayers &) = delete;

  // Each by the first engine of the library's heuristic that is deterministic and does with the
  // workspace. Instructions that differ only in their buffers share a graph, since cuDNN compiles
  // the kernel of each. A user error if the library is missing or has none; it says why.
  PreparedAction convolution(const plan::Convolution &convolution,
                             const ConvolutionOperands &operands);
  PreparedAction attention(const plan::Attention &attention, const AttentionOperands &operands);

private:
  using Build = std::function<Status(DnnGraph &)>; // adds operations and finishes
  Status open();
  // The graph with this key, or a new one, at these addresses. `key`: all on which `build` depends
  // but the alignment of addresses, the workspace and the queue.
  PreparedAction bound(std::string key, const DnnGraph::Addresses &addresses, Workspace workspace,
                       const Build &build);

  const CudaContext &context_;
  Result<const dnn::DnnTable *> (*load_)();
  const dnn::DnnTable *table_ = nullptr;          // null until the first layer
  std::array<dnn::Handle, kQueues> handles_ = {}; // one per queue: a handle has one stream
  std::map<std::string, std::shared_ptr<DnnGraph>> graphs_; // by key
};

} // namespace cleave::device
