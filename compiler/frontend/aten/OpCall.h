// OpCall: one call of an operator while it is imported; what the operators' functions ask about its
// arguments. A function takes it and gives the results; a Failure in it is reported with the
// operator's name.
#pragma once

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/aten/Schema.h"
#include "compiler/frontend/emit/Emitter.h"
#include "dialects/graph/Build.h"

#include <string_view>

namespace cleave::aten {

// The elements of a tensor, as a value of the step.
using Array = mlir::Value;
using Arrays = llvm::SmallVector<Array>;
using Dims = emit::Ints;
using emit::fail;
using emit::Shape;
using emit::shapeOf;
using graph::elementTypeOf;
using graph::rankOf;

// The results of an operator: tensors of their own, handles, or any other values.
struct Results {
  Results(Array array) : values{TensorState::create(array)} {}
  Results(std::initializer_list<Array> arrays) {
    for (Array array : arrays)
      values.push_back(TensorState::create(array));
  }
  Results(const Arrays &arrays) {
    for (Array array : arrays)
      values.push_back(TensorState::create(array));
  }
  Results(Value value) : values{std::move(value)} {}
  Results(ValueList all) : values(std::move(all)) {}
  ValueList values;
};

class OpCall {
public:
  OpCall(Context &context, const Schema &schema, ValueList arguments)
      : context(context), e(context.emitter), schema_(schema), arguments_(std::move(arguments)) {}

  Context &context;
  emit::Emitter &e;

  // -- arguments, by the names in the schema
  const Value &operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].isNone(); }
  Array tensor(std::string_view name) const { return read((*this)[name]); }
  const TensorRef &handle(std::string_view name) const { return (*this)[name].tensor(); }
  // A tensor of floating-point numbers; integers become PyTorch's default type.
  Array floats(std::string_view name) const { return toFloat(tensor(name)); }
  Arrays tensors(std::string_view name) const;
  Polynomial integer(std::string_view name) const;
  // An integer that no symbol may occur in.
  int64_t plainInteger(std::string_view name) const;
  double number(std::string_view name) const;
  bool truth(std::string_view name) const;
  const std::string &text(std::string_view name) const { return (*this)[name].text(); }
  std::vector<Polynomial> integers(std::string_view name) const;
  Dims plainIntegers(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  // The element type that a dtype argument asks for; none if it is None.
  std::optional<ElementType> dtype(std::string_view name = "dtype") const;
  // A dim of `rank` dims, counted from 0.
  int64_t dim(std::string_view name, int64_t rank) const;
  // Several of them; all if the argument is None or an empty list.
  Dims dims(std::string_view name, int64_t rank) const;

  // -- conversion
  // A tensor's elements, or a number as a tensor of no dims and of its own type.
  Array read(const Value &value) const;
  Array toFloat(Array array) const;
  Array cast(Array array, ElementType type) const;
  Array castIf(Array array, std::optional<ElementType> type) const {
    return type ? cast(array, *type) : array;
  }
  // A tensor or a number as elements of the type.
  Array readAs(const Value &value, ElementType type) const;

  // -- types
  ElementType defaultFloat() const { return context.defaultFloat; }
  // What operators that divide or have no meaning on integers compute in.
  ElementType floatType(ElementType type) const;
  // That of a number which is no tensor.
  ElementType numberType(const Value &value) const;

  mlir::Type mlirType(ElementType type) const {
    return graph::fromElementType(type, e.b.getContext());
  }
  // All elements `value`.
  Array filled(const Shape &shape, ElementType type, double value) const;

private:
  const Schema &schema_;
  ValueList arguments_;
};

inline ElementType typeOf(Array array) { return graph::toElementType(elementTypeOf(array)); }
inline bool isFloating(Array array) { return isFloat(typeOf(array)); }

// The same elements as a constant to gradients.
Array stopped(emit::Emitter &e, Array array);
// `elements`, with the gradient of `before`: what memory holds after a write that is not recorded.
Array withGradientOf(emit::Emitter &e, Array before, Array elements);

// The type that PyTorch gives to the result of an operator on these tensors and numbers: the widest
// of the highest kind (truth values, integers, floats); numbers and tensors without dims only
// count by their kind.
ElementType promotedType(OpCall &c, llvm::ArrayRef<Value> operands);

using Function = Results (*)(OpCall &);

// One form of an operator: its name (without `aten::`), its arguments, its meaning.
struct OpEntry {
  const char *name;
  const char *schema;
  Function function;
};

// The families' tables.
llvm::ArrayRef<OpEntry> activationOps();
llvm::ArrayRef<OpEntry> attentionOps();
llvm::ArrayRef<OpEntry> contractionOps();
llvm::ArrayRef<OpEntry> creationOps();
llvm::ArrayRef<OpEntry> diagonalOps();
llvm::ArrayRef<OpEntry> elementwiseOps();
llvm::ArrayRef<OpEntry> indexingOps();
llvm::ArrayRef<OpEntry> lossOps();
llvm::ArrayRef<OpEntry> movementOps();
llvm::ArrayRef<OpEntry> normalizationOps();
llvm::ArrayRef<OpEntry> partOps();
llvm::ArrayRef<OpEntry> poolingOps();
llvm::ArrayRef<OpEntry> recurrentOps();
llvm::ArrayRef<OpEntry> reductionOps();
llvm::ArrayRef<OpEntry> resizeOps();
llvm::ArrayRef<OpEntry> scalarOps();
llvm::ArrayRef<OpEntry> viewOps();

} // namespace cleave::aten
