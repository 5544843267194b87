// Complex: tensors of complex numbers. Each is two real tensors, its parts, and operators on them
// are written with operators on these.
#pragma once

#include "compiler/frontend/aten/Aten.h"

namespace cleave::aten {

// A tensor of complex numbers; its parts have one shape and type.
struct ComplexTensor : Object {
  ComplexTensor(IValue real, IValue imaginary)
      : real(std::move(real)), imaginary(std::move(imaginary)) {}
  const IValue real, imaginary;
};

// The value with these parts.
IValue complexOf(IValue real, IValue imaginary);

// The value as a tensor of complex numbers; null: it is another one.
const ComplexTensor *asComplex(const IValue &value);

// Fails if the value, an output of the model, is complex: steps return real tensors.
void checkRealOutput(const IValue &value, const std::string &name);

// The complex numbers whose parts are the last dim of a tensor of floats, which has size 2.
IValue complexOfPairs(const emit::Emitter &e, mlir::Value pairs);

// Whether an argument of the operator `name`, or an item of a list among them, is complex, or the
// operator converts to complex numbers.
bool isOnComplex(const std::string &name, const IValueList &positional,
                 const std::map<std::string, IValue> &keyword);

// Builds such an operator, as call() does; it has no row in complexOps() and fourierOps(). Fails on
// operators that are not known on complex numbers.
IValueList callOnParts(Context &context, const std::string &name, const IValueList &positional,
                       const std::map<std::string, IValue> &keyword);

} // namespace cleave::aten
