// The comparison of a checkpoint with what a plan trains.
#include "Job.h"

#include "runtime/checkpoint/Resume.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::checkpoint;

static const std::string kAdamW = "adamw:lr=0.001,beta1=0.9,weight-decay=0.01";

// A checkpoint of the tensors, trained with the optimizer.
static std::unique_ptr<Checkpoint> saved(const Folder &folder,
                                         const std::vector<std::string> &names,
                                         const std::string &optimizer,
                                         const std::string &schedule = "") {
  std::vector<float> value{1};
  std::vector<Slice> slices;
  for (const std::string &name : names)
    slices.push_back({name, DType::F32, {1}, {0}, {1}, value.data()});
  Progress progress{.step = 3, .extra = {}};
  if (!optimizer.empty())
    progress.extra[kOptimizerKey] = optimizer;
  if (!schedule.empty())
    progress.extra[kScheduleKey] = schedule;
  REQUIRE(save({.directory = folder / "run"}, slices, progress));
  auto checkpoint = Checkpoint::open(folder / "run");
  REQUIRE(checkpoint);
  return std::move(*checkpoint);
}

static std::string refusal(const Checkpoint &checkpoint, const Training &training) {
  auto notes = compareForResume(checkpoint, training, false);
  CHECK(notes.status().kind() == (notes ? StatusKind::Ok : StatusKind::UserError));
  return notes.status().message();
}

static const std::vector<std::string> kAdamNames{"step", "w", "w/adam.m", "w/adam.v"};
static const std::map<std::string, bool> kAdam{
    {"step", true}, {"w", false}, {"w/adam.m", true}, {"w/adam.v", true}};

TEST_CASE("other options of the same optimizer are noted") {
  Folder folder;
  auto checkpoint = saved(folder, kAdamNames, kAdamW);
  CHECK(compareForResume(*checkpoint, {kAdamW, kAdam}, false)->empty());
  CHECK(
      *compareForResume(*checkpoint, {"adamw:lr=0.01,beta1=0.9,weight-decay=0.01", kAdam}, false) ==
      std::vector<std::string>{
          "the optimizer's lr is 0.01 from now on, it was 0.001 in the checkpoint"});
}

TEST_CASE("groups of parameters, averages and schedules that differ are noted") {
  Folder folder;
  auto checkpoint =
      saved(folder, kAdamNames, kAdamW + ";group head.*:lr=0.1,weight-decay=0;group a:b:lr=1",
            "linear:steps=9");
  Training now{kAdamW + ";group head.*:lr=0.1,weight-decay=0.5;ema:decay=0.9", kAdam,
               "cosine:steps=9"};
  CHECK(*compareForResume(*checkpoint, now, false) ==
        std::vector<std::string>{
            "the optimizer's ema is new, the checkpoint has none",
            "the optimizer's weight-decay of group head.* is 0.5 from now on, it was 0 in the "
            "checkpoint",
            "the optimizer's group a:b of the checkpoint ends here",
            "the learning-rate schedule is cosine:steps=9 from now on, it was linear:steps=9 in "
            "the checkpoint"});
}

TEST_CASE("another kind of optimizer is refused, unless its states begin anew") {
  Folder folder;
  auto checkpoint = saved(folder, kAdamNames, kAdamW);
  Training sgd{"sgd:lr=0.1", {{"step", true}, {"w", false}}}, adam{"adam:lr=0.001", kAdam};
  for (const Training &other : {sgd, adam})
    CHECK(refusal(*checkpoint, other) ==
          "'" + checkpoint->path() + "' was trained with the optimizer " + kAdamW +
              ", the plan trains with " + other.optimizer +
              "; compile with the optimizer of the checkpoint, or give --restart-optimizer to "
              "begin the optimizer's states anew");
  CHECK(compareForResume(*checkpoint, sgd, true)->size() == 1);
}

TEST_CASE("missing and surplus states are named, also without the optimizer's name") {
  Folder folder;
  auto checkpoint = saved(folder, kAdamNames, "");
  CHECK(refusal(*checkpoint, {kAdamW, kAdam}).empty());
  CHECK(refusal(*checkpoint, {"sgd:lr=0.1", {{"step", true}, {"w", false}}})
            .find("has states that the plan's optimizer does not have: 'w/adam.m', 'w/adam.v'; "
                  "compile with") != std::string::npos);
  CHECK(refusal(*checkpoint, {"",
                              {{"step", true},
                               {"w", false},
                               {"w/adam.m", true},
                               {"w/adam.v", true},
                               {"w/sgd.velocity", true}}})
            .find("lacks states of the plan's optimizer: 'w/sgd.velocity'") != std::string::npos);
}

TEST_CASE("tensors of another model are named, also if the optimizer begins anew") {
  Folder folder;
  auto checkpoint = saved(folder, {"step", "a", "b", "c", "d"}, "");
  Training other{"", {{"step", true}, {"a", false}, {"x", false}}};
  CHECK(refusal(*checkpoint, other).find("lacks tensors that the plan trains: 'x'; resume under") !=
        std::string::npos);
  other.tensors.erase("x");
  CHECK(compareForResume(*checkpoint, other, true)
            .status()
            .message()
            .find("has tensors that the plan does not train: 'b', 'c', 'd'; resume") !=
        std::string::npos);
}
