// Every architecture of the zoo has exactly as many parameters as its framework's implementation;
// tied ones count once.
#include "compiler/zoo/Zoo.h"

#include <catch2/catch.hpp>

#include <map>

namespace cleave::zoo {
namespace {

// The source of a number. Hugging Face: transformers' classes with the published configuration of
// that name (`num_parameters()`; the model cards have the same numbers, rounded). torchvision: its
// table of weights (`num_params`), at 224 x 224 and 1000 classes.
enum class Source {
  Gpt2LMHeadModel,  // GPT-3 with the sizes of its paper's table 2.1, where it has 175.0B
  LlamaForCausalLM, // Llama 2 and 3.1
  MixtralForCausalLM,
  BertForMaskedLM, // uncased
  T5ForConditionalGeneration,
  WhisperForConditionalGeneration, // large: v3
  Torchvision,
  PytorchUNet, // github.com/milesial/Pytorch-UNet: 3 channels, 2 classes, transposed convolutions
};

struct Known {
  const char *name;
  int64_t parameters;
  Source source;
};

constexpr Known kKnown[] = {
    {"gpt2", 124439808, Source::Gpt2LMHeadModel},
    {"gpt2-medium", 354823168, Source::Gpt2LMHeadModel},
    {"gpt2-large", 774030080, Source::Gpt2LMHeadModel},
    {"gpt2-xl", 1557611200, Source::Gpt2LMHeadModel},
    {"gpt3", 174604259328, Source::Gpt2LMHeadModel},
    {"llama2-7b", 6738415616, Source::LlamaForCausalLM},
    {"llama2-70b", 68976648192, Source::LlamaForCausalLM},
    {"llama3-8b", 8030261248, Source::LlamaForCausalLM},
    {"llama3-70b", 70553706496, Source::LlamaForCausalLM},
    {"llama3-405b", 405853388800, Source::LlamaForCausalLM},
    {"mixtral-8x7b", 46702792704, Source::MixtralForCausalLM},
    {"mixtral-8x22b", 140620634112, Source::MixtralForCausalLM},
    {"bert-base", 109514298, Source::BertForMaskedLM},
    {"bert-large", 335174458, Source::BertForMaskedLM},
    {"t5-small", 60506624, Source::T5ForConditionalGeneration},
    {"t5-base", 222903552, Source::T5ForConditionalGeneration},
    {"t5-large", 737668096, Source::T5ForConditionalGeneration},
    {"t5-3b", 2851598336, Source::T5ForConditionalGeneration},
    {"t5-11b", 11307321344, Source::T5ForConditionalGeneration},
    {"whisper-tiny", 37760640, Source::WhisperForConditionalGeneration},
    {"whisper-base", 72593920, Source::WhisperForConditionalGeneration},
    {"whisper-small", 241734912, Source::WhisperForConditionalGeneration},
    {"whisper-medium", 763857920, Source::WhisperForConditionalGeneration},
    {"whisper-large", 1543490560, Source::WhisperForConditionalGeneration},
    {"vit_b_16", 86567656, Source::Torchvision},
    {"vit_b_32", 88224232, Source::Torchvision},
    {"vit_l_16", 304326632, Source::Torchvision},
    {"vit_h_14", 632045800, Source::Torchvision},
    {"unet", 31037698, Source::PytorchUNet},
    {"resnet18", 11689512, Source::Torchvision},
    {"resnet34", 21797672, Source::Torchvision},
    {"resnet50", 25557032, Source::Torchvision},
    {"resnet101", 44549160, Source::Torchvision},
    {"resnet152", 60192808, Source::Torchvision},
    {"wide_resnet50_2", 68883240, Source::Torchvision},
    {"wide_resnet101_2", 126886696, Source::Torchvision},
    {"vgg11", 132863336, Source::Torchvision},
    {"vgg13", 133047848, Source::Torchvision},
    {"vgg16", 138357544, Source::Torchvision},
    {"vgg19", 143667240, Source::Torchvision},
    {"densenet121", 7978856, Source::Torchvision},
    {"densenet161", 28681000, Source::Torchvision},
    {"densenet169", 14149480, Source::Torchvision},
    {"densenet201", 20013928, Source::Torchvision},
};

// Running statistics are buffers.
bool isStatistic(const std::string &name) {
  return name.ends_with("running_mean") || name.ends_with("running_var");
}

TEST_CASE("every architecture has the published number of parameters") {
  std::map<std::string, int64_t> known;
  for (const Known &row : kKnown)
    known[row.name] = row.parameters;
  CHECK(known.size() == entries().size());
  for (const Entry &entry : entries()) {
    INFO(entry.name);
    Result<onnx::Model> model = build(entry.name, {});
    REQUIRE(model.status().isOk());
    int64_t count = 0;
    for (const onnx::StoredTensor &tensor : model->graph.initializers)
      if (!isStatistic(tensor.name))
        count += tensor.elementCount();
    REQUIRE(known.contains(entry.name));
    CHECK(count == known[entry.name]);
  }
}

} // namespace
} // namespace cleave::zoo
