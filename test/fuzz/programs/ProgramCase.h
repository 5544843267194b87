// Whole programs: a forward function, the options of its training step, and plans. The text of a
// case is a module that begins with these lines:
//
//   // case: train losses=mse:o0 optimizer=sgd:lr=1 clip=0.5 accumulate=2 seed=7 gpu dtype=bf16
//   // plan: mesh=dp=2,tp=2 random=17
//   // plan: mesh=dp=4 pin=zero3 memory=65536
//
// `train` makes the function a training step; `seed` determines inputs and labels; `random` is the
// seed of a random plan, without it the planner makes the plan; `gpu` selects plans for GPUs, whose
// kernels the interpreter of GPU threads runs.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::fuzz {

struct PlanSpec {
  std::string mesh = "dp=1";
  uint64_t random = 0; // seed of a random plan; 0: the planner decides, with the options below
  std::string pin;
  uint64_t memory = 0; // bytes of one rank; 0: the memory of the cluster
};

struct ProgramSpec {
  bool train = false;
  std::vector<std::string> losses;
  std::string optimizer = "sgd:lr=1";
  double clip = 0; // 0: gradients are not clipped
  int64_t accumulate = 1;
  uint64_t seed = 1;
  int64_t steps = 1;
  bool forGpu = false;       // its kernels run in the interpreter of GPU threads
  std::string dtype = "f32"; // CompileOptions.dtype
  std::vector<PlanSpec> plans;
};

// The first lines of a case.
std::string textOf(const ProgramSpec &spec);
ProgramSpec specOf(const std::string &text);

// The counts of checkProgram, in this order.
enum class Counted { Programs, Plans, Unusable, Infeasible, Gradients, Kinks, Compared, Undecided };

// Compiles the case for all its plans with checked kernels, runs them on ranks that are threads,
// and compares losses, parameters, states and outputs with the interpreter, and gradients in double
// precision with differences. Returns the first error; empty if there is none. Cases that the
// training pass or the planner rejects with a user error count as unusable or infeasible.
std::string checkProgram(const std::string &text, int64_t *count);

} // namespace cleave::fuzz
