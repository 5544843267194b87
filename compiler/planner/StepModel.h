// StepModel: one training (or inference) step as plain data: the ops with their factor rules and
// FLOPs, the tensors that they read and make, and the arguments and results of the step. Read from
// the IR by ReadStep.h; the rest of the planner consists of functions from structs to structs.
//
// Values, ops, arguments and outputs refer to each other by index into the lists of StepModel.
#pragma once

#include "compiler/planner/Group.h"
#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cleave::planner {

// A use of a value: operand number `operand` of op number `op`.
struct Use {
  int op = 0;
  int operand = 0;
};

// A tensor of the step.
struct Value {
  std::vector<int64_t> shape;             // of the whole tensor
  ElementType element = ElementType::F32; // type of its elements
  int producer = -1;                      // the op that it is a result of, or -1
  int result = 0;                         // its position among the results of that op
  int argument = -1;                      // the argument of the step that it is, or -1
  std::vector<Use> uses; // in program order; an op that reads it twice has two entries

  int64_t bytes() const; // of the whole tensor
};

// The part of the step that an op belongs to. Ops of one part share layout changes; other parts
// repeat them, so that copies do not live long.
enum class Part { Forward, Backward, Update };

// One op or kernel group: the unit of decisions.
struct Op {
  std::string name; // of the source location, else KIND.INDEX; not necessarily unique
  std::string kind; // `graph.dot_general`
  FactorRule rule;
  std::optional<Group> group;         // the ops inside, if this is a kernel group
  double flops = 0;                   // of the whole op
  std::vector<int> operands, results; // values
  std::vector<int> sparseOperands;    // positions of tables of which only some rows are read
  int64_t repeats = 1;                // times per step: the number of micro-batches, or 1
  Part part = Part::Forward;
  bool isProduct = false;    // of matrices, or a convolution
  bool isView = false;       // a layout-only view of its operand: takes no time
  bool isAccumulate = false; // its result lives through all micro-batches

  // Whether an operand (by position) is a table of which only the chosen rows are read.
  bool readsSparsely(int operand) const {
    return std::count(sparseOperands.begin(), sparseOperands.end(), operand) > 0;
  }
};

// An argument of the step.
struct Argument {
  std::string name;      // as the user knows it
  std::string role;      // `input`, `label`, `parameter`, `state`, `constant`
  std::string parameter; // of an optimizer state: the name of its parameter
  int value = 0;         // the value that it is
  int output = -1;       // the output that replaces it in the next step, or -1
};

// A result of the step.
struct Output {
  std::string name;  // as the user knows it
  std::string role;  // `output`, `loss`, `metric`, `parameter`, `state`
  int value = 0;     // the value that is returned
  int argument = -1; // the argument that it replaces in the next step, or -1
};

// The whole step.
struct StepModel {
  std::vector<Value> values;
  std::vector<Op> ops; // in program order
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
};

// Sets Op::part of every op. Forward: the loss or an output depends on it. Update: it reads a
// parameter, its state or the result of another update op, and only that parameter and its state
// depend on it. Backward: all other ops.
void classifyOps(StepModel &model);

} // namespace cleave::planner
