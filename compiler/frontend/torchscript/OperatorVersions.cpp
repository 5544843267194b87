// See OperatorVersions.h.
#include "compiler/frontend/torchscript/OperatorVersions.h"

#include "compiler/frontend/emit/Emitter.h"
#include "dialects/graph/Types.h"

namespace cleave::torchscript {

using aten::IValue;

static bool isInteger(const IValue &value, emit::Emitter &emitter) {
  if (!value.isTensor())
    return value.isInt();
  mlir::Type type = graph::elementTypeOf(value.tensor()->read(emitter));
  return type.isInteger() && !type.isInteger(1);
}

void toTodaysMeaning(int64_t version, const std::string &name, aten::IValueList &positional,
                     std::map<std::string, IValue> &keyword, emit::Emitter &emitter) {
  constexpr int64_t firstTrueDivision = 4, firstIntegerFull = 5;
  bool divides = name == "aten::div" || name == "aten::div_";
  if (version < firstTrueDivision && divides && positional.size() == 2 && keyword.empty() &&
      positional[0].isTensor() && isInteger(positional[0], emitter) &&
      isInteger(positional[1], emitter))
    keyword["rounding_mode"] = IValue("trunc");
  bool fills = name == "aten::full" && positional.size() == 2 && positional[1].isInt();
  if (version < firstIntegerFull && fills &&
      (!keyword.contains("dtype") || keyword["dtype"].isNone()))
    if (std::optional<int64_t> known = positional[1].integer().constant())
      positional[1] = IValue(static_cast<double>(*known));
}

} // namespace cleave::torchscript
