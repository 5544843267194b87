// See Guard.h.
#include "compiler/frontend/aten/Guard.h"

#include "compiler/frontend/aten/Complex.h"

namespace cleave::aten {

Array guarded(emit::Emitter &e, Array elements, Array isActive) {
  if (!isFloating(elements) || e.evaluator.sizes(elements))
    return elements;
  Array constant = stopped(e, elements);
  if (constant == elements)
    return elements;
  return e.select(e.broadcast(isActive, shapeOf(elements)), elements, constant);
}

IValue guardedCopy(emit::Emitter &e, const IValue &value, Array isActive) {
  if (const ComplexTensor *x = asComplex(value))
    return complexOf(guardedCopy(e, x->real, isActive), guardedCopy(e, x->imaginary, isActive));
  if (!value.isTensor())
    return value;
  if (const std::optional<Polynomial> &number = value.tensor()->number())
    return TensorState::ofNumber(*number);
  Array elements = guarded(e, value.tensor()->read(e), isActive);
  if (value.tensor()->isPythonNumber())
    return TensorState::ofPythonNumber(elements);
  TensorRef copy = TensorState::create(elements);
  // Operators read these fields of parameters and buffers.
  copy->storage()->isBuffer = value.tensor()->storage()->isBuffer;
  copy->storage()->isTrained = value.tensor()->storage()->isTrained;
  copy->storage()->name = value.tensor()->storage()->name;
  return copy;
}

} // namespace cleave::aten
