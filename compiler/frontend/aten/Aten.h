// The operators of PyTorch (ATen) for all formats that contain PyTorch programs: call() builds the
// graph ops of an operator. IValue.h defines its arguments and results.
#pragma once

#include "compiler/frontend/aten/IValue.h"
#include "compiler/frontend/step/Import.h"
#include "dialects/interfaces/Tensor.h"

#include <map>

namespace cleave::frontend {
class RandomKeys;
}

namespace cleave::aten {

// State of an import that operators read.
struct Context {
  emit::Emitter &emitter; // builds the ops, at the operator's location
  // Statistics that batch norms use (--batch-norm).
  frontend::ImportOptions::BatchNorm batchNorm = frontend::ImportOptions::BatchNorm::AsExported;
  // False inside of no_grad blocks, whose results are constants to gradients.
  bool gradients = true;
  // PyTorch's default type, of new tensors and numbers without a type of their own.
  ElementType defaultFloat = ElementType::F32;
  // Keys of random numbers; null: operators that need one are refused.
  frontend::RandomKeys *random = nullptr;
  // Running statistics that norms only read, in the order of the reads.
  std::vector<mlir::Value> statistics = {};
};

// Whether call() supports the operator. `name` is qualified (`aten::add`, `prim::NumToTensor`),
// without an overload. An argument `out` is a tensor, or a list of one per result, that the results
// are written to.
bool knows(const std::string &name);

// Whether the operator writes to its first argument: `aten::add_`, `aten::__ior__`.
bool isInPlace(const std::string &name);

// Builds an operator and returns its results: one for most, none for those that only write.
// Arguments are bound by position and by the names of the operator's schema, and select the
// overload; absent ones have their defaults. In-place operators (`aten::add_`) write to the handle
// and return it; views are handles on the same storage. Throws emit::Failure on the user's
// mistakes.
IValueList call(Context &context, const std::string &name, const IValueList &positional,
                const std::map<std::string, IValue> &keyword = {});

// Element types and PyTorch's numbers for them (torch.dtype). None, or a Failure, where the other
// side has no such type.
std::optional<ElementType> elementTypeOfDtype(int64_t dtype);
int64_t dtypeOf(ElementType type);

// A scalar known while importing; also from a tensor of one element that follows from constants and
// shapes. Fails where it depends on data; `what` names it in the message.
Polynomial integerOf(Context &context, const IValue &value, const std::string &what);
double numberOf(Context &context, const IValue &value, const std::string &what);
bool boolOf(Context &context, const IValue &value, const std::string &what);

} // namespace cleave::aten
