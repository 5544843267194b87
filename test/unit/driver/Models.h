// The models that whole compilations are tested with, and the ways in which they are split.
#pragma once

#include "passes/driver/Options.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave {

// A model and how it is trained.
struct ModelCase {
  std::string name;                       // a file of test/models, or an entry of the zoo
  std::string loss;                       // as --loss
  std::map<std::string, int64_t> symbols; // as --set
  std::map<std::string, int64_t> sizes;   // of the zoo's entry; empty: a file
};

// How a model is split.
struct Split {
  int64_t ranks = 1;
  std::string mesh; // empty: the planner chooses
  int64_t accumulate = 1;
  std::string pin = {};
};

// Five files of test/models, and eight entries of the zoo at reduced size.
const std::vector<ModelCase> &bundledCases();
const std::vector<ModelCase> &zooCases();

// 1, 2, 4 and 8 ranks, on three meshes each, with 1 and 4 micro-batches.
std::vector<Split> allSplits();

// A model's file. Entries of the zoo are written to a temporary one, which is removed at the end.
class ModelFile {
public:
  explicit ModelFile(const ModelCase &model);
  ~ModelFile();
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
  bool isTemporary_;
};

// The options of a training step with the numbers of the preset h100-node, as a plan for CPUs.
driver::CompileOptions optionsOf(const std::string &path, const ModelCase &model,
                                 const Split &split);

// Fails the test case, with the message, unless the status is a success.
void check(const Status &status);

// `4096 bytes`, or `any bytes` without --memory.
std::string memoryText(const driver::CompileOptions &options);

} // namespace cleave
