// Policy: in which types a step computes, as plain data, and its text forms (docs/interface.md).
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::precision {

// Overrides the answer of the ops that it matches.
struct Rule {
  std::string name; // glob on the op's name in the model; empty if the rule is by `op`
  std::string op;   // glob on the op's mnemonic: `softmax`, `conv*`
  DType type = DType::F32;
};

// How an f32 model is trained or run. Values of other types stay as they are.
struct Policy {
  DType low = DType::F32;  // the type of products: F32, BF16 or F16
  bool tf32 = false;       // f32 products may round their factors to 10 bits of mantissa
  std::vector<Rule> rules; // the first one that matches decides

  // Whether some op computes in F16, whose small range needs a scaled loss.
  bool usesF16() const;
  // Whether every op computes in the types of the model.
  bool isNone() const { return low == DType::F32 && rules.empty(); }
};

// `text` is f32, tf32, bf16, f16, or else the path of a JSON file.
Result<Policy> parsePolicy(const std::string &text);
// The content of a file: {"dtype": "bf16", "rules": [{"name": "head*", "dtype": "f32"},
// {"op": "softmax", "dtype": "bf16"}]}.
Result<Policy> policyFromJson(const std::string &json);

} // namespace cleave::precision
