// First values come from a slice of a file, one number, or the elements themselves.
#include "compiler/artifact/ExportTensor.h"

#include "dialects/graph/RandomOrigin.h"
#include "dialects/graph/Step.h"

using namespace mlir;

namespace cleave::artifact {

namespace {

// The elements in row-major order, as the program has them in memory.
std::string bytesOf(DenseElementsAttr elements) {
  std::string bytes;
  if (elements.getElementType().isInteger(1)) { // MLIR packs truth values
    for (bool value : elements.getValues<bool>())
      bytes += static_cast<char>(value);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  const int64_t copies = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < copies; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
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
  // Not through TensorOrigin, whose elements are doubles.
  if (auto data = cast<DictionaryAttr>(attribute).getAs<DenseElementsAttr>("data")) {
    source.set_inline_data(bytesOf(data));
    return source;
  }
  graph::TensorOrigin origin = graph::toOrigin(attribute);
  if (origin.kind == graph::TensorOrigin::Kind::Fill) {
    source.set_fill(origin.fill);
    return source;
  }
  source.mutable_file()->set_path(origin.path);
  source.mutable_file()->set_offset(origin.offset);
  source.mutable_file()->set_bytes(origin.bytes);
  source.mutable_file()->set_dtype(static_cast<plan::DType>(origin.element));
  for (int64_t dim : origin.permutation)
    source.add_permutation(static_cast<uint32_t>(dim));
  return source;
}

} // namespace cleave::artifact
