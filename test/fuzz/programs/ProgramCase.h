// Whole programs: a forward function, what makes a training step of it, and plans. The text of a case is a module with these
// lines in front:
//
//   // case: train losses=mse:o0+output:o1 optimizer=sgd:lr=1 clip=0.5 accumulate=2 seed=7 steps=2
//   // plan: mesh=dp=2,tp=2 random=17
//   // plan: mesh=dp=4 pin=zero3 memory=65536
//
// `train` makes it a training step; `seed` draws inputs and labels; a plan is drawn at random, or the planner's.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::fuzz {

struct PlanSpec {
  std::string mesh = "dp=1";
  uint64_t random = 0; // seed of a random plan; 0: the planner decides, by what follows
  std::string pin;
  uint64_t memory = 0; // bytes of one rank; 0: what the cluster has
};

struct ProgramSpec {
  bool train = false;
  std::vector<std::string> losses;
  std::string optimizer = "sgd:lr=1";
  double clip = 0; // 0: gradients are not clipped
  int64_t accumulate = 1;
  uint64_t seed = 1;
  int64_t steps = 1;
  std::vector<PlanSpec> plans;
};

// The lines in front of a case.
std::string textOf(const ProgramSpec &spec);
ProgramSpec specOf(const std::string &text);

// What checkProgram counts, in this order.
enum class Counted { Programs, Plans, Unusable, Infeasible, Gradients, Kinks, Compared, Undecided };

// Compiles the case for all of its plans, with checked kernels, runs them on ranks that are threads, and compares losses,
// parameters, states and outputs with the interpreter; in double precision gradients with differences, too. Empty if all is
// well. What the training step or the planner refuses with the user's error is counted as unusable or infeasible.
std::string checkProgram(const std::string &text, int64_t *count);

} // namespace cleave::fuzz
