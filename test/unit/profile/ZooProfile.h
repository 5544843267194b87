// Profiles of the zoo's networks, for tests.
#pragma once

#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/profile/Profile.h"
#include "compiler/zoo/Zoo.h"
#include "dialects/graph/Step.h"
#include "passes/driver/Compile.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cleave::profile {

// The profile of the model as cleave-profile computes it; `options` without the model.
inline Profile profileOf(const onnx::Model &model, driver::CompileOptions options) {
  auto path = std::filesystem::temp_directory_path() /
              ("cleave-profile-" + std::to_string(::getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << onnx::writeModel(model);
  options.model = path.string();
  options.accumulate = 2;
  options.keepSymbols = true;
  driver::Compilation compilation(options);
  Status status = driver::compileTo(compilation, options.train ? "train" : "forward");
  std::filesystem::remove(path);
  INFO(status.message());
  REQUIRE(status.isOk());
  return profileStep(graph::stepOf(compilation.module()));
}

inline onnx::Model zooModel(const std::string &name,
                            const std::map<std::string, int64_t> &sizes = {}) {
  Result<onnx::Model> model = zoo::build(name, sizes);
  INFO(model.status().message());
  REQUIRE(model.status().isOk());
  return *model;
}

// Options for training with this loss.
inline driver::CompileOptions trainingOn(const std::string &loss) {
  driver::CompileOptions options;
  options.train = true;
  options.losses = {loss};
  return options;
}

// Options for training a network of the zoo on labels.
inline driver::CompileOptions training(std::map<std::string, int64_t> symbols) {
  driver::CompileOptions options = trainingOn("softmax-cross-entropy:logits");
  options.symbols = std::move(symbols);
  return options;
}

// The value of `amount`, which must be a number.
inline int64_t number(const Polynomial &amount) {
  INFO(amount.str());
  REQUIRE(amount.isConstant());
  return *amount.constant();
}

} // namespace cleave::profile
