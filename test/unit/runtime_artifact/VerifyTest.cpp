// For every rule of the verifier: the valid plan with one violation of it.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

TEST_CASE("a valid plan passes") { CHECK(brokenRule(validPlan()) == ""); }

TEST_CASE("a valid plan with two programs passes") { CHECK(brokenRule(twoPrograms()) == ""); }

TEST_CASE("structure: the mesh and the program table must agree") {
  plan::Plan plan = validPlan();
  SECTION("an empty axis") {
    plan.mutable_mesh(0)->set_size(0);
    CHECK_THAT(brokenRule(plan), Contains("mesh axis 'dp' has size 0"));
  }
  SECTION("more ranks than 32 bits count") {
    plan.mutable_mesh(0)->set_size(1u << 16);
    plan.add_mesh()->set_size(1u << 16);
    CHECK_THAT(brokenRule(plan), Contains("the mesh has more than 2147483647 ranks"));
  }
  SECTION("a rank without program") {
    plan.mutable_programs(0)->mutable_ranks()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("lists a step for 1 ranks, its mesh has 2"));
  }
  SECTION("a rank that does not exist") {
    plan.mutable_programs(0)->set_ranks(1, 3);
    CHECK_THAT(brokenRule(plan), Contains("program 0: rank 3 runs it, the mesh has 2"));
  }
  SECTION("a rank with two steps") {
    *plan.add_programs() = plan.programs(0);
    CHECK_THAT(brokenRule(plan), Contains("rank 0 runs a step twice, expected once"));
  }
  SECTION("ranks out of order") {
    plan.mutable_programs(0)->mutable_ranks()->SwapElements(0, 1);
    CHECK_THAT(brokenRule(plan), Contains("lists rank 0 behind rank 1, expected ascending ranks"));
  }
  SECTION("a program without ranks") {
    plan.add_programs();
    CHECK_THAT(brokenRule(plan), Contains("program 1: no rank runs it"));
  }
  SECTION("a kind that does not exist") {
    plan.mutable_programs(0)->set_kind(plan::Program::Kind(7));
    CHECK_THAT(brokenRule(plan), Contains("its kind 7 does not exist"));
  }
  SECTION("kernels without a module") {
    plan.clear_modules();
    CHECK_THAT(brokenRule(plan), Contains("the plan holds no module of them"));
  }
  SECTION("a device that does not exist") {
    plan.set_device("tpu");
    CHECK_THAT(brokenRule(plan), Contains("devices of the kind 'tpu', expected cpu or cuda"));
  }
  SECTION("a module for another device") {
    plan.mutable_modules(0)->set_target("sm_90");
    CHECK_THAT(brokenRule(plan), Contains("its module of 3 bytes for 'sm_90' is none for cpu"));
  }
}

TEST_CASE("kernels: those of GPUs have a grid, and no others") {
  plan::Plan plan = gpuPlan();
  plan::Kernel &kernel = *plan.mutable_programs(0)->mutable_kernels(0);
  SECTION("nothing broken") { CHECK(brokenRule(plan) == ""); }
  SECTION("no grid") {
    kernel.clear_grid(), rename(plan);
    CHECK_THAT(brokenRule(plan), Contains("it has no grid and is for cuda"));
  }
  SECTION("a grid on a CPU") {
    plan.set_device("cpu"), plan.mutable_modules(0)->set_target("cpu");
    plan.mutable_programs(0)->mutable_arenas(0)->set_peak_bytes(1600);
    CHECK_THAT(brokenRule(plan), Contains("it has a grid and is for cpu"));
  }
  SECTION("too many threads") {
    kernel.mutable_grid()->set_threads(1025), rename(plan);
    CHECK_THAT(brokenRule(plan), Contains("its grid of 1 x 1025 threads with 0 bytes"));
  }
  SECTION("another grid than the symbol's") {
    kernel.mutable_grid()->set_blocks(2);
    CHECK_THAT(brokenRule(plan), Contains("its symbol does not belong to its signature: grid 2 x"));
  }
}

TEST_CASE("instructions: a workspace is one buffer of its own") {
  plan::Plan plan = gpuPlan();
  plan::Matmul &matmul = *instruction(plan, Multiply).mutable_matmul();
  plan::Program &program = *plan.mutable_programs(0);
  addBuffer(program, "space", plan::WORKSPACE, 2048, {16}, Multiply, Multiply, -1);
  program.mutable_arenas(0)->set_bytes(2112), program.mutable_arenas(0)->set_peak_bytes(2048);
  matmul.add_workspace(uint32_t(program.buffers_size() - 1));
  SECTION("nothing broken") { CHECK(brokenRule(plan) == ""); }
  SECTION("where the libraries of GPUs want none") {
    program.mutable_buffers(program.buffers_size() - 1)->set_offset(1984);
    CHECK_THAT(brokenRule(plan), Contains("its offset 1984 is not a multiple of 256"));
  }
  SECTION("two of them") {
    matmul.add_workspace(matmul.workspace(0));
    CHECK_THAT(brokenRule(plan), Contains("it has 2 workspaces, expected at most one"));
  }
  SECTION("of another role") {
    matmul.set_workspace(0, Y);
    CHECK_THAT(brokenRule(plan), Contains("'y' has role ACTIVATION, not WORKSPACE"));
  }
  SECTION("an operand") {
    program.mutable_buffers(Y)->set_role(plan::WORKSPACE), matmul.set_workspace(0, Y);
    CHECK_THAT(brokenRule(plan), Contains("its workspace 'y' is another operand, too"));
  }
}

TEST_CASE("structure: tensors must be well formed") {
  plan::Plan plan = validPlan();
  plan::Tensor &w = *plan.mutable_tensors(1);
  SECTION("no dtype") {
    w.clear_dtype();
    CHECK_THAT(brokenRule(plan), Contains("tensor 'w': it has no dtype"));
  }
  SECTION("an axis that the mesh does not have") {
    w.mutable_sharding(0)->add_axes(7);
    CHECK_THAT(brokenRule(plan), Contains("mesh axis 7"));
  }
  SECTION("one axis for two dims") {
    w.mutable_sharding(0)->add_axes(0), w.mutable_sharding(1)->add_axes(0);
    CHECK_THAT(brokenRule(plan), Contains("sharded twice on mesh axis 'dp'"));
  }
  SECTION("a dim without sharding") {
    w.mutable_sharding()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("2 dims and shardings for 1"));
  }
  SECTION("a parameter without source") {
    w.clear_source();
    CHECK_THAT(brokenRule(plan), Contains("no source"));
  }
  SECTION("inline data of another size") {
    w.mutable_source()->set_inline_data("1234");
    CHECK_THAT(brokenRule(plan), Contains("inline data has 4 bytes"));
  }
  SECTION("a file slice of another size") {
    w.mutable_source()->mutable_file()->set_bytes(100);
    w.mutable_source()->mutable_file()->set_dtype(plan::F32);
    CHECK_THAT(brokenRule(plan), Contains("file slice has 100 bytes"));
  }
  SECTION("a file slice without a model file") {
    plan.clear_source();
    w.mutable_source()->mutable_file()->set_dtype(plan::F32);
    CHECK_THAT(brokenRule(plan), Contains("tensor 'w': it is read from a file, but the plan names "
                                          "no model file"));
  }
  SECTION("a permutation with a dim twice") {
    w.mutable_source()->add_permutation(1), w.mutable_source()->add_permutation(1);
    CHECK_THAT(brokenRule(plan), Contains("permutation"));
  }
  SECTION("a hyperparameter that is no number") {
    w.set_role(plan::HYPERPARAMETER);
    CHECK_THAT(brokenRule(plan), Contains("tensor 'w': it is a hyperparameter of dtype f32 with 2 "
                                          "dims, expected an F64 scalar"));
  }
  SECTION("a role that has no tensor") {
    w.set_role(plan::ACTIVATION);
    CHECK_THAT(brokenRule(plan), Contains("role ACTIVATION"));
  }
}

TEST_CASE("placement: buffers must lie inside their arenas") {
  plan::Plan plan = validPlan();
  SECTION("beyond the arena") {
    plan.mutable_programs(0)->mutable_arenas(0)->set_bytes(1799);
    CHECK_THAT(brokenRule(plan),
               Contains("rank 0, buffer 'where': it ends at byte 1800 of arena 0, which has 1799"));
  }
  SECTION("not aligned") {
    buffer(plan, X).set_offset(32);
    CHECK_THAT(brokenRule(plan), Contains("offset 32 is not a multiple of 64"));
  }
  SECTION("in no arena") {
    buffer(plan, X).set_arena(2);
    CHECK_THAT(brokenRule(plan), Contains("arena 2"));
  }
  SECTION("too small for its shape") {
    buffer(plan, Y).set_bytes(255);
    CHECK_THAT(brokenRule(plan), Contains("has 255 bytes, its shape needs 256"));
  }
  SECTION("without dtype") {
    buffer(plan, Y).clear_dtype();
    CHECK_THAT(brokenRule(plan), Contains("no dtype"));
  }
}

TEST_CASE("placement: no two buffers share bytes at one time") {
  plan::Plan plan = validPlan();
  SECTION("the same beginning") { buffer(plan, Z).set_offset(1280); }
  SECTION("the end of one in the other") { buffer(plan, Z).set_offset(1472); }
  SECTION("lifetimes that meet at one instruction") { buffer(plan, Loss).set_first(Barrier); }
  CHECK_THAT(brokenRule(plan), Contains("overlaps buffer"));
}

TEST_CASE("placement: the stated peak must be the recomputed one") {
  plan::Plan plan = validPlan();
  plan.mutable_programs(0)->mutable_arenas(0)->set_peak_bytes(1000);
  CHECK_THAT(brokenRule(plan), Contains("states a peak of 1000 bytes, its buffers reach 1600"));
}

TEST_CASE("placement: persistent buffers are always live, others within the program") {
  plan::Plan plan = validPlan();
  SECTION("a parameter that is not live to the end") {
    buffer(plan, W).set_last(Barrier);
    CHECK_THAT(brokenRule(plan), Contains("must be live from 0 to 5"));
  }
  SECTION("coordinates that are not live from the begin") {
    buffer(plan, Where).set_first(1);
    CHECK_THAT(brokenRule(plan), Contains("must be live from 0 to 5"));
  }
  SECTION("a lifetime that ends before it begins") {
    buffer(plan, Y).set_first(Report);
    CHECK_THAT(brokenRule(plan), Contains("lifetime from 5 to 3"));
  }
}

TEST_CASE("placement: a buffer is its tensor's block") {
  plan::Plan plan = validPlan();
  SECTION("a tensor that does not exist") {
    buffer(plan, X).set_tensor(5);
    CHECK_THAT(brokenRule(plan), Contains("tensor 5"));
  }
  SECTION("an input without tensor") {
    buffer(plan, X).set_tensor(-1);
    CHECK_THAT(brokenRule(plan), Contains("role INPUT needs a tensor"));
  }
  SECTION("a hyperparameter without tensor") {
    buffer(plan, Where).set_role(plan::HYPERPARAMETER);
    CHECK_THAT(brokenRule(plan), Contains("role HYPERPARAMETER needs a tensor"));
  }
  SECTION("another shape") {
    buffer(plan, X).set_shape(0, 3);
    CHECK_THAT(brokenRule(plan), Contains("not that of its block of tensor 'x'"));
  }
  SECTION("another role") {
    buffer(plan, X).set_role(plan::CONSTANT);
    buffer(plan, X).set_last(Report);
    CHECK_THAT(brokenRule(plan), Contains("is f32 INPUT"));
  }
  SECTION("coordinates of another rank than the mesh") {
    buffer(plan, Where).set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan), Contains("one i64 per mesh axis"));
  }
}

TEST_CASE("instructions: indices must be in range") {
  plan::Plan plan = validPlan();
  SECTION("of a buffer") {
    instruction(plan, Load).mutable_load_input()->set_buffer(9);
    CHECK_THAT(brokenRule(plan), Contains("instruction 0 (load input 'x'): it uses buffer 9"));
  }
  SECTION("of a kernel") {
    instruction(plan, Reduce).mutable_launch()->set_kernel(1);
    CHECK_THAT(brokenRule(plan), Contains("launches kernel 1"));
  }
  SECTION("of a kernel's parts") {
    plan.mutable_programs(0)->mutable_kernels(0)->set_extent(23570780520448);
    rename(plan);
    CHECK_THAT(brokenRule(plan), Contains("extent 23570780520448 on buffers of 260 bytes"));
  }
  SECTION("of a written operand") {
    instruction(plan, Reduce).mutable_launch()->add_written(2);
    CHECK_THAT(brokenRule(plan), Contains("writes operand 2"));
  }
  SECTION("of a segment") {
    plan.mutable_programs(0)->mutable_schedule(0)->set_segment(1);
    CHECK_THAT(brokenRule(plan), Contains("schedules segment 1"));
  }
  SECTION("of a collective's axis") {
    instruction(plan, Sum).mutable_collective()->set_axes(0, 1);
    CHECK_THAT(brokenRule(plan), Contains("mesh axis 1"));
  }
  SECTION("of an instruction's kind") {
    instruction(plan, Barrier).clear_kind();
    CHECK_THAT(brokenRule(plan), Contains("its kind is unknown"));
  }
}

TEST_CASE("instructions: operands must be live and writable") {
  plan::Plan plan = validPlan();
  SECTION("a read after the end of the lifetime") {
    buffer(plan, X).set_last(Load);
    CHECK_THAT(brokenRule(plan), Contains("position 1, but buffer 'x' is live from 0 to 0"));
  }
  SECTION("a write to coordinates") {
    instruction(plan, Barrier).mutable_fill()->set_buffer(Where);
    CHECK_THAT(brokenRule(plan), Contains("writes buffer 'where' of role COORDINATES"));
  }
  SECTION("a write to a hyperparameter") {
    plan::Tensor *rate = plan.add_tensors();
    rate->set_name("lr"), rate->set_dtype(plan::F64), rate->set_role(plan::HYPERPARAMETER);
    rate->mutable_source()->set_fill(0.5);
    plan::Buffer &where = buffer(plan, Where);
    where.set_dtype(plan::F64), where.set_role(plan::HYPERPARAMETER);
    where.clear_shape(), where.set_tensor(plan.tensors_size() - 1);
    CHECK(brokenRule(plan) == "");
    instruction(plan, Barrier).mutable_fill()->set_buffer(Where);
    CHECK_THAT(brokenRule(plan), Contains("writes buffer 'where' of role HYPERPARAMETER"));
  }
}

TEST_CASE("instructions: only products of f32 multiply in tf32") {
  plan::Plan plan = validPlan();
  plan::Matmul &matmul = *instruction(plan, Multiply).mutable_matmul();
  matmul.set_tf32(true);
  CHECK(brokenRule(plan) == "");
  for (uint32_t operand : {matmul.lhs().buffer(), matmul.rhs().buffer(), matmul.out().buffer()}) {
    plan::Buffer &buffer = *plan.mutable_programs(0)->mutable_buffers(int(operand));
    buffer.set_dtype(plan::BF16);
    if (buffer.tensor() >= 0)
      plan.mutable_tensors(buffer.tensor())->set_dtype(plan::BF16);
  }
  CHECK_THAT(brokenRule(plan), Contains("multiplies in tf32") && Contains("is bf16, expected f32"));
}

TEST_CASE("instructions: matmul operands must fit their buffers") {
  plan::Plan plan = validPlan();
  plan::Matmul &matmul = *instruction(plan, Multiply).mutable_matmul();
  SECTION("too many rows") {
    matmul.set_m(5);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 320 of buffer 'x', which has 256"));
  }
  SECTION("a stride that is too long") {
    matmul.mutable_rhs()->set_strides(0, 17);
    CHECK_THAT(brokenRule(plan), Contains("buffer 'w'"));
  }
  SECTION("an offset too far") {
    matmul.mutable_out()->set_offset(1);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 260 of buffer 'y'"));
  }
  SECTION("a missing stride") {
    matmul.mutable_lhs()->mutable_strides()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("its lhs needs one non-negative stride"));
  }
  SECTION("other dtypes") {
    buffer(plan, Y).set_dtype(plan::I32);
    CHECK_THAT(brokenRule(plan),
               Contains("to 'y', i32; expected one dtype, or f32 for the product of"));
  }
  SECTION("a result over an operand") {
    matmul.mutable_out()->set_buffer(X);
    CHECK_THAT(brokenRule(plan), Contains("its out 'x' overlaps its operand 'x'"));
  }
}

TEST_CASE("instructions: a convolution's shapes must agree") {
  plan::Plan plan = validPlan();
  plan::Convolution &c = *instruction(plan, Multiply).mutable_convolution();
  c.set_input(X), c.set_weight(W), c.set_output(Y), c.set_groups(1);
  for (int64_t size : {1, 2, 32})
    c.add_input_shape(size);
  for (int64_t size : {2, 2, 3})
    c.add_weight_shape(size);
  for (int64_t size : {1, 2, 32})
    c.add_output_shape(size);
  c.add_strides(1), c.add_dilations(1), c.add_pads_low(1), c.add_pads_high(1);
  SECTION("nothing broken") { CHECK(brokenRule(plan) == ""); }
  SECTION("another output") {
    c.set_output_shape(2, 30);
    CHECK_THAT(brokenRule(plan), Contains("spatial dim 0 does not follow"));
  }
  SECTION("other channels") {
    c.set_weight_shape(1, 1);
    CHECK_THAT(brokenRule(plan), Contains("channels or groups do not agree"));
  }
  SECTION("too few strides") {
    c.clear_strides();
    CHECK_THAT(brokenRule(plan), Contains("differ in rank"));
  }
  SECTION("too large an input") {
    c.set_input_shape(0, 2), c.set_output_shape(0, 2);
    CHECK_THAT(brokenRule(plan), Contains("reaches byte 512 of buffer 'x'"));
  }
}

TEST_CASE("instructions: a collective's buffers must fit its group") {
  plan::Plan plan = validPlan();
  plan::Collective &sum = *instruction(plan, Sum).mutable_collective();
  SECTION("a gather into the size of one part") {
    sum.set_kind(plan::Collective::ALL_GATHER);
    CHECK_THAT(brokenRule(plan), Contains("64 elements of 'y' and receives 64 in 'z'"));
  }
  SECTION("a scatter of the whole") {
    sum.set_kind(plan::Collective::REDUCE_SCATTER);
    CHECK_THAT(brokenRule(plan), Contains("does not fit 2 ranks"));
  }
  SECTION("a pair without its other half") {
    sum.mutable_recv()->RemoveLast();
    CHECK_THAT(brokenRule(plan), Contains("sends 1 buffers and receives 0"));
  }
  SECTION("a kind that does not exist") {
    sum.set_kind(plan::Collective::Kind(4));
    CHECK_THAT(brokenRule(plan), Contains("its kind 4 does not exist"));
  }
  SECTION("a reduction that does not exist") {
    sum.set_reduce(plan::Reduce(3));
    CHECK_THAT(brokenRule(plan), Contains("its reduction 3 does not exist"));
  }
  SECTION("a peer that does not exist") {
    sum.set_kind(plan::Collective::SEND), sum.clear_recv(), sum.set_peer(2);
    CHECK_THAT(brokenRule(plan), Contains("its peer 2 is not one of its 2 ranks"));
  }
  SECTION("a pair that receives over what another one sends") {
    sum.add_send(Y), sum.add_recv(Y);
    CHECK_THAT(brokenRule(plan), Contains("it receives 'y' over 'y' of another pair"));
  }
  SECTION("an exchange in place") {
    sum.set_kind(plan::Collective::ALL_TO_ALL), sum.set_recv(0, Y);
    CHECK_THAT(brokenRule(plan), Contains("it receives 'y' over 'y'"));
  }
  SECTION("a permute along other axes") {
    sum.set_kind(plan::Collective::PERMUTE);
    CHECK_THAT(brokenRule(plan), Contains("its blocks go to positions along other axes"));
  }
  SECTION("a reduction in reverse") {
    sum.set_reversed(true);
    CHECK_THAT(brokenRule(plan), Contains("it is reversed, but not a permute"));
  }
  SECTION("a reduction that permutes") {
    sum.add_to_axes(sum.axes(0));
    CHECK_THAT(brokenRule(plan), Contains("it has axes to permute to and is no permute"));
  }
}

TEST_CASE("instructions: copies, inputs, outputs and metrics name fitting buffers") {
  plan::Plan plan = validPlan();
  SECTION("a copy between sizes") {
    instruction(plan, Reduce).mutable_copy()->set_from(Z);
    instruction(plan, Reduce).mutable_copy()->set_to(Loss);
    CHECK_THAT(brokenRule(plan), Contains("copies 'z' to 'loss', which has another size"));
  }
  SECTION("loading a buffer that is not an input") {
    instruction(plan, Multiply).mutable_load_input()->set_buffer(Y);
    CHECK_THAT(brokenRule(plan), Contains("'y' has role ACTIVATION, not INPUT"));
  }
  SECTION("storing a buffer that is not an output") {
    instruction(plan, Barrier).mutable_store_output()->set_buffer(Y);
    CHECK_THAT(brokenRule(plan), Contains("'y' has role ACTIVATION, not OUTPUT"));
  }
  SECTION("a metric that is not a scalar") {
    instruction(plan, Reduce).mutable_metric()->set_buffer(Z);
    CHECK_THAT(brokenRule(plan), Contains("'z' is not an f32 or f64 scalar"));
  }
}

// The valid plan with a second arena in `space`, where `y` has a copy of its own; the all-reduce of
// nothing becomes the copy.
static plan::Plan withCopyIn(plan::Space space) {
  plan::Plan plan = validPlan();
  plan::Program &program = *plan.mutable_programs(0);
  plan::Arena &arena = *program.add_arenas();
  arena.set_space(space), arena.set_bytes(256);
  arena.set_peak_bytes(space == plan::FILE ? 4096 : 256);
  arena.set_latency_seconds(1e-5), arena.set_bytes_per_second(1e9);
  addBuffer(program, "y", plan::ACTIVATION, 0, {4, 16}, Barrier, Report, -1)->set_arena(1);
  plan::Instruction &copy = instruction(plan, Barrier);
  copy.clear_waits(), copy.set_queue(0);
  copy.mutable_copy()->set_from(Y), copy.mutable_copy()->set_to(Where + 1);
  instruction(plan, Reduce).clear_waits();
  instruction(plan, Reduce).add_waits(Sum);
  return plan;
}

TEST_CASE("placement: a program has one arena of device memory, then at most one in each space") {
  CHECK(brokenRule(withCopyIn(plan::HOST)) == "");
  CHECK(brokenRule(withCopyIn(plan::FILE)) == "");
  CHECK_THAT(brokenRule(withCopyIn(plan::DEVICE)), Contains("no space twice"));
  plan::Plan plan = withCopyIn(plan::FILE);
  plan::Program &program = *plan.mutable_programs(0);
  SECTION("host memory first") {
    program.mutable_arenas()->SwapElements(0, 1);
    CHECK_THAT(brokenRule(plan), Contains("expected DEVICE first"));
  }
  SECTION("a space that does not exist") {
    program.mutable_arenas(1)->set_space(plan::Space(7));
    CHECK_THAT(brokenRule(plan), Contains("space 7, which does not exist"));
  }
  SECTION("a link that cannot be") {
    program.mutable_arenas(1)->set_bytes_per_second(GENERATE(-1., 1.));
    CHECK_THAT(brokenRule(plan), Contains("bytes per second, expected 0 or at least 1e+06"));
  }
  SECTION("a place in a file that direct I/O cannot reach") {
    program.mutable_buffers(Where + 1)->set_offset(64);
    program.mutable_arenas(1)->set_bytes(320);
    CHECK_THAT(brokenRule(plan), Contains("offset 64 is not a multiple of 4096"));
  }
}

TEST_CASE("instructions: only copies reach other spaces, from or to device memory") {
  plan::Plan plan = withCopyIn(plan::HOST);
  SECTION("a product") {
    instruction(plan, Multiply).mutable_matmul()->mutable_out()->set_buffer(Where + 1);
    buffer(plan, Buffers(Where + 1)).set_first(Multiply);
    CHECK_THAT(brokenRule(plan), Contains("accesses 'y' in space HOST, expected device memory"));
  }
  SECTION("within a space") {
    instruction(plan, Barrier).mutable_copy()->set_from(Where + 1);
    CHECK_THAT(brokenRule(plan), Contains("accesses 'y' in space HOST, expected device memory"));
  }
}

TEST_CASE("dataflow: values that are read must have been written and not overwritten") {
  plan::Plan plan = validPlan();
  SECTION("a value that is never written") {
    instruction(plan, Load).mutable_store_output()->set_buffer(X);
    buffer(plan, X).set_role(plan::OUTPUT), plan.mutable_tensors(0)->set_role(plan::OUTPUT);
    CHECK_THAT(brokenRule(plan), Contains("reads buffer 'x' before anything writes it"));
  }
  SECTION("a value that should survive to the next slot") {
    // The second slot accumulates into y, whose memory `loss` has overwritten in between.
    if (GENERATE(false, true)) { // a kernel may read what it writes
      plan::Launch launch = instruction(plan, Reduce).launch();
      launch.set_buffers(0, X), launch.set_buffers(1, Y);
      *instruction(plan, Multiply).mutable_launch() = launch;
    } else {
      instruction(plan, Multiply).mutable_matmul()->set_accumulate(true);
    }
    plan::Program &program = *plan.mutable_programs(0);
    plan::Segment *before = program.add_segments();
    before->add_instructions()->mutable_fill()->set_buffer(Y);
    program.mutable_segments()->SwapElements(0, 1);
    for (plan::Instruction &each : *program.mutable_segments(1)->mutable_instructions())
      for (uint32_t &wait : *each.mutable_waits())
        ++wait;
    for (plan::Buffer &each : *program.mutable_buffers())
      each.set_first(each.first() ? each.first() + 1 : 0), each.set_last(each.last() + 1);
    buffer(plan, Y).set_first(0);
    program.add_schedule()->set_segment(1);
    program.mutable_arenas(0)->set_peak_bytes(1600);
    CHECK(brokenRule(plan) == "");
    program.add_schedule()->set_segment(1), program.mutable_schedule()->rbegin()->set_slot(1);
    CHECK_THAT(brokenRule(plan),
               Contains("reads buffer 'y' after buffer 'loss' has taken its bytes"));
  }
}

TEST_CASE("communication: members issue equal collectives in one order") {
  plan::Plan plan = twoPrograms();
  plan::Collective &other = *instruction(plan, Sum, 1).mutable_collective();
  SECTION("another kind") {
    other.set_kind(plan::Collective::ALL_TO_ALL);
    CHECK_THAT(brokenRule(plan),
               Contains("instruction 2 (all-reduce 'sum') does not match rank 1") &&
                   Contains("kinds differ"));
  }
  SECTION("another reduction") {
    other.set_reduce(plan::MAX);
    CHECK_THAT(brokenRule(plan), Contains("their reductions differ"));
  }
  SECTION("another size") {
    for (Buffers each : {Y, Z})
      plan.mutable_programs(1)->mutable_buffers(int(each))->set_shape(0, 3);
    instruction(plan, Multiply, 1).mutable_matmul()->set_m(3);
    CHECK_THAT(brokenRule(plan), Contains("buffers 'y' and 'y' differ in size"));
  }
  SECTION("another bucket") {
    other.clear_send(), other.clear_recv();
    instruction(plan, Reduce, 1).mutable_fill()->set_buffer(Loss);
    CHECK_THAT(brokenRule(plan), Contains("they move 1 and 0 buffers"));
  }
}

TEST_CASE("communication: a hundred thousand ranks with one program are not simulated one by one") {
  constexpr uint32_t ranks = 100'000; // all in one group
  plan::Plan plan = validPlan();
  plan.mutable_mesh(0)->set_size(ranks);
  artifact::setRanks(*plan.mutable_programs(0), ranks);
  plan.mutable_tensors(0)->set_shape(0, 4 * int64_t(ranks));
  CHECK(brokenRule(plan) == "");
}

TEST_CASE("communication: a rank that does not come is a deadlock") {
  plan::Plan plan = twoPrograms();
  instruction(plan, Sum, 1).mutable_fill()->set_buffer(Z);
  instruction(plan, Barrier, 1).mutable_fill()->set_buffer(Z);
  CHECK_THAT(brokenRule(plan),
             Contains("deadlock: rank 0, segment 'micro', instruction 2 (all-reduce 'sum') waits "
                      "forever for rank 1, which has ended its step"));
}

TEST_CASE("communication: sends meet their receives") {
  SECTION("in opposite order") { CHECK(brokenRule(exchange(true)) == ""); }
  SECTION("but two ranks that both wait in a send are a deadlock") {
    CHECK_THAT(brokenRule(exchange(false)),
               Contains("deadlock: rank 0") && Contains("rank 1") && Contains("(send 'sum')"));
  }
  SECTION("to itself") {
    plan::Plan plan = exchange(true);
    instruction(plan, Sum, 0).mutable_collective()->set_peer(0);
    CHECK_THAT(brokenRule(plan), Contains("has its own rank as its peer"));
  }
  SECTION("with a buffer of the other direction") {
    plan::Plan plan = exchange(true);
    instruction(plan, Sum, 0).mutable_collective()->add_recv(Z);
    CHECK_THAT(brokenRule(plan), Contains("buffers of the other direction"));
  }
}
