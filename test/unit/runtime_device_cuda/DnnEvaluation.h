// DnnEvaluation: computes a graph of cuDNN operations in plain loops on memory of this process, in
// the order of its operations, in f32.
#pragma once

#include "runtime/device/cuda/DnnTable.h"

#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace cleave::test {

// A descriptor of the recording cuDNN: its type and attributes.
struct DnnDescriptor {
  int type;
  bool isFinal = false;
  struct Value {
    int type;
    int64_t count;
    std::vector<char> bytes;
  };
  std::map<int, Value> attributes;

  template <typename T> std::vector<T> all(int attribute) const {
    auto at = attributes.find(attribute);
    if (at == attributes.end())
      return {};
    std::vector<T> values(size_t(at->second.count));
    std::memcpy(values.data(), at->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T> T one(int attribute) const {
    std::vector<T> values = all<T>(attribute);
    return values.empty() ? T() : values[0];
  }
};

inline DnnDescriptor &descriptorAt(device::dnn::DescriptorRef d) {
  return *static_cast<DnnDescriptor *>(d);
}

// Whether the graph consists of pointwise operations, products, reductions and reshapes.
bool canEvaluate(const DnnDescriptor &graph);

// Computes a graph. `memory` has the bytes of a tensor that is not inside the graph, by its id.
void evaluate(const DnnDescriptor &graph, const std::function<char *(int64_t)> &memory);

} // namespace cleave::test
