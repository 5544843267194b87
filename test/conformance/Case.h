// Case: a conformance test as published by ONNX: a folder with model.onnx and, per example,
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

// A stored tensor: `bytes` row-major and little-endian, or `texts` if it has strings as elements.
struct Array {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::string bytes;
  bool isText = false;
  std::vector<std::string> texts;

  Tensor tensor() const;
};

// Inputs and expected outputs by their names in the model; the elements of a sequence x are x.0,
// x.1, …. `described`: the --input options that describe inputs that are sequences or optionals.
struct Example {
  std::map<std::string, Array> inputs, outputs;
  std::vector<std::string> described;
};

// The computed outputs.
struct Outcome {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Array> texts;
};

// All tests below `root`, sorted by name; every name begins with `prefix`.
std::vector<Case> findCases(const std::string &root, const std::string &prefix);

// Whether all inputs and outputs are tensors of floats (of at least 16 bits), integers (of at least
// 8 bits) or bools.
bool isNumeric(const Case &test);

// The example in test_data_set_<number>. A user error if Cleave cannot read it.
Result<Example> readExample(const Case &test, int number);
// The number of examples of a test.
int exampleCount(const Case &test);

// A description of the difference between `actual` and `expected`, with the tolerances of ONNX's
// own runner; empty if they agree.
std::string difference(const Outcome &actual, const std::map<std::string, Array> &expected);

} // namespace cleave::conformance
