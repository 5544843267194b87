// See TensorTypes.h.
#include "compiler/frontend/pt2/TensorTypes.h"

#include "compiler/frontend/torch/StridedTensor.h"

namespace cleave::pt2 {

using emit::fail;

const TensorMeta &metaOf(const Program &program, const InputSpec &input) {
  auto found = program.graph.tensors.find(input.name);
  if (found == program.graph.tensors.end())
    fail("the program does not describe the tensor '", input.name, "'");
  return found->second;
}

mlir::RankedTensorType typeOf(const TensorMeta &meta, const std::string &name,
                              const Symbols &symbols, const emit::Emitter &emitter) {
  if (!meta.element)
    torch::failOnElements(name, meta.dtypeName);
  graph::Shape shape;
  for (const Size &size : meta.sizes)
    shape.push_back(symbols.resolve(size, "'" + name + "'"));
  return emitter.type(shape, graph::fromElementType(*meta.element, emitter.b.getContext()));
}

} // namespace cleave::pt2
