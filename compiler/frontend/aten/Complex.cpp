// See Complex.h.
#include "compiler/frontend/aten/Complex.h"

#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {
namespace {

IValue one(Context &context, const char *name, const IValueList &arguments) {
  return call(context, name, arguments).at(0);
}

// -- operators that make complex numbers, or take those and real ones alike -----------------------
Results fromParts(OpCall &c) {
  c.e.checkAlike(c.tensor("real"), c.tensor("imag"));
  return complexOf(c["real"], c["imag"]);
}

// From length and angle.
Results polar(OpCall &c) {
  const IValue &length = c["abs"];
  IValue cos = one(c.context, "aten::cos", {c["angle"]});
  IValue sin = one(c.context, "aten::sin", {c["angle"]});
  return complexOf(one(c.context, "aten::mul", {length, cos}),
                   one(c.context, "aten::mul", {length, sin}));
}

// The last dim holds the two parts.
Results viewAsComplex(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkFloat(x);
  if (rankOf(x) == 0 || shapeOf(x).back() != Polynomial(2))
    fail("makes complex numbers of shape ", emit::showShape(shapeOf(x)),
         ", expected a last dim of size 2");
  auto part = [&](int64_t i) {
    return one(c.context, "aten::select", {c["self"], int64_t(-1), i});
  };
  return complexOf(part(0), part(1));
}

Results viewAsReal(OpCall &c) {
  const ComplexTensor *x = asComplex(c["self"]);
  if (!x)
    fail("has a ", c["self"].kindName(), ", expected complex numbers");
  return one(c.context, "aten::stack", {IValue::list({x->real, x->imaginary}), int64_t(-1)});
}

Results realPart(OpCall &c) {
  const ComplexTensor *x = asComplex(c["self"]);
  return x ? x->real : c["self"];
}
Results imaginaryPart(OpCall &c) {
  const ComplexTensor *x = asComplex(c["self"]);
  if (!x)
    fail("has a ", c["self"].kindName(), ", expected complex numbers");
  return x->imaginary;
}
Results conjugate(OpCall &c) {
  const ComplexTensor *x = asComplex(c["self"]);
  return x ? complexOf(x->real, one(c.context, "aten::neg", {x->imaginary})) : c["self"];
}
Results unchanged(OpCall &c) { return c["self"]; }

constexpr OpEntry kComplexOps[] = {
    {"_conj", "any self", conjugate},
    {"_conj_physical", "any self", conjugate},
    {"complex", "T real, T imag", fromParts},
    {"conj", "any self", conjugate},
    {"conj_physical", "any self", conjugate},
    {"imag", "any self", imaginaryPart},
    {"polar", "T abs, T angle", polar},
    {"real", "any self", realPart},
    {"resolve_conj", "any self", unchanged},
    {"resolve_neg", "any self", unchanged},
    {"view_as_complex", "T self", viewAsComplex},
    {"view_as_real", "any self", viewAsReal},
};

// -- operators on real numbers, with complex arguments --------------------------------------------
// Those that do to a complex tensor what they do to each of its parts: they move elements, or are
// linear in them.
constexpr const char *kOnEachPart[] = {
    "_unsafe_view",
    "add",
    "alias",
    "cat",
    "chunk",
    "clone",
    "contiguous",
    "detach",
    "expand",
    "flatten",
    "flip",
    "gather",
    "index",
    "index_select",
    "lift_fresh",
    "mean",
    "movedim",
    "narrow",
    "neg",
    "permute",
    "repeat",
    "reshape",
    "roll",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "stack",
    "sub",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
    "view",
};
// Those of the shape alone.
constexpr const char *kOfShape[] = {"dim", "numel", "size", "sym_numel", "sym_size"};

using Keywords = std::map<std::string, IValue>;
using Part = const IValue ComplexTensor::*;

IValue partOf(const IValue &value, Part part) {
  if (const ComplexTensor *x = asComplex(value))
    return x->*part;
  if (!value.isList())
    return value;
  IValueList items;
  for (const IValue &item : value.items())
    items.push_back(partOf(item, part));
  return IValue::list(std::move(items), value.listRef()->isTuple);
}

IValueList callOn(Part part, Context &context, const std::string &name,
                  const IValueList &positional, const Keywords &keyword) {
  IValueList values;
  for (const IValue &value : positional)
    values.push_back(partOf(value, part));
  Keywords named;
  for (const auto &[argument, value] : keyword)
    named[argument] = partOf(value, part);
  return call(context, name, values, named);
}

// Pairs of results; of lists pairs of their items.
IValue joined(const IValue &real, const IValue &imaginary) {
  if (!real.isList())
    return complexOf(real, imaginary);
  IValueList items;
  for (size_t i = 0; i < real.items().size(); ++i)
    items.push_back(joined(real.items()[i], imaginary.items()[i]));
  return IValue::list(std::move(items), real.listRef()->isTuple);
}

// An argument by position or name; None: there is none.
IValue argument(const IValueList &positional, const Keywords &keyword, size_t position,
                const char *name) {
  if (position < positional.size())
    return positional[position];
  auto found = keyword.find(name);
  return found == keyword.end() ? IValue() : found->second;
}

IValue product(Context &context, const IValue &a, const IValue &b) {
  auto mul = [&](const IValue &x, const IValue &y) { return one(context, "aten::mul", {x, y}); };
  const ComplexTensor *x = asComplex(a), *y = asComplex(b);
  if (!y)
    return complexOf(mul(x->real, b), mul(x->imaginary, b));
  if (!x)
    return complexOf(mul(a, y->real), mul(a, y->imaginary));
  return complexOf(
      one(context, "aten::sub", {mul(x->real, y->real), mul(x->imaginary, y->imaginary)}),
      one(context, "aten::add", {mul(x->real, y->imaginary), mul(x->imaginary, y->real)}));
}

// PyTorch's numbers of complex types, and those of their parts.
constexpr std::pair<int64_t, int64_t> kPartOfDtype[] = {{8, 5}, {9, 6}, {10, 7}};

bool isConversion(const std::string &name) { return name == "to" || name == "_to_copy"; }

// The type that a conversion asks for, as PyTorch's number; none: it keeps the type. By position it
// comes second, or third behind a device.
std::optional<int64_t> convertedTo(const IValueList &positional, const Keywords &keyword) {
  for (size_t position : {1, 2})
    if (const IValue type = argument(positional, keyword, position, "dtype"); type.isInt())
      return type.integer().constant();
  return std::nullopt;
}

// The number of the parts' type; none if `dtype` is not complex.
std::optional<int64_t> partOfDtype(std::optional<int64_t> dtype) {
  for (auto [complex, part] : kPartOfDtype)
    if (dtype == complex)
      return part;
  return std::nullopt;
}

IValue converted(Context &context, const IValue &value, std::optional<int64_t> dtype) {
  const std::optional<int64_t> part = partOfDtype(dtype);
  const ComplexTensor *x = asComplex(value);
  if (x && dtype && !part)
    fail("makes real numbers of complex ones; take their real part");
  if (!part)
    return value;
  auto cast = [&](const IValue &real) { return one(context, "aten::to", {real, *part}); };
  return complexOf(cast(x ? x->real : value),
                   cast(x ? x->imaginary : one(context, "aten::zeros_like", {value})));
}

bool isOneOf(llvm::ArrayRef<const char *> names, const std::string &name) {
  return llvm::is_contained(names, name);
}

// Whether the operator adds or joins complex numbers and real ones, which have no imaginary part.
bool mixes(const std::string &name, const IValueList &positional, const Keywords &keyword) {
  if (isOneOf({"cat", "stack"}, name))
    return !llvm::all_of(argument(positional, keyword, 0, "tensors").items(), asComplex);
  return isOneOf({"add", "sub"}, name) && !(asComplex(argument(positional, keyword, 0, "self")) &&
                                            asComplex(argument(positional, keyword, 1, "other")));
}

} // namespace

llvm::ArrayRef<OpEntry> complexOps() { return kComplexOps; }

const ComplexTensor *asComplex(const IValue &value) {
  return value.isObject() ? dynamic_cast<const ComplexTensor *>(value.object().get()) : nullptr;
}

IValue complexOf(IValue real, IValue imaginary) {
  return ObjectRef(std::make_shared<ComplexTensor>(std::move(real), std::move(imaginary)));
}

void checkRealOutput(const IValue &value, const std::string &name) {
  if (asComplex(value))
    fail("the output '", name, "' has complex numbers; return torch.view_as_real of it");
}

IValue complexOfPairs(const emit::Emitter &e, mlir::Value pairs) {
  const int64_t last = rankOf(pairs) - 1;
  auto part = [&](int64_t i) {
    return TensorState::create(e.dropDim(e.slice(pairs, last, i, 1), last));
  };
  return complexOf(part(0), part(1));
}

bool isOnComplex(const std::string &name, const IValueList &positional, const Keywords &keyword) {
  auto isComplex = [](const IValue &value) {
    return asComplex(value) ||
           (value.isList() && llvm::any_of(value.items(), [](const IValue &item) {
              return asComplex(item) != nullptr;
            }));
  };
  return llvm::any_of(positional, isComplex) ||
         llvm::any_of(keyword, [&](const auto &named) { return isComplex(named.second); }) ||
         (isConversion(name) && partOfDtype(convertedTo(positional, keyword)));
}

IValueList callOnParts(Context &context, const std::string &name, const IValueList &positional,
                       const Keywords &keyword) {
  const std::string qualified = "aten::" + name;
  const IValue first = argument(positional, keyword, 0, "self");
  if (isOneOf(kOfShape, name))
    return callOn(&ComplexTensor::real, context, qualified, positional, keyword);
  if (name == "mul")
    return {product(context, first, argument(positional, keyword, 1, "other"))};
  if (isConversion(name))
    return {converted(context, first, convertedTo(positional, keyword))};
  if (!isOneOf(kOnEachPart, name) || mixes(name, positional, keyword))
    fail("has complex numbers, which Cleave does not support in this operator; compute with their "
         "two parts (torch.view_as_real)");
  IValueList real = callOn(&ComplexTensor::real, context, qualified, positional, keyword);
  IValueList imaginary = callOn(&ComplexTensor::imaginary, context, qualified, positional, keyword);
  IValueList results;
  for (size_t i = 0; i < real.size(); ++i)
    results.push_back(joined(real[i], imaginary[i]));
  return results;
}

} // namespace cleave::aten
