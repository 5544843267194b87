// Each column of a profile with symbols, evaluated at some sizes, equals that of a profile computed
// for these sizes. Sizes are at least 2 and below the lengths of the models' tables: at exactly
// such a length the op that slices the table disappears from the latter profile.
#include "test/unit/profile/ZooProfile.h"

#include "compiler/zoo/Builder.h"
#include "compiler/zoo/Layers.h"

#include <algorithm>

namespace cleave::profile {
namespace {

using Sizes = std::map<std::string, int64_t>;

// All amounts of a profile, by name.
std::map<std::string, int64_t> amountsOf(const Profile &profile) {
  const Amounts &total = profile.total;
  int64_t peak = 0;
  for (const Peak &candidate : profile.peaks)
    peak = std::max(peak, number(candidate.bytes));
  return {{"parameters", number(total.parameters)},
          {"parameter bytes", number(total.parameterBytes)},
          {"forward MACs", number(total.forwardMacs)},
          {"backward MACs", number(total.backwardMacs)},
          {"forward FLOPs", number(total.forwardFlops)},
          {"backward FLOPs", number(total.backwardFlops)},
          {"update FLOPs", number(total.updateFlops)},
          {"output bytes", number(total.outputBytes)},
          {"saved bytes", number(total.savedBytes)},
          {"input bytes", number(profile.inputBytes)},
          {"state bytes", number(profile.stateBytes)},
          {"gradient bytes", number(profile.gradientBytes)},
          {"peak bytes", peak}};
}

// `options` without values of symbols.
void checkSizes(const onnx::Model &model, const driver::CompileOptions &options,
                const std::vector<Sizes> &sizes) {
  Profile symbolic = profileOf(model, options);
  for (const Sizes &each : sizes) {
    driver::CompileOptions numeric = options;
    numeric.symbols = each;
    std::string text;
    for (const auto &[symbol, size] : each)
      text += " " + symbol + "=" + std::to_string(size);
    INFO(text);
    Profile fresh = profileOf(model, numeric);
    CHECK(fresh.peaks.size() == 1);
    std::map<std::string, int64_t> wanted = amountsOf(fresh);
    for (const auto &[name, amount] : amountsOf(symbolic.substitute(each))) {
      INFO(name);
      CHECK(amount == wanted[name]);
    }
  }
}

const std::vector<Sizes> kBatches = {{{"batch", 2}}, {{"batch", 5}}, {{"batch", 4000}}};

TEST_CASE("networks on images: every amount follows from the batch") {
  for (const char *name : {"vgg11", "resnet18", "densenet121", "wide_resnet50_2", "vit_b_16"}) {
    INFO(name);
    checkSizes(zooModel(name), training({}), kBatches);
  }
  checkSizes(zooModel("unet", {{"image", 64}, {"hidden", 8}}), trainingOn("mse:logits"), kBatches);
}

TEST_CASE("a convolution: every amount follows from batch, height and width") {
  for (zoo::Window window : {zoo::Window{5}, zoo::Window{3, 2, 1}}) {
    zoo::Builder b("conv", {});
    zoo::Value x = b.input("x", ElementType::F32, {"batch", "3", "height", "width"});
    x = conv2d(b, "conv", x, 3, 8, window, true);
    x = relu(b, batchNorm(b, "norm", x, 8));
    x = conv2d(b, "head", x, 8, 2, {3, 2, 1}, true);
    b.output("y", x, {"batch", "2", "", ""});
    checkSizes(b.finish(), trainingOn("mse:y"),
               {{{"batch", 2}, {"height", 17}, {"width", 32}},
                {{"batch", 3}, {"height", 64}, {"width", 65}},
                {{"batch", 4000}, {"height", 224}, {"width", 224}}});
  }
}

const std::vector<Sizes> kSequences = {{{"batch", 2}, {"seq", 5}},
                                       {{"batch", 4}, {"seq", 64}},
                                       {{"batch", 32}, {"seq", 16}},
                                       {{"batch", 7}, {"seq", 33}}};

TEST_CASE("transformers: every amount follows from batch and length") {
  const Sizes small = {{"layers", 2}, {"hidden", 32}, {"heads", 4}, {"vocab", 50}};
  auto with = [&](Sizes sizes) {
    sizes.insert(small.begin(), small.end());
    return sizes;
  };
  checkSizes(zooModel("gpt2", with({{"context", 80}})), training({}), kSequences);
  checkSizes(zooModel("llama3-8b", with({{"kv-heads", 2}, {"ffn", 48}})), training({}), kSequences);
  checkSizes(zooModel("bert-base", with({{"context", 80}})), training({}), kSequences);
  checkSizes(zooModel("mixtral-8x7b", with({{"kv-heads", 2}, {"ffn", 48}, {"experts", 4}})),
             training({}), kSequences);
  checkSizes(
      zooModel("whisper-base", with({{"context", 80}, {"ffn", 48}, {"mels", 8}, {"frames", 12}})),
      training({}), kSequences);
}

TEST_CASE("an encoder with a decoder: every amount follows from batch and both lengths") {
  checkSizes(zooModel("t5-base", {{"layers", 2},
                                  {"hidden", 32},
                                  {"heads", 4},
                                  {"head-size", 8},
                                  {"ffn", 48},
                                  {"vocab", 50}}),
             training({}),
             {{{"batch", 2}, {"seq", 5}, {"target", 9}},
              {{"batch", 4}, {"seq", 64}, {"target", 16}},
              {{"batch", 32}, {"seq", 16}, {"target", 64}}});
}

TEST_CASE("inference: every amount follows from the symbols") {
  driver::CompileOptions options;
  checkSizes(zooModel("gpt2", {{"layers", 2}, {"hidden", 32}, {"heads", 4}, {"vocab", 50}}),
             options, kSequences);
}

} // namespace
} // namespace cleave::profile
