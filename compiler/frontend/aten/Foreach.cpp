// See Foreach.h.
#include "compiler/frontend/aten/Foreach.h"

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::aten {
namespace {

constexpr llvm::StringLiteral kPrefix = "_foreach_";

// The operator of single tensors: `add_` of `_foreach_add_`.
std::string ofOne(llvm::StringRef name) {
  name.consume_front(kPrefix);
  return "aten::" + (name == "norm" ? "linalg_vector_norm" : name.str());
}

// The names of arguments in the order that all these operators have; the rest is passed by name.
constexpr const char *kOrder[] = {"self",   "other",   "tensor1", "tensors1",    "tensor2",
                                  "weight", "weights", "scalar",  "scalars",     "exponent",
                                  "value",  "ord",     "src",     "non_blocking"};

struct Call {
  IValueList positional;
  std::map<std::string, IValue> keyword;
};

Call ordered(const IValueList &positional, std::map<std::string, IValue> keyword) {
  Call out{positional, {}};
  for (const char *name : kOrder)
    if (auto found = keyword.extract(name); !found.empty())
      out.positional.push_back(found.mapped());
  out.keyword = std::move(keyword);
  return out;
}

// The common length of the lists among the arguments.
size_t lengthOf(const IValueList &arguments) {
  std::optional<size_t> length;
  for (const IValue &argument : arguments)
    if (argument.isList()) {
      if (length.value_or(argument.items().size()) != argument.items().size())
        emit::fail("has lists of ", *length, " and ", argument.items().size(), " items");
      length = argument.items().size();
    }
  if (!length)
    emit::fail("has no list of tensors");
  return *length;
}

// The factor of addcmul and addcdiv has a name only.
bool takesFactor(llvm::StringRef name) {
  return name.starts_with("_foreach_addc") && (name.contains("mul") || name.contains("div"));
}

} // namespace

bool isForeach(llvm::StringRef name) { return name.starts_with(kPrefix) && knows(ofOne(name)); }

IValueList callForeach(Context &context, llvm::StringRef name, const IValueList &positional,
                       const std::map<std::string, IValue> &keyword) {
  const Call all = ordered(positional, keyword);
  const size_t count = lengthOf(all.positional);
  IValueList results;
  for (size_t i = 0; i < count; ++i) {
    Call one{{}, all.keyword};
    for (const IValue &argument : all.positional)
      one.positional.push_back(argument.isList() ? argument.items()[i] : argument);
    if (takesFactor(name) && one.positional.size() == 4) {
      one.keyword["value"] = one.positional.back();
      one.positional.pop_back();
    }
    results.push_back(call(context, ofOne(name), one.positional, one.keyword).at(0));
  }
  return name.ends_with("_") ? IValueList() : IValueList{IValue::list(std::move(results))};
}

} // namespace cleave::aten
