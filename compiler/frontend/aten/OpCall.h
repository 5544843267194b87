// OpCall: one call of an operator, with typed access to its arguments. The function of an operator
// takes it and returns the results; the operator's name is added to its Failures.
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
using emit::fail;
using emit::Ints;
using emit::shapeOf;
using emit::Sizes;
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
  Results(IValue value) : values{std::move(value)} {}
  Results(IValueList all) : values(std::move(all)) {}
  IValueList values;
};

class OpCall {
public:
  OpCall(Context &context, const Schema &schema, IValueList arguments)
      : context(context), e(context.emitter), schema_(schema), arguments_(std::move(arguments)) {}

  // The import, and the emitter in it.
  Context &context;
  emit::Emitter &e;

  // -- arguments, by the names in the schema; they fail on values of another kind
  const IValue &operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].isNone(); }
  Array tensor(std::string_view name) const { return read((*this)[name]); }
  const TensorRef &handle(std::string_view name) const { return (*this)[name].tensor(); }
  // A tensor of floating-point numbers; integers become PyTorch's default type.
  Array floats(std::string_view name) const { return toFloat(tensor(name)); }
  Arrays tensors(std::string_view name) const;
  Polynomial integer(std::string_view name) const;
  // An integer without symbols.
  int64_t plainInteger(std::string_view name) const;
  double number(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::string &string(std::string_view name) const { return (*this)[name].string(); }
  std::vector<Polynomial> integers(std::string_view name) const;
  Ints plainIntegers(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  // The element type of a dtype argument; none if it is None.
  std::optional<ElementType> dtype(std::string_view name = "dtype") const;
  // A dim in [0, rank), from one in [-rank, rank).
  int64_t dim(std::string_view name, int64_t rank) const;
  // Several of them; all if the argument is None or an empty list.
  Ints dims(std::string_view name, int64_t rank) const;

  // -- conversion
  // A tensor's elements, or a number as a tensor of no dims and of its own type.
  Array read(const IValue &value) const;
  Array toFloat(Array array) const;
  Array cast(Array array, ElementType type) const;
  Array castIf(Array array, std::optional<ElementType> type) const {
    return type ? cast(array, *type) : array;
  }
  // A tensor or a number as elements of the type.
  Array readAs(const IValue &value, ElementType type) const;

  // -- types
  ElementType defaultFloat() const { return context.defaultFloat; }
  // The type in which operators without a meaning on integers (division, say) compute.
  ElementType floatType(ElementType type) const;
  // The element type of a number that is not a tensor.
  ElementType numberType(const IValue &value) const;

  // As an element type of MLIR.
  mlir::Type mlirType(ElementType type) const {
    return graph::fromElementType(type, e.b.getContext());
  }
  // All elements `value`.
  Array filled(const Sizes &shape, ElementType type, double value) const;

private:
  const Schema &schema_;
  IValueList arguments_;
};

// The element type of an array; whether it is a floating-point type.
inline ElementType typeOf(Array array) { return graph::toElementType(elementTypeOf(array)); }
inline bool isFloating(Array array) { return isFloat(typeOf(array)); }

// The same elements as a constant to gradients.
Array stopped(emit::Emitter &e, Array array);
// `elements` with the gradient of `before`: the contents of memory after a write under no_grad.
Array withGradientOf(emit::Emitter &e, Array before, Array elements);

// PyTorch's type promotion: the widest type of the highest kind (bool, integer, float) among the
// operands. The width of numbers and 0-dim tensors is ignored.
ElementType promotedType(OpCall &c, llvm::ArrayRef<IValue> operands);

// Builds the ops of one form of an operator.
using Function = Results (*)(OpCall &);

// One form of an operator: its name (without `aten::`; operators of other libraries have their
// namespace), its arguments (Schema.h), its function.
struct OpEntry {
  const char *name;
  const char *schema;
  Function function;
};

// The tables of the families.
llvm::ArrayRef<OpEntry> activationOps();
llvm::ArrayRef<OpEntry> attentionOps();
llvm::ArrayRef<OpEntry> complexOps();
llvm::ArrayRef<OpEntry> contractionOps();
llvm::ArrayRef<OpEntry> creationOps();
llvm::ArrayRef<OpEntry> diagonalOps();
llvm::ArrayRef<OpEntry> elementwiseOps();
llvm::ArrayRef<OpEntry> embeddingBagOps();
llvm::ArrayRef<OpEntry> fourierOps();
llvm::ArrayRef<OpEntry> indexingOps();
llvm::ArrayRef<OpEntry> lossOps();
llvm::ArrayRef<OpEntry> movementOps();
llvm::ArrayRef<OpEntry> normalizationOps();
llvm::ArrayRef<OpEntry> partOps();
llvm::ArrayRef<OpEntry> poolingOps();
llvm::ArrayRef<OpEntry> randomOps();
llvm::ArrayRef<OpEntry> rankingOps();
llvm::ArrayRef<OpEntry> recurrentOps();
llvm::ArrayRef<OpEntry> reductionOps();
llvm::ArrayRef<OpEntry> resizeOps();
llvm::ArrayRef<OpEntry> scalarOps();
llvm::ArrayRef<OpEntry> signalOps();
llvm::ArrayRef<OpEntry> specialOps();
llvm::ArrayRef<OpEntry> viewOps();

// A function of every element, and the function of an operator that applies it to floating-point
// numbers.
using Unary = Array (*)(const emit::Emitter &, Array);
template <Unary function> Results formula(OpCall &c) { return function(c.e, c.floats("self")); }

} // namespace cleave::aten
