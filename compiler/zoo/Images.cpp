// Networks on images, with the names of torchvision; the U-Net with those of its common PyTorch
// version.
#include "compiler/zoo/Architectures.h"
#include "compiler/zoo/Layers.h"

#include <cmath>

namespace cleave::zoo {
namespace {

// An input of square images with `channels` channels.
Value images(Builder &b, const Sizes &sizes, int64_t channels) {
  std::string side = std::to_string(sizes.at("image"));
  return b.input("x", ElementType::F32, {"batch", std::to_string(channels), side, side});
}

Value convNormRelu(Builder &b, const std::string &conv, const std::string &norm, const Value &x,
                   int64_t in, int64_t out, Window window) {
  return relu(b, batchNorm(b, norm, conv2d(b, conv, x, in, out, window), out));
}

// -- ResNet ---------------------------------------------------------------------------------------

struct Stage {
  Block block;
  int64_t inner, out, stride;
};

Value resnetBlock(Builder &b, const Value &x, int64_t in, const Stage &stage) {
  Value y;
  if (stage.block == Block::Basic) {
    y = convNormRelu(b, "conv1", "bn1", x, in, stage.inner, {3, stage.stride, 1});
    y = batchNorm(b, "bn2", conv2d(b, "conv2", y, stage.inner, stage.out, {3, 1, 1}), stage.out);
  } else {
    y = convNormRelu(b, "conv1", "bn1", x, in, stage.inner, {1});
    y = convNormRelu(b, "conv2", "bn2", y, stage.inner, stage.inner, {3, stage.stride, 1});
    y = batchNorm(b, "bn3", conv2d(b, "conv3", y, stage.inner, stage.out, {1}), stage.out);
  }
  Value skipped = x;
  if (stage.stride != 1 || in != stage.out) {
    Builder::Module module(b, "downsample");
    skipped = conv2d(b, "0", x, in, stage.out, {1, stage.stride});
    skipped = batchNorm(b, "1", skipped, stage.out);
  }
  return relu(b, b.add(y, skipped));
}

// -- DenseNet -------------------------------------------------------------------------------------

Value denseBlock(Builder &b, Value x, int64_t channels, int64_t growth, int layers) {
  for (int i = 1; i <= layers; ++i) {
    Builder::Module layer(b, concat("denselayer", i));
    int64_t in = channels + (i - 1) * growth;
    Value y = relu(b, batchNorm(b, "norm1", x, in));
    y = conv2d(b, "conv1", y, in, 4 * growth, {1});
    y = relu(b, batchNorm(b, "norm2", y, 4 * growth));
    y = conv2d(b, "conv2", y, 4 * growth, growth, {3, 1, 1});
    x = b.op("Concat", {x, y}, {attribute("axis", 1)});
  }
  return x;
}

// -- ViT ------------------------------------------------------------------------------------------

Value vitAttention(Builder &b, const Value &x, const Size &batch, int64_t length, int64_t width,
                   int64_t heads) {
  Builder::Module module(b, "self_attention");
  Value weight = b.parameter("in_proj_weight", {3 * width, width}, normal(0.02));
  Value packed = b.add(b.matmul(x, b.transpose(weight, {1, 0})),
                       b.parameter("in_proj_bias", {3 * width}, fill(0)));
  std::vector<Value> qkv = b.split(packed, 3);
  for (Value &part : qkv)
    part = splitHeads(b, part, batch, length, heads, width / heads);
  Value y = attend(b, qkv[0], qkv[1], qkv[2], {},
                   1 / std::sqrt(static_cast<double>(width) / static_cast<double>(heads)));
  return linear(b, "out_proj", joinHeads(b, y, batch, length, width), width, width);
}

Value vitLayer(Builder &b, const Value &x, const Size &batch, int64_t length, const Sizes &sizes) {
  int64_t width = sizes.at("hidden");
  Value y = layerNorm(b, "ln_1", x, width, 1e-6);
  y = b.add(vitAttention(b, y, batch, length, width, sizes.at("heads")), x);
  Value z = layerNorm(b, "ln_2", y, width, 1e-6);
  {
    Builder::Module mlp(b, "mlp");
    z = gelu(b, linear(b, "0", z, width, sizes.at("ffn")));
    z = linear(b, "3", z, sizes.at("ffn"), width);
  }
  return b.add(y, z);
}

// -- U-Net ----------------------------------------------------------------------------------------

Value doubleConv(Builder &b, const Value &x, int64_t in, int64_t out) {
  Builder::Module module(b, "double_conv");
  Value y = convNormRelu(b, "0", "1", x, in, out, {3, 1, 1});
  return convNormRelu(b, "3", "4", y, out, out, {3, 1, 1});
}

Value upConv(Builder &b, const Value &x, int64_t in, int64_t out) {
  Builder::Module module(b, "up");
  return b.op("ConvTranspose",
              {x, b.parameter("weight", {in, out, 2, 2}, normal(0.02)),
               b.parameter("bias", {out}, fill(0))},
              {attribute("dilations", Dims{1, 1}), attribute("group", 1),
               attribute("kernel_shape", Dims{2, 2}), attribute("pads", Dims{0, 0, 0, 0}),
               attribute("strides", Dims{2, 2})});
}

} // namespace

void buildResnet(Builder &b, const Sizes &sizes, Block block, const std::vector<int> &blocks,
                 int64_t width) {
  Value x = images(b, sizes, 3);
  x = convNormRelu(b, "conv1", "bn1", x, 3, 64, {7, 2, 3});
  x = maxPool(b, x, {3, 2, 1});
  int64_t channels = 64;
  for (size_t s = 0; s < blocks.size(); ++s) {
    int64_t base = int64_t(64) << s;
    Stage stage{block, base * width, block == Block::Basic ? base : 4 * base, s ? 2 : 1};
    for (int i = 0; i < blocks[s]; ++i) {
      Builder::Module module(b, concat("layer", s + 1, ".", i));
      x = resnetBlock(b, x, channels, stage);
      channels = stage.out;
      stage.stride = 1;
    }
  }
  x = globalAverage(b, x, channels);
  x = classifier(b, "fc", x, channels, sizes.at("classes"));
  b.output("logits", x, {"batch", std::to_string(sizes.at("classes"))});
}

void buildVgg(Builder &b, const Sizes &sizes, const std::vector<int> &channels) {
  Value x = images(b, sizes, 3);
  int64_t in = 3, index = 0, side = sizes.at("image");
  for (int out : channels) {
    if (!out) {
      x = maxPool(b, x, {2, 2});
      side /= 2;
      index += 1;
      continue;
    }
    x = relu(b, conv2d(b, concat("features.", index), x, in, out, {3, 1, 1}, true));
    in = out;
    index += 2;
  }
  x = averagePool(b, x, {side / 7, side / 7}); // adaptive, to 7 x 7
  x = b.reshape(x, {-1, in * 49});
  x = relu(b, classifier(b, "classifier.0", x, in * 49, 4096));
  x = relu(b, classifier(b, "classifier.3", x, 4096, 4096));
  x = classifier(b, "classifier.6", x, 4096, sizes.at("classes"));
  b.output("logits", x, {"batch", std::to_string(sizes.at("classes"))});
}

void buildDensenet(Builder &b, const Sizes &sizes, int64_t first, int64_t growth,
                   const std::vector<int> &blocks) {
  Value x = images(b, sizes, 3);
  int64_t channels = first;
  {
    Builder::Module module(b, "features");
    x = convNormRelu(b, "conv0", "norm0", x, 3, first, {7, 2, 3});
    x = maxPool(b, x, {3, 2, 1});
    for (size_t i = 0; i < blocks.size(); ++i) {
      std::string number = std::to_string(i + 1);
      {
        Builder::Module block(b, "denseblock" + number);
        x = denseBlock(b, x, channels, growth, blocks[i]);
      }
      channels += blocks[i] * growth;
      if (i + 1 == blocks.size())
        break;
      Builder::Module transition(b, "transition" + number);
      x = relu(b, batchNorm(b, "norm", x, channels));
      x = averagePool(b, conv2d(b, "conv", x, channels, channels / 2, {1}), {2, 2});
      channels /= 2;
    }
    x = batchNorm(b, "norm5", x, channels);
  }
  x = globalAverage(b, relu(b, x), channels);
  x = classifier(b, "classifier", x, channels, sizes.at("classes"));
  b.output("logits", x, {"batch", std::to_string(sizes.at("classes"))});
}

void buildVit(Builder &b, const Sizes &sizes) {
  int64_t width = sizes.at("hidden"), patch = sizes.at("patch");
  int64_t side = sizes.at("image") / patch, length = side * side + 1;
  Value x = images(b, sizes, 3);
  Size batch = b.sizeOf(x, 0, "batch");
  x = conv2d(b, "conv_proj", x, 3, width, {patch, patch}, true);
  x = b.transpose(b.reshape(x, {batch, width, side * side}), {0, 2, 1});
  Value token = b.expand(b.parameter("class_token", {1, 1, width}, fill(0)), {batch, 1, width});
  x = b.op("Concat", {token, x}, {attribute("axis", 1)});
  {
    Builder::Module module(b, "encoder");
    x = b.add(x, b.parameter("pos_embedding", {1, length, width}, normal(0.02)));
    for (int64_t i = 0; i < sizes.at("layers"); ++i) {
      Builder::Module layer(b, concat("layers.encoder_layer_", i));
      x = vitLayer(b, x, batch, length, sizes);
    }
    x = layerNorm(b, "ln", x, width, 1e-6);
  }
  x = b.op("Gather", {x, b.integer(0)}, {attribute("axis", 1)});
  x = classifier(b, "heads.head", x, width, sizes.at("classes"));
  b.output("logits", x, {"batch", std::to_string(sizes.at("classes"))});
}

void buildUnet(Builder &b, const Sizes &sizes) {
  int64_t channels = sizes.at("hidden"), depth = sizes.at("layers");
  Value x = images(b, sizes, 3);
  std::vector<Value> skipped;
  {
    Builder::Module module(b, "inc");
    x = doubleConv(b, x, 3, channels);
  }
  for (int64_t i = 1; i <= depth; ++i, channels *= 2) {
    Builder::Module module(b, concat("down", i));
    skipped.push_back(x);
    x = maxPool(b, x, {2, 2});
    Builder::Module conv(b, "maxpool_conv.1");
    x = doubleConv(b, x, channels, 2 * channels);
  }
  for (int64_t i = 1; i <= depth; ++i, channels /= 2) {
    Builder::Module module(b, concat("up", i));
    x = upConv(b, x, channels, channels / 2);
    x = b.op("Concat", {skipped[depth - i], x}, {attribute("axis", 1)});
    Builder::Module conv(b, "conv");
    x = doubleConv(b, x, channels, channels / 2);
  }
  std::string side = std::to_string(sizes.at("image"));
  x = conv2d(b, "outc.conv", x, channels, sizes.at("classes"), {1}, true);
  b.output("logits", x, {"batch", std::to_string(sizes.at("classes")), side, side});
}

} // namespace cleave::zoo
