// First values come from a slice of a file, one number, or the elements themselves.
#include "compiler/artifact/ExportTensor.h"

#include "dialects/graph/RandomOrigin.h"
#include "dialects/graph/Step.h"

#include <cstring>

using namespace mlir;

namespace cleave::artifact {

namespace {

template <typename T> void append(std::string &bytes, double value) {
  T typed = static_cast<T>(value);
  bytes.append(reinterpret_cast<const char *>(&typed), sizeof(T));
}

// Two-byte floats are truncated from the float that they were rounded to.
void appendElement(std::string &bytes, ElementType type, double value) {
  switch (type) {
  case ElementType::F64:
    return append<double>(bytes, value);
  case ElementType::F32:
    return append<float>(bytes, value);
  case ElementType::F16:
    return append<_Float16>(bytes, value);
  case ElementType::BF16: {
    float wide = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char *>(&wide) + 2, 2);
    return;
  }
  case ElementType::I64:
    return append<int64_t>(bytes, value);
  case ElementType::I32:
    return append<int32_t>(bytes, value);
  case ElementType::I16:
    return append<int16_t>(bytes, value);
  case ElementType::I8:
    return append<int8_t>(bytes, value);
  case ElementType::U64:
    return append<uint64_t>(bytes, value);
  case ElementType::U32:
    return append<uint32_t>(bytes, value);
  case ElementType::U16:
    return append<uint16_t>(bytes, value);
  case ElementType::U8:
  case ElementType::Bool:
    return append<uint8_t>(bytes, value);
  }
}

} // namespace

// DType has the numbers of program.proto.
plan::DType dtypeOf(Type element) {
  return static_cast<plan::DType>(graph::toElementType(element));
}

plan::TensorSource sourceOf(Attribute attribute) {
  plan::TensorSource source;
  if (std::optional<graph::RandomOrigin> random = graph::toRandomOrigin(attribute)) {
    source.mutable_random()->set_distribution(random->isNormal ? plan::RandomValues::NORMAL
                                                               : plan::RandomValues::UNIFORM);
    source.mutable_random()->set_scale(random->scale);
    return source;
  }
  graph::TensorOrigin origin = graph::toOrigin(attribute);
  switch (origin.kind) {
  case graph::TensorOrigin::Kind::Fill:
    source.set_fill(origin.fill);
    break;
  case graph::TensorOrigin::Kind::Inline: {
    std::string bytes;
    for (double value : origin.data.values)
      appendElement(bytes, origin.data.type, value);
    source.set_inline_data(std::move(bytes));
    break;
  }
  case graph::TensorOrigin::Kind::File:
    source.mutable_file()->set_path(origin.path);
    source.mutable_file()->set_offset(origin.offset);
    source.mutable_file()->set_bytes(origin.bytes);
    source.mutable_file()->set_dtype(static_cast<plan::DType>(origin.element));
    break;
  }
  for (int64_t dim : origin.permutation)
    source.add_permutation(static_cast<uint32_t>(dim));
  return source;
}

} // namespace cleave::artifact
