// Reading first values.
#include "test/unit/train/Origins.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

using namespace mlir;

namespace cleave::test {

template <typename T> static double read(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return static_cast<double>(value);
}

static double readHalf(const char *data) {
  uint16_t bits;
  std::memcpy(&bits, data, sizeof bits);
  llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  bool lossy;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

static double element(ElementType type, const char *data) {
  switch (type) {
  case ElementType::F64:
    return read<double>(data);
  case ElementType::F32:
    return read<float>(data);
  case ElementType::F16:
    return readHalf(data);
  case ElementType::I64:
    return read<int64_t>(data);
  case ElementType::I32:
    return read<int32_t>(data);
  case ElementType::Bool:
    return read<bool>(data);
  default:
    FAIL("an element type that no test model has");
    return 0;
  }
}

// The stored tensor, whose dim permutation[i] is dim i of `type`, transposed.
static Tensor readFile(const graph::TensorOrigin &origin, Type type, const std::string &path) {
  Tensor tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type));
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(origin.offset));
  std::vector<char> bytes(origin.bytes);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  INFO(path);
  REQUIRE(file.good());
  REQUIRE(static_cast<int64_t>(bytes.size()) == tensor.size() * byteSize(origin.element));
  std::vector<int64_t> stored = tensor.shape, strides(stored.size());
  for (size_t i = 0; i < origin.permutation.size(); ++i)
    stored[origin.permutation[i]] = tensor.shape[i];
  std::vector<int64_t> storedStrides = Tensor(ElementType::F64, stored).strides();
  for (size_t i = 0; i < strides.size(); ++i)
    strides[i] = storedStrides[origin.permutation.empty() ? i : origin.permutation[i]];
  int64_t at = 0;
  forEachIndex(tensor.shape, [&](const std::vector<int64_t> &index) {
    tensor.set(at++, element(origin.element,
                             &bytes[linearIndex(index, strides) * byteSize(origin.element)]));
  });
  return tensor;
}

Tensor firstValue(func::FuncOp step, unsigned i, const std::string &folder,
                  const std::string &file) {
  Type type = step.getArgument(i).getType();
  INFO(graph::argName(step, i).str());
  std::optional<graph::TensorOrigin> origin = graph::originOf(step, i);
  REQUIRE(origin);
  switch (origin->kind) {
  case graph::TensorOrigin::Kind::Fill:
    return Tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type),
                  origin->fill);
  case graph::TensorOrigin::Kind::Inline:
    return origin->data;
  case graph::TensorOrigin::Kind::File:
    return readFile(*origin, type, folder + "/" + (origin->path.empty() ? file : origin->path));
  }
  return {};
}

} // namespace cleave::test
