// DnnGraph: a graph of cuDNN operations over tensors, built through the backend interface, and the
// engine that runs it. Private to this folder.
#pragma once

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/DnnTable.h"

#include <initializer_list>
#include <vector>

namespace cleave::device {

class DnnGraph {
public:
  // A tensor of the graph: an index.
  using Tensor = size_t;
  // Dims, and strides in elements.
  struct Layout {
    std::vector<int64_t> dims, strides;
  };

  DnnGraph(const dnn::DnnTable &table, dnn::Handle handle) : table_(table), handle_(handle) {}
  ~DnnGraph();
  DnnGraph(const DnnGraph &) = delete;
  DnnGraph &operator=(const DnnGraph &) = delete;

  // A tensor in memory of the device; one that exists only inside the graph, dense; a scalar that
  // the host passes. `type` is a cudnnDataType_t.
  Result<Tensor> inMemory(const Layout &layout, int type, void *address);
  Result<Tensor> inside(const std::vector<int64_t> &dims, int type);
  Result<Tensor> scalar(float value);

  // Each adds an operation; results of the first four exist only inside the graph, as f32.
  Result<Tensor> pointwise(int mode, Tensor x);
  Result<Tensor> pointwise(int mode, Tensor x, Tensor b);
  // The index of each element of `like` along a dim.
  Result<Tensor> genIndex(int64_t axis, Tensor like);
  Result<Tensor> reduction(int op, Tensor x, const std::vector<int64_t> &dims);
  Status pointwiseTo(int mode, std::initializer_list<Tensor> inputs, Tensor y);
  Status matmulTo(Tensor a, Tensor b, Tensor c);
  // A convolution: its descriptor's sizes, and the attributes of the operation `type`.
  struct Convolution {
    int type;
    int64_t spatialDims;
    std::vector<int64_t> strides, dilations, padsLow, padsHigh;
  };
  Status convolve(const Convolution &convolution, Tensor x, Tensor w, Tensor y, bool isDouble);

  // Chooses the first engine that is deterministic, sums in f32, keeps all bits of its operands
  // (`keepsBits`: also those of f32 in tensor cores), and does with the workspace. A user error if
  // there is none; it gives the library's reason.
  Status finish(Workspace workspace, bool keepsBits);
  // Enqueues the graph in the handle's stream.
  Status run();

private:
  struct TensorFacts {
    dnn::DescriptorRef descriptor;
    std::vector<int64_t> dims;
    void *address; // null: inside the graph
  };
  Result<dnn::DescriptorRef> create(int type);
  Status set(dnn::DescriptorRef descriptor, int attribute, int type, int64_t count,
             const void *values);
  template <typename T>
  Status set(dnn::DescriptorRef descriptor, int attribute, int type, const T &value) {
    return set(descriptor, attribute, type, 1, &value);
  }
  Status setAll(dnn::DescriptorRef descriptor, int attribute, const std::vector<int64_t> &values) {
    return set(descriptor, attribute, dnn::kTypeInt64, int64_t(values.size()), values.data());
  }
  Status setTensor(dnn::DescriptorRef operation, int attribute, Tensor tensor) {
    return set(operation, attribute, dnn::kTypeDescriptor, tensors_[tensor].descriptor);
  }
  Status finalize(dnn::DescriptorRef descriptor);
  Status check(int status, const char *what) const;

  Result<Tensor> addTensor(const Layout &layout, int type, void *address, bool isVirtual,
                           bool isByValue);
  Status addPointwise(int mode, std::initializer_list<Tensor> inputs, Tensor y, int64_t axis);
  Result<std::vector<dnn::DescriptorRef>> configs(dnn::DescriptorRef graph, int mode);
  Result<bool> isAllowed(dnn::DescriptorRef config, bool keepsBits);
  Result<bool> takePlan(dnn::DescriptorRef config, Workspace workspace);
  Status pack(Workspace workspace);

  const dnn::DnnTable &table_;
  dnn::Handle handle_;
  std::vector<dnn::DescriptorRef> owned_; // all descriptors, in the order of their creation
  std::vector<TensorFacts> tensors_;
  std::vector<float> scalars_;
  std::vector<std::pair<Tensor, size_t>> scalarTensors_; // and their index in scalars_
  std::vector<dnn::DescriptorRef> operations_;
  dnn::DescriptorRef plan_ = nullptr, variantPack_ = nullptr;
  std::string refusal_; // the library's last reason
};

} // namespace cleave::device
