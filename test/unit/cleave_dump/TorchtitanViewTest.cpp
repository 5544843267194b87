// --torchtitan: degrees, and sentences about what the configuration cannot say.
#include "SmallPlan.h"

#include "tools/cleave-dump/Views.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

// The small plan on a mesh of two axes of these kinds, with parameters split along these axes, by
// their first dims.
static plan::Plan planOf(const std::string &first, const std::string &second,
                         const std::vector<uint32_t> &split = {}) {
  plan::Plan plan = smallPlan();
  plan.set_optimizer("adamw:lr=0.001,beta1=0.9,beta2=0.999,eps=1e-08,weight-decay=0.01");
  plan::Decision &strategy = *plan.add_decisions();
  strategy.set_kind("strategy"), strategy.set_name("some");
  strategy.set_choice("dp=" + first + ",tp=" + second);
  for (plan::Tensor &tensor : *plan.mutable_tensors())
    if (tensor.role() != plan::INPUT)
      tensor.mutable_sharding(0)->mutable_axes()->Assign(split.begin(), split.end());
  return plan;
}

static std::string textOf(const plan::Plan &plan) {
  Result<dump::Exported> view = dump::torchtitanView(plan, "two.plan");
  REQUIRE(view);
  for (const std::string &sentence : view->missing)
    CHECK_THAT(view->text, Contains("\n# not expressible: " + sentence + "\n"));
  return view->text;
}

TEST_CASE("axes have the degrees of their kinds") {
  const std::string text = textOf(planOf("data", "tensor", {0}));
  CHECK_THAT(text, Contains("data_parallel_shard_degree = 2\n") &&
                       Contains("data_parallel_replicate_degree = 1\n") &&
                       Contains("tensor_parallel_degree = 2\n"));
  CHECK_THAT(text, Contains("local_batch_size = 4\nglobal_batch_size = 16\n"));
  CHECK_THAT(text, Contains("name = \"AdamW\"\nlr = 0.001\n") && Contains("eps = 1e-08\n"));
  CHECK_THAT(text, Contains("not expressible: the dims of parameters that tp=2 splits"));
  CHECK_THAT(textOf(planOf("context", "data", {0, 1})),
             Contains("context_parallel_degree = 2\n") &&
                 Contains("data_parallel_shard_degree = 2\n"));
}

TEST_CASE("experts are among the ranks that share parameters") {
  CHECK_THAT(textOf(planOf("data", "expert", {0, 1})),
             Contains("data_parallel_shard_degree = 4\n") &&
                 Contains("expert_parallel_degree = 2\n") && Contains("local_batch_size = 2\n"));
}

TEST_CASE("replicas beside other parallelism are sharded") {
  CHECK_THAT(textOf(planOf("data", "data")), Contains("data_parallel_replicate_degree = 4\n") &&
                                                 !Contains("they are sharded here"));
  CHECK_THAT(textOf(planOf("data", "data", {1})),
             Contains("data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 2\n"));
  CHECK_THAT(textOf(planOf("data", "tensor", {1})),
             Contains("data_parallel_replicate_degree = 1\ndata_parallel_shard_degree = 2\n") &&
                 Contains("parameters replicated over dp=2 beside other parallelism; they are "
                          "sharded here (FSDP)\n"));
}

TEST_CASE("layouts and orders of axes that torchtitan does not have are told") {
  CHECK_THAT(textOf(planOf("tensor", "data", {1})), Contains("the order of the ranks on the mesh"));
  CHECK_THAT(textOf(planOf("spatial", "data")), Contains("dp=2, which splits positions"));
  CHECK_THAT(textOf(planOf("mostly tensor", "data", {1})),
             Contains("dp=2, which splits dims of several kinds; it is tensor parallel here") &&
                 Contains("tensor_parallel_degree = 2\n"));
  plan::Plan plan = planOf("data", "data", {0, 1});
  plan.mutable_tensors(1)->mutable_sharding()->SwapElements(0, 1);
  plan.mutable_tensors(2)->mutable_sharding(0)->clear_axes();
  CHECK_THAT(textOf(plan),
             Contains("not sharded over dp=2 and tp=2: 1 (h.1.w)\n") &&
                 Contains("along another dim than the first: 1 (h.0.w)\n") &&
                 Contains("other layouts than their parameters: 1 (h.0.w.momentum)\n"));
}

TEST_CASE("options of the compiler call become settings, or sentences") {
  plan::Plan plan = planOf("data", "data", {0, 1});
  CHECK_THAT(textOf(plan), Contains("max_norm = inf"));
  plan.set_compile_options("[compile]\ndtype = \"bf16\"\nclip-norm = \"0.5\"\nema = \"0.99\"\n");
  CHECK_THAT(textOf(plan), Contains("max_norm = 0.5\n") && Contains(": --ema 0.99\n") &&
                               Contains("mixed_precision_param = \"bfloat16\"\n"));
  plan.set_compile_options("[compile]\ndtype = \"f16\"\n");
  CHECK_THAT(textOf(plan), Contains("products in the types of --dtype f16"));
  plan.set_optimizer("lion:lr=0.001");
  CHECK_THAT(textOf(plan), Contains("the optimizer lion:lr=0.001") && !Contains("[optimizer]"));
}

TEST_CASE(
    "stages have a schedule by torchtitan's name, and the local batch has all micro-batches") {
  plan::Plan plan = planOf("", "data", {1});
  plan.mutable_mesh(0)->set_name("stage");
  CHECK_THAT(textOf(plan), Contains("local_batch_size = 8\nglobal_batch_size = 16\n") &&
                               Contains("pipeline_parallel_degree = 2\n"
                                        "pipeline_parallel_microbatch_size = 4\n"
                                        "pipeline_parallel_schedule = \"1F1B\"\n"));
  plan.set_compile_options("[compile]\nschedule = \"zb-h2\"\n");
  CHECK_THAT(textOf(plan), Contains("not expressible: the schedule zb-h2\n") &&
                               !Contains("pipeline_parallel_schedule ="));
}

TEST_CASE("the share of bytes that are recomputed is the mode of activation checkpointing") {
  for (auto [share, mode] : {std::pair(0, "none"), {4, "none"}, {50, "selective"}, {80, "full"}}) {
    plan::Plan plan = planOf("data", "data", {0, 1});
    for (auto [kind, bytes] : {std::pair("kept", 100 - share), {"recompute", share}}) {
      plan::Decision &decision = *plan.add_decisions();
      decision.set_kind(kind), decision.set_bytes(uint64_t(bytes));
    }
    plan::Decision &copy = *plan.add_decisions(); // of a parameter: no activation
    copy.set_kind("recompute"), copy.set_bytes(1000), copy.set_is_of_parameters(true);
    CHECK_THAT(textOf(plan), Contains(concat("mode = \"", mode, "\"\n")));
  }
}

TEST_CASE("plans for inference and plans without kinds of axes are refused") {
  plan::Plan plan = planOf("data", "data");
  plan.mutable_decisions()->rbegin()->clear_choice();
  CHECK_THAT(dump::torchtitanView(plan, "p").status().message(),
             Contains("compile the model again"));
  plan.set_trains(false);
  CHECK_THAT(dump::torchtitanView(plan, "p").status().message(), Contains("inference"));
}
