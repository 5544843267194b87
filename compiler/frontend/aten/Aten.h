// The operators of PyTorch's programs, for all formats that hold such programs: `call` gives an
// operator its meaning in ops of the graph dialect. See Value.h for what goes in and out.
#pragma once

#include "compiler/frontend/aten/Value.h"
#include "dialects/interfaces/Tensor.h"

#include <map>

namespace cleave::aten {

// What the import as a whole does for operators.
struct Context {
  emit::Emitter &emitter; // stands where ops are built, and at the operator's location
  // Whether batch norms use the batch's statistics and move the running ones, or only read those;
  // AsExported: as the program says.
  enum class BatchNorm { AsExported, Train, Frozen } batchNorm = BatchNorm::AsExported;
  // Off while a no_grad block runs: what is computed then is a constant to gradients.
  bool gradients = true;
  // PyTorch's default type: of new tensors and of numbers where nothing says theirs.
  ElementType defaultFloat = ElementType::F32;
};

// Whether the operator has a meaning here. `name` is qualified: `aten::add`, `prim::NumToTensor`;
// the overload does not matter, except that forms with an `out` argument are none.
bool knows(const std::string &name);

// Whether the operator writes to its first argument: `aten::add_`, `aten::__ior__`.
bool isInPlace(const std::string &name);

// The operator's results: one for most, none for those that only write. Arguments by position
// and by name as the operator's schema has them, absent ones take their defaults; which overload is
// meant follows from the arguments. In-place operators (`aten::add_`) write to the handle and give it
// back; views are handles on the same storage. Throws emit::Failure with what is wrong.
ValueList call(Context &context, const std::string &name, const ValueList &positional,
               const std::map<std::string, Value> &keyword = {});

// The numbers of PyTorch's element types, as dtype arguments have them.
std::optional<ElementType> elementTypeOfDtype(int64_t dtype);
int64_t dtypeOf(ElementType type);

// A scalar that is known while importing, also from a tensor of one element whose value follows
// from constants and shapes; fails where it depends on data.
Polynomial integerOf(Context &context, const Value &value, const std::string &what);
double numberOf(Context &context, const Value &value, const std::string &what);
bool truthOf(Context &context, const Value &value, const std::string &what);

} // namespace cleave::aten
