// See OpCall.h.
#include "compiler/frontend/aten/OpCall.h"

#include <algorithm>
#include <numeric>

namespace cleave::aten {

// -- arguments ------------------------------------------------------------------------------------
const IValue &OpCall::operator[](std::string_view name) const {
  for (size_t i = 0; i < schema_.parameters.size(); ++i)
    if (schema_.parameters[i].name == name)
      return arguments_[i];
  llvm_unreachable("an operator asks for an argument that its schema does not have");
}

Arrays OpCall::tensors(std::string_view name) const {
  Arrays out;
  for (const IValue &item : (*this)[name].items())
    out.push_back(read(item));
  return out;
}

Polynomial OpCall::integer(std::string_view name) const {
  return integerOf(context, (*this)[name], "'" + std::string(name) + "'");
}

static int64_t plain(const Polynomial &number, std::string_view name) {
  if (std::optional<int64_t> value = number.constant())
    return *value;
  fail("'", std::string(name), "' is ", number.str(), ", expected a number; give ",
       "its symbols values (--set)");
}

int64_t OpCall::plainInteger(std::string_view name) const { return plain(integer(name), name); }

double OpCall::number(std::string_view name) const {
  return numberOf(context, (*this)[name], "'" + std::string(name) + "'");
}

bool OpCall::boolean(std::string_view name) const {
  return boolOf(context, (*this)[name], "'" + std::string(name) + "'");
}

std::vector<Polynomial> OpCall::integers(std::string_view name) const {
  const IValue &value = (*this)[name];
  std::vector<Polynomial> out;
  if (!value.isList())
    return {integer(name)};
  for (const IValue &item : value.items())
    out.push_back(integerOf(context, item, "'" + std::string(name) + "'"));
  return out;
}

Ints OpCall::plainIntegers(std::string_view name) const {
  Ints out;
  for (const Polynomial &item : integers(name))
    out.push_back(plain(item, name));
  return out;
}

std::vector<double> OpCall::numbers(std::string_view name) const {
  const IValue &value = (*this)[name];
  std::vector<double> out;
  if (!value.isList())
    return {number(name)};
  for (const IValue &item : value.items())
    out.push_back(numberOf(context, item, "'" + std::string(name) + "'"));
  return out;
}

std::optional<ElementType> OpCall::dtype(std::string_view name) const {
  if (!has(name))
    return std::nullopt;
  int64_t number = plainInteger(name);
  std::optional<ElementType> type = elementTypeOfDtype(number);
  if (!type)
    fail("asks for the element type number ", number,
         " of PyTorch's, which Cleave does not support");
  return type;
}

static int64_t countedFromFront(int64_t dim, int64_t rank) {
  int64_t least = std::max<int64_t>(rank, 1);
  if (dim < -least || dim >= least)
    fail("dim ", dim, " is out of range for ", rank, " dims");
  return dim < 0 ? dim + least : dim;
}

int64_t OpCall::dim(std::string_view name, int64_t rank) const {
  if (rank == 0)
    fail("names a dim ('", std::string(name), "') of a tensor without dims");
  return countedFromFront(plainInteger(name), rank);
}

Ints OpCall::dims(std::string_view name, int64_t rank) const {
  Ints out;
  if (has(name))
    for (int64_t dim : plainIntegers(name))
      out.push_back(countedFromFront(dim, rank));
  if (out.empty()) {
    out.resize(rank);
    std::iota(out.begin(), out.end(), 0);
  }
  std::sort(out.begin(), out.end());
  if (rank == 0)
    out.clear();
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    fail("names a dim twice");
  return out;
}

// -- conversion -----------------------------------------------------------------------------------
Array OpCall::read(const IValue &value) const {
  if (value.isTensor())
    return value.tensor()->read(e);
  if (value.isInt())
    return e.size(value.integer());
  if (value.isFloat())
    return e.scalar(mlirType(numberType(value)), value.number());
  if (value.isBool())
    return e.scalar(mlirType(ElementType::Bool), value.boolean());
  fail("has a ", value.kindName(), ", expected a tensor or a number");
}

Array OpCall::readAs(const IValue &value, ElementType type) const {
  if (value.isTensor())
    return cast(read(value), type);
  if (value.isInt())
    return cast(e.size(value.integer()), type);
  return e.scalar(mlirType(type), numberOf(context, value, "a number"));
}

Array OpCall::cast(Array array, ElementType type) const {
  return typeOf(array) == type ? array : e.cast(array, mlirType(type));
}

Array OpCall::toFloat(Array array) const { return cast(array, floatType(typeOf(array))); }

Array OpCall::filled(const Sizes &shape, ElementType type, double value) const {
  return e.splat(shape, mlirType(type), value);
}

// -- types ----------------------------------------------------------------------------------------
ElementType OpCall::floatType(ElementType type) const {
  return isFloat(type) ? type : defaultFloat();
}

ElementType OpCall::numberType(const IValue &value) const {
  return value.isFloat() ? defaultFloat() : value.isBool() ? ElementType::Bool : ElementType::I64;
}

namespace {

int kindOf(ElementType type) { return isFloat(type) ? 2 : type == ElementType::Bool ? 0 : 1; }

// The promoted type of two operands of equal priority.
ElementType widest(ElementType a, ElementType b) {
  if (a == b)
    return a;
  if (kindOf(a) != kindOf(b))
    return kindOf(a) > kindOf(b) ? a : b;
  auto isPair = [&](ElementType x, ElementType y) {
    return (a == x && b == y) || (a == y && b == x);
  };
  if (isPair(ElementType::F16, ElementType::BF16))
    return ElementType::F32;
  if (isPair(ElementType::I8, ElementType::U8))
    return ElementType::I16;
  return byteSize(a) > byteSize(b) ? a : b;
}

// The priority of an operand in type promotion: tensors with dims, 0-dim tensors, numbers.
int weightOf(OpCall &c, const IValue &value) {
  if (!value.isTensor() || value.tensor()->isPythonNumber())
    return 0;
  return value.tensor()->number() || rankOf(c.read(value)) == 0 ? 1 : 2;
}

ElementType ownType(OpCall &c, const IValue &value) {
  if (value.isTensor() && value.tensor()->isPythonNumber())
    return isFloating(c.read(value)) ? c.defaultFloat() : typeOf(c.read(value));
  if (value.isTensor())
    return value.tensor()->number() ? ElementType::I64 : typeOf(c.read(value));
  return c.numberType(value);
}

} // namespace

// Python's numbers are computed in float64.
static bool areNumbers(OpCall &c, llvm::ArrayRef<IValue> operands) {
  bool ofData = false, onlyNumbers = true, anyFloat = false;
  for (const IValue &operand : operands) {
    onlyNumbers &= weightOf(c, operand) == 0;
    ofData |= operand.isTensor();
    anyFloat |= operand.isFloat() || (operand.isTensor() && isFloating(c.read(operand)));
  }
  return ofData && onlyNumbers && anyFloat;
}

ElementType promotedType(OpCall &c, llvm::ArrayRef<IValue> operands) {
  if (areNumbers(c, operands))
    return ElementType::F64;
  std::optional<ElementType> byWeight[3];
  for (const IValue &operand : operands) {
    std::optional<ElementType> &type = byWeight[weightOf(c, operand)];
    ElementType own = ownType(c, operand);
    type = type ? widest(*type, own) : own;
  }
  std::optional<ElementType> out;
  for (int weight = 2; weight >= 0; --weight)
    if (byWeight[weight] && (!out || kindOf(*byWeight[weight]) > kindOf(*out)))
      out = byWeight[weight];
  return out.value_or(c.defaultFloat());
}

} // namespace cleave::aten
