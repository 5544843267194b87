// Case: one conformance test as ONNX publishes them: a folder with model.onnx and, per example,
// test_data_set_N with input_i.pb and output_i.pb.
#pragma once

#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::conformance {

struct Case {
  std::string name; // SET/TEST, from the folder below which it was found
  std::string folder;
  std::string model() const { return folder + "/model.onnx"; }
};

// A tensor as it is stored, row-major and little-endian; of texts, these.
struct Array {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::string bytes;
  bool isText = false;
  std::vector<std::string> texts;

  Tensor tensor() const;
};

// What goes in and what must come out, by the model's names; elements of a sequence x are x.0, x.1, …. `described`:
// what a user must say about inputs that are sequences or optionals, in the form of --input.
struct Example {
  std::map<std::string, Array> inputs, outputs;
  std::vector<std::string> described;
};

// What came out.
struct Outcome {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Array> texts;
};

// All tests below `root`, by name; `prefix` begins every name.
std::vector<Case> findCases(const std::string &root, const std::string &prefix);

// Whether all inputs and outputs are tensors of floats (of 16 bits or more), integers (of 8 bits or
// more) or truth values.
bool isNumeric(const Case &test);

// The example in test_data_set_<number>; fails where Cleave cannot read it.
Result<Example> readExample(const Case &test, int number);
// How many there are.
int exampleCount(const Case &test);

// Says how `actual` differs from what is expected, as ONNX's own runner compares; empty if it does not.
std::string difference(const Outcome &actual, const std::map<std::string, Array> &expected);

} // namespace cleave::conformance
