// StepModel: one training (or inference) step as plain data: the ops with their factor rules and
// work, the tensors that they read and make, and the arguments and results of the step. Read from
// the IR by ReadStep.h; the rest of the planner consists of functions from structs to structs.
//
// Values, ops, arguments and outputs refer to each other by index into the lists of StepModel.
#pragma once

#include "compiler/cost/Strides.h"
#include "compiler/planner/model/Group.h"
#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/KernelWork.h"
#include "runtime/base/Role.h"
#include "runtime/base/Space.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::planner {

// A use of a value: operand number `operand` of op number `op`.
struct Use {
  int op = 0;
  int operand = 0;
};

// Instants [begin, end) of the step's clock. The clock ticks three times per instruction of the
// step's program: before it, when operands change their layouts; during it; and after it, when
// results change theirs.
struct Span {
  int64_t begin = 0, end = 0;
  bool operator==(const Span &) const = default;
};

// A buffer of the step's program in device memory.
struct Store {
  int value = -1;    // the value whose block it holds; -1: scratch memory of `op`
  int op = -1;       // the op that it exists for; -1: the buffer is the value's home
  int operand = -1;  // of `op`, copied into the buffer; -1: another one
  int64_t bytes = 0; // on one rank alone
  Span span;         // when it holds something
};

// A kernel that only moves elements: the program makes it for an op beside the op's own kernel, or
// in its place.
struct Move {
  enum class Kind {
    Copy, // the bytes are read and written
    Fill, // written only
  };
  Kind kind = Kind::Copy;
  int operand = -1;  // of the op, whose block is moved; -1: its result `result`
  int result = 0;    // see `operand`
  double share = 1;  // of the bytes of that block
  int64_t times = 1; // per step
};

// The orders in memory of a product's operands and result. Its copies follow from them and from the
// shapes of blocks (compiler/cost/Strides.h).
struct ProductOrders {
  cost::ProductDims dims;
  cost::MemoryOrder lhs, rhs, out;
};

// A tensor of the step.
struct Value {
  std::vector<int64_t> shape;             // of the whole tensor
  ElementType element = ElementType::F32; // type of its elements
  int producer = -1;                      // the op that it is a result of, or -1
  int result = 0;                         // its position among the results of that op
  int argument = -1;                      // the argument of the step that it is, or -1
  Space space = Space::Device;            // where it is kept while nothing reads it
  int64_t awayCopies = 0;                 // per step, of its block to that space or back
  std::vector<Use> uses; // in program order; an op that reads it twice has two entries

  int64_t bytes() const; // of the whole tensor
};

// The part of the step that an op belongs to. Ops of one part share layout changes; other parts
// repeat them, so that copies do not live long.
enum class Part { Forward, Backward, Update };
const char *name(Part part); // `forward`, `backward`, `update`

// One op or kernel group: the unit of decisions.
struct Op {
  std::string name; // of the source location, else KIND.INDEX; not necessarily unique
  std::string kind; // `graph.dot_general`
  FactorRule rule;
  std::shared_ptr<const Group> group; // the ops inside, if this is a kernel group; else null
  KernelWork work;                    // of the whole op (graph::workOf)
  std::vector<int> operands, results; // values
  std::vector<int> sparseOperands;    // positions of tables of which only some rows are read
  int64_t repeats = 1;                // times per step: the number of micro-batches, or 1
  Part part = Part::Forward;
  int64_t chunk = 0; // of the stage that the step is, by its number in it; else 0
  // The number of its part if the step is a stage (graph::StagePart); else 0.
  int stagePart = 0;
  Span runs; // from its first to its last instruction
  // The factors of the queries and keys of a causal attention, which computes half of their pairs.
  std::optional<std::pair<int, int>> triangle;
  bool isView = false;       // it only changes the layout of its operand
  bool isAccumulate = false; // its result lives through all micro-batches
  bool addsToSum = false;    // a product that adds its result to the sum that reads it
  // A sum whose producer adds to it. It has a kernel of its own only where a layout change comes
  // between.
  bool isAddedByProducer = false;
  bool hasKernel = true;   // its results are computed; otherwise they are views or moved
  std::vector<Move> moves; // beside the kernel
  std::optional<ProductOrders> product; // if known; its copies are then no moves
  // A reshape whose moves bring the block that the operand's producer writes to the order in memory
  // in which the result is wanted. They depend on that producer: if a layout change comes between
  // its kernel and the readers of the result, these read the block as it is.
  bool copiesBehindProducer = false;
  // Of a reshape that copies: the order in memory in which its result is wanted, if it
  // `copiesBehindProducer`, else that of its operand. Blocks whose dims have one element may need
  // no copy.
  std::optional<cost::MemoryOrder> copyOrder = std::nullopt;
  // Recomputes an op of the forward part for the backward part (planner/remat/RematPolicy.h).
  bool isRecomputed = false;

  // Whether its work depends on layout changes between its producer's kernel and itself.
  bool dependsOnProducer() const { return copiesBehindProducer || isAddedByProducer; }

  // How often per step its results are complete: a sum over the micro-batches is once.
  int64_t completions() const { return isAccumulate ? 1 : repeats; }

  // Whether an operand (by position) is a table of which only the chosen rows are read.
  bool readsSparsely(int operand) const {
    return std::count(sparseOperands.begin(), sparseOperands.end(), operand) > 0;
  }
};

// An argument of the step.
struct Argument {
  std::string name;                    // as the user knows it
  std::vector<std::string> otherNames; // of a parameter that is tied
  std::optional<Role> role;            // none in tests only
  std::string parameter;               // of an optimizer state: the name of its parameter
  int value = 0;                       // the value that it is
  int output = -1;                     // the output that replaces it in the next step, or -1
  // The layout that an earlier stage has decided on, if the argument is a message or if both store
  // it; and the dims of a message that run over samples and over positions.
  std::optional<Sharding> layout = std::nullopt;
  std::vector<int> samples = {}, positions = {};
};

// A result of the step.
struct Output {
  std::string name;           // as the user knows it
  std::optional<Role> role;   // none in tests only
  int value = 0;              // the value that is returned
  int argument = -1;          // the argument that it replaces in the next step, or -1
  int64_t copies = 0;         // per step, of the value to the place of the result
  bool isSentForward = false; // the forward part passes it to the next stage of a pipeline
  // The layout in which the stage that receives the message expects it, if that stage is planned.
  std::optional<Sharding> layout = std::nullopt;
};

// The whole step.
struct StepModel {
  std::vector<Value> values;
  std::vector<Op> ops; // in program order
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<Store> stores; // all buffers; a value that lies in the home of another has none
  int64_t instants = 0;      // of the clock
  // The micro-batches in flight of each chunk of a stage. Each keeps its own values until its
  // backward part runs. Empty: one chunk with one micro-batch.
  std::vector<int64_t> inFlight;
  // In a stage of one chunk, the most micro-batches that have run their forward part and not their
  // backward part when a backward part begins. 1 in stages of several chunks and in other steps.
  int64_t waiting = 1;
  int insertable = 0; // recomputed ops that may be added between any two ops of the backward part
};

// The micro-batches in flight of the chunk that an op belongs to.
int64_t inFlightOf(const StepModel &model, const Op &op);

// The name of a value: that of the op that makes it, or of the argument that it is.
const std::string &nameOf(const StepModel &model, int value);

// Whether all operands of the op are parameters, as of a cast of a weight.
bool readsParametersOnly(const StepModel &model, const Op &op);

// Sets Op::part of every op. Forward: the loss or an output depends on it. Update: it reads a
// parameter, its state or the result of another update op, and only that parameter and its state
// depend on it. Backward: all other ops, and all recomputed ops.
void classifyOps(StepModel &model);

// Sets the clock, and the stores as if every op were one instruction with a buffer per result:
// values live from their producer to their last reader, arguments all the time. Views take no time,
// and the only moves are those that clear sums, and copies of results to arguments whose old value
// is read later. For steps of which no program is known; passes/bufferize/Stores.h reads those of
// a program.
void setPlainStores(StepModel &model);

} // namespace cleave::planner
