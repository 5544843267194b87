// Imports a model and computes it with the interpreter, for tests of the importer.
#pragma once

#include "compiler/frontend/onnx/Import.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Role.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::onnx {

using Arrays = std::map<std::string, Tensor>;

// The arrays of an .npz file.
Arrays readArrays(const std::string &path);

// An argument of the step.
struct Argument {
  std::string name;
  std::optional<Role> role;
  std::vector<int64_t> shape;
};

// The outcome of an import and, with runModel, of the computation.
struct Computed {
  Status status;
  std::vector<Argument> arguments;
  std::vector<Remark> remarks;
  Arrays outputs;
  std::map<std::string, std::vector<std::string>> strings; // string outputs
};

// The passes between import and computation.
enum class After { Nothing, Simplify };

// Imports the model; runModel also computes its outputs from `inputs` and the file's weights.
Computed importModel(const std::string &path, const ImportOptions &options);
Computed runModel(const std::string &path, const ImportOptions &options, const Arrays &inputs,
                  After after = After::Nothing);

// The largest difference of two tensors relative to 1 + |b|; infinite where their shapes differ.
// NaN equals NaN.
double difference(const Tensor &a, const Tensor &b);

} // namespace cleave::onnx
