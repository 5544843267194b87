// --torchtitan: the plan as a configuration of torchtitan 0.2 in TOML. A decision that the file
// cannot express is a comment in it, `# not expressible: …`.
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Speed.h"
#include "tools/cleave-dump/Torchtitan.h"
#include "tools/cleave-dump/Views.h"
#include "tools/commandline/TrainFile.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <map>

namespace cleave::dump {

namespace {

// Schedules of pipelines by torchtitan's names.
const std::map<std::string, std::string> kSchedules = {
    {"1f1b", "1F1B"},
    {"gpipe", "GPipe"},
    {"interleaved", "Interleaved1F1B"},
    {"looped-bfs", "LoopedBFS"},
    {"interleaved-zb", "InterleavedZeroBubble"},
    {"zb-v", "ZBVZeroBubble"},
    {"dualpipe-v", "DualPipeV"},
};

std::string quoted(const std::string &text) { return "\"" + text + "\""; }

class Writer {
public:
  Writer(const plan::Plan &plan, const std::string &path) : plan_(plan), path_(path) {}

  Exported write() {
    degrees_ = torchtitanDegrees(plan_, missing_);
    writeOptimizer();
    writeTraining();
    writeParallelism();
    writePipeline();
    writeCheckpointing();
    std::string head = concat("# torchtitan 0.2: ", titleOf(plan_, path_), "\n",
                              "# Not part of a plan: [model], [lr_scheduler], the dataset and the "
                              "number of steps.\n");
    for (const std::string &sentence : missing_)
      head += "# not expressible: " + sentence + "\n";
    return {head + body_, missing_};
  }

private:
  void section(const char *name) { body_ += concat("\n[", name, "]\n"); }
  template <typename T> void set(const char *key, const T &value) {
    body_ += concat(key, " = ", value, "\n");
  }
  void add(const std::string &sentence) { missing_.push_back(sentence); }

  // The last value of an option of the compiler call; empty if it was not given.
  std::string option(const char *name) const {
    for (const TrainFileOption &given : readTrainFile(plan_.compile_options()))
      if (given.name == name && !given.values.empty())
        return given.values.back();
    return "";
  }

  // `adamw:lr=0.001,beta1=0.9,…`
  void writeOptimizer() {
    const std::string &text = plan_.optimizer();
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string kind = text.substr(0, colon);
    std::map<std::string, std::string> values;
    for (size_t begin = colon + 1; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size()),
                   equals = std::min(text.find('=', begin), end);
      values[text.substr(begin, equals - begin)] =
          text.substr(std::min(equals + 1, end), end - equals - 1);
      begin = end + 1;
    }
    if (kind != "adam" && kind != "adamw") {
      add("the optimizer " + text + "; torchtitan has Adam and AdamW");
      return;
    }
    section("optimizer");
    set("name", quoted(kind == "adam" ? "Adam" : "AdamW"));
    for (const char *key : {"lr", "beta1", "beta2", "eps"})
      set(key, values[key]);
    set("weight_decay", values["weight-decay"]);
    if (values["amsgrad"] == "true")
      add("amsgrad");
    for (const char *name : {"optimizer-group", "ema"})
      if (!option(name).empty())
        add(concat("--", name, " ", option(name)));
  }

  void writeTraining() {
    section("training");
    const int64_t samples = samplesOf(plan_), tokens = tokensOf(plan_),
                  microBatches = microBatchesOf(plan_);
    if (samples % degrees_.data() != 0 || samples == 0) {
      add(concat("micro-batches of ", samples, " samples on ", degrees_.data(),
                 " data-parallel ranks"));
    } else {
      // A pipeline cuts the local batch; without one, batches accumulate.
      set("local_batch_size", samples / degrees_.data() * (degrees_.stage > 1 ? microBatches : 1));
      set("global_batch_size", samples * microBatches);
    }
    if (tokens)
      set("seq_len", tokens / samples);
    const std::string clip = option("clip-norm");
    set("max_norm", clip.empty() ? "inf # no clipping" : clip);
    writeTypes();
    if (std::ranges::any_of(plan_.programs(),
                            [](const plan::Program &p) { return p.arenas_size() > 1; }))
      add("which values are kept in host memory or files; enable_cpu_offload moves all parameters, "
          "gradients and states");
  }

  void writeTypes() {
    std::map<plan::DType, size_t> types;
    for (const plan::Tensor &tensor : plan_.tensors())
      if (tensor.role() == plan::PARAMETER)
        ++types[tensor.dtype()];
    const bool isLow = types.size() == 1 && types.contains(plan::BF16);
    const std::string dtype = option("dtype");
    set("dtype", quoted(isLow ? "bfloat16" : "float32"));
    set("mixed_precision_param", quoted(isLow || dtype == "bf16" ? "bfloat16" : "float32"));
    if (!isLow && (types.size() != 1 || !types.contains(plan::F32)))
      add("parameters of other types than float32 and bfloat16, or of several");
    if (!dtype.empty() && dtype != "f32" && dtype != "bf16")
      add("products in the types of --dtype " + dtype);
    const bool isSharded = degrees_.shard * degrees_.context > 1;
    if (dtype == "bf16" && !isSharded && degrees_.tensor * degrees_.stage > 1)
      add("products in bf16 without FSDP; torchtitan's mixed precision comes with FSDP or DDP");
  }

  void writeParallelism() {
    section("parallelism");
    set("data_parallel_replicate_degree", degrees_.replicate);
    set("data_parallel_shard_degree", degrees_.shard);
    writeGathering();
    set("tensor_parallel_degree", degrees_.tensor);
    set("context_parallel_degree", degrees_.context);
    set("expert_parallel_degree", degrees_.expert);
  }

  // Whether gathered parameters are gathered again for the backward pass.
  void writeGathering() {
    size_t once = 0, again = 0;
    for (const plan::Decision &decision : plan_.decisions())
      if (decision.gathering() != plan::NOT_GATHERED)
        ++(decision.gathering() == plan::GATHERED_AGAIN ? again : once);
    if (once + again == 0)
      return;
    set("fsdp_reshard_after_forward", quoted(once == 0    ? "always"
                                             : again == 0 ? "never"
                                                          : "default"));
    if (once && again)
      add(concat("of the gathered parameters, ", once, " stay gathered for the backward pass and ",
                 again, " do not"));
  }

  void writePipeline() {
    set("pipeline_parallel_degree", degrees_.stage);
    if (degrees_.stage == 1)
      return;
    if (samplesOf(plan_) % degrees_.data() == 0)
      set("pipeline_parallel_microbatch_size", samplesOf(plan_) / degrees_.data());
    const std::string given = option("schedule"), schedule = given.empty() ? "1f1b" : given;
    if (const auto known = kSchedules.find(schedule); known != kSchedules.end())
      set("pipeline_parallel_schedule", quoted(known->second));
    else
      add("the schedule " + schedule);
    if (const std::string chunks = option("chunks"); !chunks.empty())
      add("--chunks " + chunks + ", the parts of the model on each stage");
    add("where the model is cut into stages; --dtensor has the stages of every parameter, from "
        "which module_fqns_per_model_part can be written");
  }

  // Shares of the bytes that the backward pass reads of the forward pass.
  void writeCheckpointing() {
    uint64_t recomputed = 0, kept = 0;
    size_t count = 0;
    for (const plan::Decision &decision : plan_.decisions())
      if (decision.is_of_parameters())
        continue; // fsdp_reshard_after_forward
      else if (decision.kind() == "recompute")
        recomputed += decision.bytes(), ++count;
      else if (decision.kind() == "kept")
        kept += decision.bytes();
    constexpr double kFew = 0.05, kMost = 0.75;
    const double share = recomputed + kept ? double(recomputed) / double(recomputed + kept) : 0;
    section("activation_checkpoint");
    set("mode", quoted(share < kFew ? "none" : share < kMost ? "selective" : "full"));
    if (share >= kFew && share < kMost)
      set("selective_ac_option", quoted("op"));
    if (count)
      add(concat("which ", count, " values are recomputed, ", percentText(share),
                 " of the bytes that the backward pass reads"));
  }

  const plan::Plan &plan_;
  const std::string &path_;
  TorchtitanDegrees degrees_;
  std::vector<std::string> missing_;
  std::string body_;
};

} // namespace

// Plans of several ranks have a strategy with the kinds of their axes; those of one rank have none.
static bool hasKinds(const plan::Plan &plan) {
  return std::ranges::all_of(plan.decisions(), [](const plan::Decision &decision) {
    return decision.kind() != "strategy" || !decision.choice().empty();
  });
}

Result<Exported> torchtitanView(const plan::Plan &plan, const std::string &path) {
  if (!plan.trains())
    return Status::userError("'", path, "' is a plan for inference, which torchtitan does not do");
  if (!hasKinds(plan))
    return Status::userError("'", path, "' does not say what its axes are: an older version of ",
                             "Cleave made it; compile the model again");
  return Writer(plan, path).write();
}

} // namespace cleave::dump
