// See DnnEvaluation.h.
#include "test/unit/runtime_device_cuda/DnnEvaluation.h"

#include "runtime/base/Float16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cleave::test {
namespace {

using namespace device::dnn;

using Index = std::vector<int64_t>;

// The elements of a tensor in row-major order of its dims.
struct Elements {
  Index dims;
  std::vector<float> values;

  explicit Elements(Index dims) : dims(std::move(dims)) {
    size_t count = 1;
    for (int64_t size : this->dims)
      count *= size_t(size);
    values.resize(count);
  }

  // The element for an index into dims `whole`: smaller dims repeat each element equally often, as
  // dims of size 1 do, and heads that several others share.
  float &at(const Index &index, const Index &whole) {
    size_t place = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      place = place * size_t(dims[d]) + size_t(index[d] * dims[d] / whole[d]);
    return values[place];
  }
};

template <typename Visit> void visitAll(const Index &dims, Visit visit) {
  Index index(dims.size());
  for (bool isDone = false; !isDone;) {
    visit(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1])
      index[--d] = 0;
    isDone = d == 0;
  }
}

int64_t offsetOf(const Index &index, const Index &strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d)
    offset += index[d] * strides[d];
  return offset;
}

class GraphEvaluation {
public:
  explicit GraphEvaluation(const std::function<char *(int64_t)> &memory) : memory_(memory) {}

  void run(const DnnDescriptor &operation) {
    switch (operation.type) {
    case kOperationPointwise:
      return pointwise(operation, part(operation, kOperationPointwiseDescriptor));
    case kOperationMatmul:
      return multiply(operation);
    case kOperationReduction:
      return reduce(operation, part(operation, kOperationReductionDescriptor));
    case kOperationReshape:
      return reshape(part(operation, kOperationReshapeX), part(operation, kOperationReshapeY));
    }
  }

private:
  static const DnnDescriptor &part(const DnnDescriptor &of, int attribute) {
    return descriptorAt(of.one<DescriptorRef>(attribute));
  }
  static Index dimsOf(const DnnDescriptor &tensor) { return tensor.all<int64_t>(kTensorDims); }
  static Index stridesOf(const DnnDescriptor &tensor) {
    return tensor.all<int64_t>(kTensorStrides);
  }

  Elements load(const DnnDescriptor &tensor) {
    const int64_t id = tensor.one<int64_t>(kTensorId);
    if (tensor.one<char>(kTensorIsVirtual))
      return inside_.at(id);
    const char *memory = memory_(id);
    const int type = tensor.one<int>(kTensorDataType);
    Elements loaded(dimsOf(tensor));
    visitAll(loaded.dims, [&](const Index &index) {
      const int64_t offset = offsetOf(index, stridesOf(tensor));
      float &value = loaded.at(index, loaded.dims);
      if (type == kF32) {
        std::memcpy(&value, memory + 4 * offset, sizeof value);
        return;
      }
      uint16_t low = 0;
      std::memcpy(&low, memory + 2 * offset, sizeof low);
      value = type == kBF16 ? fromBF16(low) : fromF16(low);
    });
    return loaded;
  }

  void store(const DnnDescriptor &tensor, Elements values) {
    const int64_t id = tensor.one<int64_t>(kTensorId);
    const int type = tensor.one<int>(kTensorDataType);
    const bool isInside = tensor.one<char>(kTensorIsVirtual);
    visitAll(values.dims, [&](const Index &index) {
      float &value = values.at(index, values.dims);
      const bool isLow = type == kBF16 || type == kF16;
      const uint16_t low = type == kF16 ? toF16(value) : toBF16(value);
      if (isLow)
        value = type == kF16 ? fromF16(low) : fromBF16(low);
      if (isInside)
        return;
      char *at = memory_(id) + offsetOf(index, stridesOf(tensor)) * (isLow ? 2 : 4);
      std::memcpy(at, isLow ? static_cast<const void *>(&low) : &value, isLow ? 2 : 4);
    });
    if (isInside)
      inside_.insert_or_assign(id, std::move(values));
  }

  static float applied(int mode, float x, float b, float t) {
    switch (mode) {
    case kAdd:
      return x + b;
    case kSub:
      return x - b;
    case kMul:
      return x * b;
    case kDiv:
      return x / b;
    case kExp:
      return std::exp(x);
    case kLog:
      return std::log(x);
    case kCompareGe:
      return x >= b;
    case kBinarySelect:
      return t != 0 ? x : b;
    default:
      return std::numeric_limits<float>::quiet_NaN();
    }
  }

  void pointwise(const DnnDescriptor &operation, const DnnDescriptor &how) {
    const int mode = how.one<int>(kPointwiseMode);
    const DnnDescriptor &written = part(operation, kOperationPointwiseY);
    Elements result(dimsOf(written));
    std::vector<Elements> operands;
    for (int place : {kOperationPointwiseX, kOperationPointwiseB, kOperationPointwiseT})
      operands.push_back(operation.attributes.contains(place) ? load(part(operation, place))
                                                              : Elements(Index(4, 1)));
    const auto axis = size_t(how.one<int64_t>(kPointwiseAxis));
    visitAll(result.dims, [&](const Index &index) {
      auto operand = [&](size_t i) { return operands[i].at(index, result.dims); };
      result.at(index, result.dims) = mode == kGenIndex
                                          ? float(index[axis])
                                          : applied(mode, operand(0), operand(1), operand(2));
    });
    store(written, std::move(result));
  }

  void multiply(const DnnDescriptor &operation) {
    Elements a = load(part(operation, kOperationMatmulA)),
             b = load(part(operation, kOperationMatmulB));
    const DnnDescriptor &written = part(operation, kOperationMatmulC);
    Elements result(dimsOf(written));
    const int64_t terms = a.dims[3];
    visitAll(result.dims, [&](const Index &i) {
      const Index left{result.dims[0], result.dims[1], result.dims[2], terms},
          right{result.dims[0], result.dims[1], terms, result.dims[3]};
      float sum = 0;
      for (int64_t k = 0; k < terms; ++k)
        sum += a.at({i[0], i[1], i[2], k}, left) * b.at({i[0], i[1], k, i[3]}, right);
      result.at(i, result.dims) = sum;
    });
    store(written, std::move(result));
  }

  void reduce(const DnnDescriptor &operation, const DnnDescriptor &how) {
    const bool isMax = how.one<int>(kReductionOperator) == kReduceMax;
    Elements x = load(part(operation, kOperationReductionX));
    const DnnDescriptor &written = part(operation, kOperationReductionY);
    Elements result(dimsOf(written));
    std::fill(result.values.begin(), result.values.end(),
              isMax ? -std::numeric_limits<float>::infinity() : 0.0f);
    visitAll(x.dims, [&](const Index &index) {
      float &to = result.at(index, x.dims);
      to = isMax ? std::max(to, x.at(index, x.dims)) : to + x.at(index, x.dims);
    });
    store(written, std::move(result));
  }

  // An element of the result is the element of the operand with the same offset.
  void reshape(const DnnDescriptor &read, const DnnDescriptor &written) {
    Elements x = load(read), result(dimsOf(written));
    std::map<int64_t, float> byOffset;
    visitAll(x.dims, [&](const Index &index) {
      byOffset[offsetOf(index, stridesOf(read))] = x.at(index, x.dims);
    });
    visitAll(result.dims, [&](const Index &index) {
      result.at(index, result.dims) = byOffset.at(offsetOf(index, stridesOf(written)));
    });
    store(written, std::move(result));
  }

  const std::function<char *(int64_t)> &memory_;
  std::map<int64_t, Elements> inside_; // by the tensor's id
};

} // namespace

bool canEvaluate(const DnnDescriptor &graph) {
  const std::vector<DescriptorRef> operations = graph.all<DescriptorRef>(kGraphOperations);
  return std::all_of(operations.begin(), operations.end(), [](DescriptorRef operation) {
    const int type = descriptorAt(operation).type;
    return type == kOperationPointwise || type == kOperationMatmul || type == kOperationReduction ||
           type == kOperationReshape;
  });
}

void evaluate(const DnnDescriptor &graph, const std::function<char *(int64_t)> &memory) {
  GraphEvaluation evaluation(memory);
  for (DescriptorRef operation : graph.all<DescriptorRef>(kGraphOperations))
    evaluation.run(descriptorAt(operation));
}

} // namespace cleave::test
