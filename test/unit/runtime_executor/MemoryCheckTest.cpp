// The checked mode: it detects kernels that read or write outside their buffers' values, and does
// not change the results of correct plans. The plans here state too little about their kernels, so
// the verifier is not asked.
#include "test/unit/small_plans/PlanBuilder.h"
#include "test/unit/small_plans/RunRanks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::executor;
using Catch::Matchers::Contains;

namespace {

enum Kernel { kAddOne, kSum64 };

// Adds kernels, of which `add_one` computes `extent` elements.
void addKernels(PlanBuilder &builder, int64_t extent = 64) {
  std::ifstream file(CLEAVE_TEST_KERNELS, std::ios::binary);
  plan::Module *module = builder.plan().add_modules();
  module->set_target("cpu");
  module->set_code(std::string(std::istreambuf_iterator<char>(file), {}));
  plan::Kernel *addOne = builder.program().add_kernels(), *sum = builder.program().add_kernels();
  addOne->set_symbol("add_one"), addOne->set_extent(extent);
  sum->set_symbol("sum_64"), sum->set_extent(1);
}

// `claimsFrom`: Launch.written also contains the operand that the kernel only reads.
void launch(PlanBuilder &builder, Kernel kernel, uint32_t from, uint32_t to,
            bool claimsFrom = false) {
  plan::Launch *launch = builder.add("kernel")->mutable_launch();
  launch->set_kernel(kernel);
  launch->add_buffers(from), launch->add_buffers(to);
  launch->add_written(1);
  if (claimsFrom)
    launch->add_written(0);
}

void fill(PlanBuilder &builder, uint32_t buffer, double value) {
  plan::Fill *fill = builder.add("fill")->mutable_fill();
  fill->set_buffer(buffer), fill->set_value(value);
}

// The value of the first metric in each of `steps` steps.
Result<std::vector<double>> run(const plan::Plan &plan, bool checked, int64_t steps,
                                const data::DataSource *data = nullptr) {
  auto worlds = comm::makeLocalWorlds(1);
  ExecutorOptions options;
  options.checked = checked;
  auto executor = Executor::create(plan, *worlds[0], device::makeCpuDevice(1), data, options);
  CLEAVE_TRY(executor.status());
  std::vector<double> values;
  for (int64_t step = 0; step < steps; ++step) {
    CLEAVE_TRY((*executor)->step(step));
    values.push_back((*executor)->metrics()[0].value);
  }
  return values;
}

bool areNaN(const Result<std::vector<double>> &values) {
  return values &&
         std::all_of(values->begin(), values->end(), [](double v) { return std::isnan(v); });
}

// In two slots: loss = the sum of `stale`, which is not yet written; stale = x + 1.
PlanBuilder readsBeforeWriting() {
  PlanBuilder builder({1});
  addKernels(builder);
  uint32_t x = builder.buffer("x", plan::ACTIVATION, {64});
  uint32_t stale = builder.buffer("stale", plan::ACTIVATION, {64});
  uint32_t loss = builder.buffer("loss", plan::METRIC, {});
  launch(builder, kSum64, stale, loss, /*claimsFrom=*/true);
  builder.metric("loss", loss);
  fill(builder, x, 1);
  launch(builder, kAddOne, x, stale);
  builder.program().add_schedule()->set_slot(1);
  return builder;
}

// rest = 2, x = 1, half = x + 1, loss = a sum of 64 elements. `half` has 32 elements and is
// followed by `rest`: either x + 1 is computed for 64 elements, or the sum reads `half`.
PlanBuilder stepsOutside(bool writes) {
  PlanBuilder builder({1});
  addKernels(builder, writes ? 64 : 32);
  uint32_t x = builder.buffer("x", plan::ACTIVATION, {64});
  uint32_t loss = builder.buffer("loss", plan::METRIC, {});
  uint32_t half = builder.buffer("half", plan::ACTIVATION, {32});
  uint32_t rest = builder.buffer("rest", plan::ACTIVATION, {32});
  fill(builder, rest, 2);
  fill(builder, x, 1);
  launch(builder, kAddOne, x, half);
  launch(builder, kSum64, writes ? x : half, loss);
  builder.metric("loss", loss);
  return builder;
}

// The signal that ends a process that runs a step of the plan in checked mode; 0 if it survives.
int signalOf(const plan::Plan &plan) {
  pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL); // instead of the handler of the test framework
    ::_exit(run(plan, true, 1) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// begin: sum = 0, halves = 0.5. micro, in three slots: more = x + 1, sum += more * halves.
// update: copy = sum + 1, total = the sum of `copy`. `x` and `total` share bytes, as do `more` and
// `copy`.
PlanBuilder accumulates() {
  PlanBuilder builder({1});
  addKernels(builder);
  int tensor = builder.tensor("x", plan::INPUT, {8, 8}, {{}, {}});
  uint32_t x = builder.buffer("x", plan::INPUT, {8, 8}, tensor);
  uint32_t more = builder.buffer("more", plan::ACTIVATION, {8, 8});
  uint32_t sum = builder.buffer("sum", plan::GRADIENT, {8, 8});
  uint32_t halves = builder.buffer("halves", plan::ACTIVATION, {8, 8});
  uint32_t copy = builder.buffer("copy", plan::ACTIVATION, {8, 8});
  uint32_t total = builder.buffer("total", plan::METRIC, {});
  plan::Program &program = builder.program();
  program.mutable_segments(0)->set_name("begin");
  fill(builder, sum, 0);
  fill(builder, halves, 0.5);
  program.add_segments()->set_name("micro");
  builder.load(x);
  launch(builder, kAddOne, x, more);
  builder.matmul(more, halves, sum, 8, 8, 8);
  program.mutable_segments(1)->mutable_instructions(2)->mutable_matmul()->set_accumulate(true);
  program.add_segments()->set_name("update");
  launch(builder, kAddOne, sum, copy);
  launch(builder, kSum64, copy, total);
  builder.metric("loss", total);
  for (uint32_t slot = 0; slot < 3; ++slot)
    program.add_schedule()->set_segment(1), program.mutable_schedule()->rbegin()->set_slot(slot);
  program.add_schedule()->set_segment(2);
  builder.finish();
  auto lives = [&](uint32_t buffer, uint32_t first, uint32_t last) {
    program.mutable_buffers(int(buffer))->set_first(first);
    program.mutable_buffers(int(buffer))->set_last(last);
  };
  lives(x, 2, 3), lives(more, 3, 4), lives(copy, 5, 6), lives(total, 6, 7);
  program.mutable_buffers(int(total))->set_offset(program.buffers(int(x)).offset());
  program.mutable_buffers(int(copy))->set_offset(program.buffers(int(more)).offset());
  program.mutable_arenas(0)->set_peak_bytes(4 * 256);
  return builder;
}

} // namespace

TEST_CASE("a value that was not written reads as NaN, also if a previous step or slot wrote it") {
  PlanBuilder builder = readsBeforeWriting();
  const plan::Plan &plan = builder.finish();
  Result<std::vector<double>> unchecked = run(plan, false, 2);
  REQUIRE(unchecked);
  CHECK(*unchecked == std::vector<double>{64, 128}); // the means of 0 and 128, 128 and 128
  CHECK(areNaN(run(plan, true, 2)));
}

TEST_CASE("a read beyond a buffer yields NaN where there was a value before") {
  PlanBuilder builder = stepsOutside(/*writes=*/false);
  const plan::Plan &plan = builder.finish();
  Result<std::vector<double>> unchecked = run(plan, false, 1);
  REQUIRE(unchecked);
  CHECK(*unchecked == std::vector<double>{32 * 2 + 32 * 2});
  CHECK(areNaN(run(plan, true, 1)));
}

TEST_CASE("a write beyond a buffer, inside the arena, is a defect") {
  PlanBuilder builder = stepsOutside(/*writes=*/true);
  const plan::Plan &plan = builder.finish();
  CHECK(run(plan, false, 1));
  Status status = run(plan, true, 1).status();
  CHECK(status.exitCode() == 4);
  CHECK_THAT(status.message(), Contains("byte 448 of arena 0 was written while no buffer"));
}

TEST_CASE("a write beyond the arena ends the process by a signal") {
  for (int64_t extent : {64, 65}) {
    PlanBuilder builder({1});
    addKernels(builder, extent);
    uint32_t loss = builder.buffer("loss", plan::METRIC, {});
    uint32_t from = builder.buffer("from", plan::ACTIVATION, {80});
    uint32_t to = builder.buffer("to", plan::ACTIVATION, {64});
    fill(builder, from, 1);
    launch(builder, kAddOne, from, to);
    launch(builder, kSum64, to, loss);
    builder.metric("loss", loss);
    CHECK(signalOf(builder.finish()) == (extent == 64 ? 0 : SIGSEGV));
  }
}

TEST_CASE("values that live through all micro-batches do not change") {
  PlanBuilder builder = accumulates();
  const plan::Plan &plan = builder.plan();
  FormulaData data(plan, [](size_t, int64_t element, int64_t step, int64_t slot) {
    return float(element + 10 * step + slot);
  });
  Result<std::vector<double>> unchecked = run(plan, false, 3, &data),
                              checked = run(plan, true, 3, &data);
  CHECK(unchecked.status().message() == "");
  CHECK(checked.status().message() == "");
  REQUIRE((unchecked && checked));
  CHECK(*checked == *unchecked);
  // Every row of x + 1 is summed, halved and put into 8 columns.
  CHECK((*checked)[0] == 64 + 4 * (3 * (63 * 32 + 64) + 64 * (0 + 1 + 2)));
}
