// The table of the zoo, and the constraints on sizes.
#include "compiler/zoo/Zoo.h"

#include "compiler/zoo/Architectures.h"
#include "runtime/base/Nearest.h"

#include <algorithm>

namespace cleave::zoo {
namespace {

// A row of the table: name, default sizes, function that builds the network.
struct Architecture {
  const char *name;
  Sizes sizes;
  void (*build)(Builder &b, const Sizes &sizes);
};

Sizes gpt(int64_t layers, int64_t hidden, int64_t heads, int64_t context) {
  return {{"layers", layers},  {"hidden", hidden}, {"heads", heads},
          {"ffn", 4 * hidden}, {"vocab", 50257},   {"context", context}};
}

Sizes llama(int64_t layers, int64_t hidden, int64_t heads, int64_t groups, int64_t inner,
            int64_t vocabulary, int64_t base) {
  return {{"layers", layers}, {"hidden", hidden},    {"heads", heads},   {"kv-heads", groups},
          {"ffn", inner},     {"vocab", vocabulary}, {"rope-base", base}};
}

Sizes mixtral(int64_t layers, int64_t hidden, int64_t heads, int64_t inner) {
  Sizes sizes = llama(layers, hidden, heads, 8, inner, 32000, 1000000);
  sizes["experts"] = 8;
  sizes["top-k"] = 2;
  return sizes;
}

Sizes bert(int64_t layers, int64_t hidden, int64_t heads) {
  return {{"layers", layers},  {"hidden", hidden}, {"heads", heads},
          {"ffn", 4 * hidden}, {"vocab", 30522},   {"context", 512}};
}

Sizes t5(int64_t layers, int64_t hidden, int64_t heads, int64_t size, int64_t inner) {
  return {{"layers", layers},  {"hidden", hidden}, {"heads", heads},
          {"head-size", size}, {"ffn", inner},     {"vocab", 32128}};
}

Sizes whisper(int64_t layers, int64_t hidden, int64_t heads, int64_t mels, int64_t vocabulary) {
  return {{"layers", layers}, {"hidden", hidden}, {"heads", heads}, {"ffn", 4 * hidden},
          {"mels", mels},     {"frames", 1500},   {"context", 448}, {"vocab", vocabulary}};
}

Sizes vit(int64_t layers, int64_t hidden, int64_t heads, int64_t patch) {
  return {{"layers", layers}, {"hidden", hidden}, {"heads", heads}, {"ffn", 4 * hidden},
          {"patch", patch},   {"image", 224},     {"classes", 1000}};
}

const Sizes kImage = {{"image", 224}, {"classes", 1000}};

// The channels of a VGG's convolutions; 0 is a pooling layer, which ends a stage.
std::vector<int> vgg(std::vector<int> perStage) {
  std::vector<int> channels;
  for (size_t stage = 0; stage < perStage.size(); ++stage) {
    channels.insert(channels.end(), size_t(perStage[stage]), std::min(64 << stage, 512));
    channels.push_back(0);
  }
  return channels;
}

template <Block block, int width, int... blocks> void resnet(Builder &b, const Sizes &sizes) {
  buildResnet(b, sizes, block, {blocks...}, width);
}
template <int... perStage> void vgg(Builder &b, const Sizes &sizes) {
  buildVgg(b, sizes, vgg(std::vector<int>{perStage...}));
}
template <int first, int growth, int... blocks> void densenet(Builder &b, const Sizes &sizes) {
  buildDensenet(b, sizes, first, growth, {blocks...});
}

const std::vector<Architecture> &rows() {
  static const std::vector<Architecture> rows = {
      {"gpt2", gpt(12, 768, 12, 1024), buildGpt},
      {"gpt2-medium", gpt(24, 1024, 16, 1024), buildGpt},
      {"gpt2-large", gpt(36, 1280, 20, 1024), buildGpt},
      {"gpt2-xl", gpt(48, 1600, 25, 1024), buildGpt},
      {"gpt3", gpt(96, 12288, 96, 2048), buildGpt},
      {"llama2-7b", llama(32, 4096, 32, 32, 11008, 32000, 10000), buildLlama},
      {"llama2-70b", llama(80, 8192, 64, 8, 28672, 32000, 10000), buildLlama},
      {"llama3-8b", llama(32, 4096, 32, 8, 14336, 128256, 500000), buildLlama},
      {"llama3-70b", llama(80, 8192, 64, 8, 28672, 128256, 500000), buildLlama},
      {"llama3-405b", llama(126, 16384, 128, 8, 53248, 128256, 500000), buildLlama},
      {"mixtral-8x7b", mixtral(32, 4096, 32, 14336), buildLlama},
      {"mixtral-8x22b", mixtral(56, 6144, 48, 16384), buildLlama},
      {"bert-base", bert(12, 768, 12), buildBert},
      {"bert-large", bert(24, 1024, 16), buildBert},
      {"t5-small", t5(6, 512, 8, 64, 2048), buildT5},
      {"t5-base", t5(12, 768, 12, 64, 3072), buildT5},
      {"t5-large", t5(24, 1024, 16, 64, 4096), buildT5},
      {"t5-3b", t5(24, 1024, 32, 128, 16384), buildT5},
      {"t5-11b", t5(24, 1024, 128, 128, 65536), buildT5},
      {"whisper-tiny", whisper(4, 384, 6, 80, 51865), buildWhisper},
      {"whisper-base", whisper(6, 512, 8, 80, 51865), buildWhisper},
      {"whisper-small", whisper(12, 768, 12, 80, 51865), buildWhisper},
      {"whisper-medium", whisper(24, 1024, 16, 80, 51865), buildWhisper},
      {"whisper-large", whisper(32, 1280, 20, 128, 51866), buildWhisper},
      {"vit_b_16", vit(12, 768, 12, 16), buildVit},
      {"vit_b_32", vit(12, 768, 12, 32), buildVit},
      {"vit_l_16", vit(24, 1024, 16, 16), buildVit},
      {"vit_h_14", vit(32, 1280, 16, 14), buildVit},
      {"unet", {{"layers", 4}, {"hidden", 64}, {"image", 512}, {"classes", 2}}, buildUnet},
      {"resnet18", kImage, resnet<Block::Basic, 1, 2, 2, 2, 2>},
      {"resnet34", kImage, resnet<Block::Basic, 1, 3, 4, 6, 3>},
      {"resnet50", kImage, resnet<Block::Bottleneck, 1, 3, 4, 6, 3>},
      {"resnet101", kImage, resnet<Block::Bottleneck, 1, 3, 4, 23, 3>},
      {"resnet152", kImage, resnet<Block::Bottleneck, 1, 3, 8, 36, 3>},
      {"wide_resnet50_2", kImage, resnet<Block::Bottleneck, 2, 3, 4, 6, 3>},
      {"wide_resnet101_2", kImage, resnet<Block::Bottleneck, 2, 3, 4, 23, 3>},
      {"vgg11", kImage, vgg<1, 1, 2, 2, 2>},
      {"vgg13", kImage, vgg<2, 2, 2, 2, 2>},
      {"vgg16", kImage, vgg<2, 2, 3, 3, 3>},
      {"vgg19", kImage, vgg<2, 2, 4, 4, 4>},
      {"densenet121", kImage, densenet<64, 32, 6, 12, 24, 16>},
      {"densenet161", kImage, densenet<96, 48, 6, 12, 36, 24>},
      {"densenet169", kImage, densenet<64, 32, 6, 12, 32, 32>},
      {"densenet201", kImage, densenet<64, 32, 6, 12, 48, 32>},
  };
  return rows;
}

int64_t sizeOr(const Sizes &sizes, const char *name, int64_t absent) {
  auto found = sizes.find(name);
  return found == sizes.end() ? absent : found->second;
}

// A user error if sizes are out of range or inconsistent.
Status checkSizes(const std::string &name, const Sizes &sizes) {
  auto number = [&](const char *size) { return sizes.at(size); };
  for (const auto &[size, value] : sizes)
    if (value < 1 || value > (int64_t(1) << 32))
      return Status::userError("found --", size, " ", value, ", expected 1 to 2^32");
  if (sizes.contains("heads") && !sizes.contains("head-size") &&
      sizes.at("hidden") % sizes.at("heads"))
    return Status::userError("found --hidden ", number("hidden"), " with --heads ", number("heads"),
                             ", expected a hidden size that the heads divide");
  if (sizes.contains("rope-base") && sizes.at("hidden") / sizes.at("heads") % 2)
    return Status::userError(
        "found heads of odd size, expected an even one: rotary positions work on pairs");
  if (sizes.contains("kv-heads") && sizes.at("heads") % sizes.at("kv-heads"))
    return Status::userError("found --heads ", number("heads"), " with --kv-heads ",
                             number("kv-heads"),
                             ", expected a number of heads that the key and value heads divide");
  if (sizeOr(sizes, "top-k", 1) > sizeOr(sizes, "experts", 1))
    return Status::userError("found --top-k ", number("top-k"), " of --experts ", number("experts"),
                             ", expected at most as many as there are");
  if (sizes.contains("patch") && sizes.at("image") % sizes.at("patch"))
    return Status::userError("found --image ", number("image"), " with --patch ", number("patch"),
                             ", expected a side that the patches divide");
  if (name.starts_with("vgg") && sizes.at("image") % 224)
    return Status::userError(
        "found --image ", number("image"),
        ", expected a multiple of 224: the exporter writes VGG's last pooling so");
  if (name == "unet" &&
      (sizes.at("layers") > 16 || sizes.at("image") % (1ll << sizes.at("layers"))))
    return Status::userError("found --image ", number("image"), " with --layers ", number("layers"),
                             ", expected a side that can be halved so often");
  return Status::ok();
}

} // namespace

const std::vector<SizeName> &sizeNames() {
  static const std::vector<SizeName> names = {
      {"layers", "layers of the stack (of each, where there are two)"},
      {"hidden", "width of the residual stream; channels of the first convolution"},
      {"heads", "attention heads"},
      {"kv-heads", "heads of keys and values"},
      {"head-size", "width of one head, where hidden / heads does not say it"},
      {"ffn", "inner width of the feed-forward layers"},
      {"experts", "experts per layer"},
      {"top-k", "experts per token"},
      {"vocab", "words"},
      {"context", "longest sequence that has positions"},
      {"rope-base", "base of the rotary positions"},
      {"mels", "frequencies of the sound"},
      {"frames", "positions of the encoded sound"},
      {"image", "side of the images"},
      {"patch", "side of the patches"},
      {"classes", "classes"},
  };
  return names;
}

const std::vector<Entry> &entries() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> out;
    for (const Architecture &row : rows())
      out.push_back({row.name, row.sizes});
    return out;
  }();
  return entries;
}

Result<onnx::Model> build(const std::string &name, const std::map<std::string, int64_t> &sizes,
                          const std::map<std::string, int64_t> &symbols) {
  auto row = std::find_if(rows().begin(), rows().end(),
                          [&](const Architecture &row) { return name == row.name; });
  std::vector<std::string> known;
  if (row == rows().end()) {
    for (const Architecture &other : rows())
      known.push_back(other.name);
    return Status::userError("unknown architecture '", name, "'", suggestion(name, known));
  }
  Sizes all = row->sizes;
  for (const auto &[size, value] : sizes) {
    if (!all.contains(size)) {
      for (const auto &[other, ignored] : all)
        known.push_back("--" + other);
      return Status::userError("found --", size, ", but ", name, " has only ", oneOf(known));
    }
    all[size] = value;
  }
  // Without a given `ffn` its ratio to `hidden` is kept.
  if (sizes.contains("hidden") && !sizes.contains("ffn") && all.contains("ffn"))
    all["ffn"] = row->sizes.at("ffn") * all["hidden"] / row->sizes.at("hidden");
  CLEAVE_TRY(checkSizes(name, all));
  Builder b(name, symbols);
  row->build(b, all);
  return b.finish();
}

} // namespace cleave::zoo
