// Forms of attention, whose kernels on GPUs are compared with the ops' evaluation.
#pragma once

#include <string>

namespace cleave::test {

// One attention: sizes, types and attributes.
struct AttentionForm {
  int batch = 1, heads = 1, groups = 1, queries, keys, width = 8, depth = 8;
  std::string type = "f32", bias = {}, mask = {}; // types of the tensors; empty: absent
  bool hasSeed = false;
  std::string attributes = "causal, scale = 0.35 : f64", offsets = {}; // "d,d…"
};

// Attributes of forms.
inline const std::string kPlain = "scale = 0.35 : f64", kCausal = "causal, " + kPlain;

// Compares the kernel of the attention, and that of its gradient, on random numbers in a range.
void checkForward(const AttentionForm &form, double low = -2, double high = 2);
void checkGradient(const AttentionForm &form, double low = -1, double high = 1);
// Both.
void check(const AttentionForm &form);

} // namespace cleave::test
