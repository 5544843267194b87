// Plan: what was decided for one step, with its certificate and the reasons, as plain data.
#pragma once

#include "compiler/planner/StepModel.h"

#include <string>
#include <vector>

namespace cleave::planner {

// How one op is executed; the plain form of its #mesh.strategy.
struct OpDecision {
  FactorAxes factors;
  std::vector<int> partial;
  std::vector<Sharding> results;
  bool operator==(const OpDecision &) const = default;
};

struct ArgumentDecision {
  Sharding storage; // where it lives between steps
  Sharding compute; // the layout it is brought to before its forward and backward readers use it
  bool operator==(const ArgumentDecision &) const = default;
};

// One decision as a person wants to read it.
struct Reason {
  std::string name, kind; // of the op or argument: `parameter`, `graph.dot_general`, …
  std::string choice;     // what was chosen
  double seconds = 0;     // what it costs itself per step
  std::string
      alternative; // the next best choice, all else staying as it is; empty if there is none
  double alternativeSeconds = 0; // what the step would cost more with it
};

struct Holder {
  std::string name;
  int64_t bytes = 0;
};

struct Plan {
  Mesh mesh;
  std::vector<OpDecision> ops; // in program order
  std::vector<ArgumentDecision> arguments;
  double seconds = 0;      // predicted for one step
  double boundSeconds = 0; // no plan on any mesh tried is faster, by the same model
  double gap = 0;          // (seconds - boundSeconds) / seconds
  int64_t peakBytes = 0;   // of one rank, by the planner's model
  int64_t budgetBytes = 0;
  double secondsPerByte = 0;            // that one more byte of memory would save
  std::vector<Holder> atPeak;           // what is live at the peak, largest first
  std::string pin;                      // that was asked for
  std::vector<std::string> meshesTried; // `dp=2,tp=2: 12.3 ms`, or `: at least 12.3 ms`
  std::vector<Reason> reasons;          // parameters first, then ops by cost
  double solveSeconds = 0;              // wall time; not part of what is compared or hashed
};

// `dp=2,tp=2`
std::string str(const Mesh &mesh);
// The inverse; empty if the text is malformed.
std::optional<Mesh> parseMesh(const std::string &text);

// All fields but solveSeconds; layouts as lists of axis names.
std::string toJson(const Plan &plan, const StepModel &model);

} // namespace cleave::planner
