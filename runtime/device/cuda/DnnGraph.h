// DnnGraph: a graph of cuDNN operations over tensors, built through the backend interface, and the
// engine that runs it at any addresses with the alignment that it was built for. Private to this
// folder.
#pragma once

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/DnnTable.h"

#include <initializer_list>
#include <optional>
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

  // The addresses of the graph's tensors in memory. A place is an index; those that the graph does
  // not use may be null.
  using Addresses = std::vector<void *>;
  // Addresses and workspace in the form that the library wants.
  using Binding = dnn::DescriptorRef;

  DnnGraph(const dnn::DnnTable &table, dnn::Handle handle, const Addresses &addresses);
  ~DnnGraph();
  DnnGraph(const DnnGraph &) = delete;
  DnnGraph &operator=(const DnnGraph &) = delete;

  // The largest power of two, at most 16, that divides an address.
  static int64_t alignmentOf(const void *address);

  // A tensor in memory of the device, at a place of the addresses; one that exists only inside the
  // graph, dense in the second form; a scalar that the host passes. `type` is a cudnnDataType_t.
  Result<Tensor> inMemory(const Layout &layout, int type, size_t place);
  Result<Tensor> inside(const Layout &layout, int type);
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
  Status reductionTo(int op, Tensor x, Tensor y);
  // The elements of `x` in row-major order of its dims, or their transposition, as `y`.
  Status reshapeTo(Tensor x, Tensor y);
  // A convolution: its descriptor's sizes, and the attributes of the operation `type`.
  struct Convolution {
    int type;
    int64_t spatialDims;
    std::vector<int64_t> strides, dilations, padsLow, padsHigh;
  };
  Status convolve(const Convolution &convolution, Tensor x, Tensor w, Tensor y, bool isDouble);

  // Chooses the first engine that is deterministic, sums in f32, keeps all bits of its operands
  // (`keepsBits`: also those of f32 in tensor cores), and does with so many bytes of workspace. A
  // user error if there is none; it gives the library's reason.
  Status finish(uint64_t workspaceBytes, bool keepsBits);
  // The binding of a finished graph to addresses. It belongs to the graph.
  Result<Binding> bind(const Addresses &addresses, void *workspace);
  // Enqueues the graph in the handle's stream.
  Status run(Binding binding);

private:
  struct TensorFacts {
    dnn::DescriptorRef descriptor;
    std::vector<int64_t> dims;
    std::optional<size_t> place, scalar; // in the addresses or in scalars_; none: inside the graph
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

  Result<Tensor> addTensor(const Layout &layout, int type, std::optional<size_t> place,
                           std::optional<size_t> scalar);
  Status addPointwise(int mode, std::initializer_list<Tensor> inputs, Tensor y, int64_t axis);
  Result<std::vector<dnn::DescriptorRef>> configs(dnn::DescriptorRef graph, int mode);
  Result<bool> isAllowed(dnn::DescriptorRef config, bool keepsBits);
  Result<bool> takePlan(dnn::DescriptorRef config, uint64_t workspaceBytes);

  const dnn::DnnTable &table_;
  dnn::Handle handle_;
  std::vector<dnn::DescriptorRef> owned_; // all descriptors, in the order of their creation
  std::vector<TensorFacts> tensors_;
  std::vector<int64_t> alignments_; // of the addresses
  std::vector<float> scalars_;
  std::vector<dnn::DescriptorRef> operations_;
  dnn::DescriptorRef plan_ = nullptr;
  std::string refusal_; // the library's last reason
};

} // namespace cleave::device
