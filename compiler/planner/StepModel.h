// StepModel: one training (or inference) step as plain data, all that the planner needs to know of
// it: which op makes and reads which tensor, how each op can be split, what it computes, and what
// lives longer than the step. Read from the IR by ReadStep.h; everything after that is a function
// from structs to structs.
#pragma once

#include "compiler/planner/Group.h"
#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"

#include <string>
#include <vector>

namespace cleave::planner {

// A use of a value: operand number `operand` of op number `op`.
struct Use {
  int op = 0;
  int operand = 0;
};

struct Value {
  std::vector<int64_t> shape; // of the whole tensor
  ElementType element = ElementType::F32;
  int producer = -1;     // the op whose result it is, or -1
  int result = 0;        // which of its results
  int argument = -1;     // the argument that it is, or -1
  std::vector<Use> uses; // in program order; an op that reads it twice stands twice

  int64_t bytes() const; // of the whole tensor
};

// What part of the step an op belongs to. A layout that several ops of one part need is made once;
// other parts make it again, so that copies do not live long.
enum class Part { Forward, Backward, Update };

// One op or kernel group: the unit of decisions.
struct Op {
  std::string name; // of the source location, or made up; unique enough for people
  std::string kind; // `graph.dot_general`
  FactorRule rule;
  std::optional<Group> group;         // what is inside of a kernel group
  double flops = 0;                   // of the whole op
  std::vector<int> operands, results; // values
  std::vector<int> sparseOperands;    // positions: only as many elements as the result has are read
  int64_t repeats = 1;                // times per step: the number of micro-batches, or 1
  Part part = Part::Forward;
  bool isProduct = false;    // of matrices, or a convolution
  bool isView = false;       // only says otherwise how its operand lies: takes no time
  bool isAccumulate = false; // its result lives through all micro-batches
};

struct Argument {
  std::string name;
  std::string role;      // `input`, `label`, `parameter`, `state`, `constant`
  std::string parameter; // of optimizer state: whose
  int value = 0;
  int output = -1; // the output that replaces it, or -1
};

struct Output {
  std::string name;
  std::string role; // `output`, `loss`, `metric`, `parameter`, `state`
  int value = 0;
  int argument = -1; // the argument that it replaces, or -1
};

struct StepModel {
  std::vector<Value> values;
  std::vector<Op> ops; // in program order
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
};

// Fills in Op::part and Op::repeats' counterpart Value::uses from the rest: forward is what the
// loss (or an output) needs; the update of a parameter is what reads the parameter or its state and
// changes nothing else; backward is everything between.
void classifyOps(StepModel &model);

} // namespace cleave::planner
