// See Transform.h. The geometry is that of torchvision's Resize, CenterCrop, RandomCrop and
// RandomResizedCrop.
#include "runtime/image/Transform.h"

#include "runtime/base/CounterRandom.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cleave::image {
namespace {

// The random numbers of one image.
class Draws {
public:
  explicit Draws(uint64_t key) : key_(hashedKey(key)) {}

  // In [low, high).
  double between(double low, double high) {
    return low + (high - low) * double(randomNumber(counter_++, key_));
  }
  // One of 0, …, count - 1.
  int64_t below(int64_t count) { return std::min(count - 1, int64_t(between(0, double(count)))); }

private:
  uint64_t key_, counter_ = 0;
};

// The size of the whole image, resized so that its shorter side has `side` pixels.
Size withShortSide(Size image, int64_t side) {
  const auto [height, width] = image;
  return height <= width ? Size{side, side * width / height} : Size{side * height / width, side};
}

// The least size of the image's proportions that covers `size`.
Size covering(Size image, Size size) {
  const int64_t height = size.width * image.height / image.width;
  if (height >= size.height)
    return {height, size.width};
  return {size.height, std::max(size.width, size.height * image.width / image.height)};
}

// Half to even, as Python rounds.
int64_t half(int64_t odd) { return std::llrint(double(odd) / 2); }

// A random part of the image with a random proportion, as RandomResizedCrop chooses it: ten
// attempts, then the middle.
Rect randomPart(Size image, double leastArea, Draws &draws) {
  const double least = 3.0 / 4.0, most = 4.0 / 3.0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = double(image.height * image.width) * draws.between(leastArea, 1);
    const double ratio = std::exp(draws.between(std::log(least), std::log(most)));
    const int64_t width = std::llrint(std::sqrt(area * ratio));
    const int64_t height = std::llrint(std::sqrt(area / ratio));
    if (width < 1 || width > image.width || height < 1 || height > image.height)
      continue;
    const int64_t top = draws.below(image.height - height + 1);
    return {top, draws.below(image.width - width + 1), {height, width}};
  }
  Size part = image;
  if (const double ratio = double(image.width) / double(image.height); ratio < least)
    part.height = std::clamp<int64_t>(std::llrint(double(part.width) / least), 1, image.height);
  else if (ratio > most)
    part.width = std::clamp<int64_t>(std::llrint(double(part.height) * most), 1, image.width);
  return {(image.height - part.height) / 2, (image.width - part.width) / 2, part};
}

void mirror(Image &image) {
  const int64_t channels = image.channels, row = image.size.width * channels;
  for (int64_t y = 0; y < image.size.height; ++y) {
    uint8_t *left = &image.pixels[size_t(y * row)], *right = left + row - channels;
    for (; left < right; left += channels, right -= channels)
      std::swap_ranges(left, left + channels, right);
  }
}

// The factor of a channel: its own, or that of all.
double of(const std::vector<double> &values, int64_t channel, double none) {
  return values.empty() ? none : values[values.size() == 1 ? 0 : size_t(channel)];
}

// Reads `NAME=NUMBER`.
template <typename T> bool readNumber(std::string_view text, std::string_view name, T &value) {
  if (!text.starts_with(name) || text.substr(name.size()).substr(0, 1) != "=")
    return false;
  text.remove_prefix(name.size() + 1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

TransformOptions TransformOptions::withoutChance() const {
  TransformOptions options = *this;
  options.crop = Crop::Center;
  options.flips = false;
  return options;
}

Status readCrop(const std::string &text, TransformOptions &options) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string option = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool hasOption = colon != std::string::npos;
  if (kind == "center" && !hasOption) {
    options.crop = Crop::Center;
    return Status::ok();
  }
  if (kind == "random" && (!hasOption || (readNumber(option, "padding", options.padding) &&
                                          options.padding >= 0 && options.padding <= 1 << 16))) {
    options.crop = Crop::Random;
    return Status::ok();
  }
  if (kind == "random-resized" &&
      (!hasOption || (readNumber(option, "area", options.leastArea) && options.leastArea > 0 &&
                      options.leastArea <= 1))) {
    options.crop = Crop::RandomResized;
    return Status::ok();
  }
  return Status::userError("found '", text,
                           "', expected center, random, random:padding=N in pixels, "
                           "random-resized, or random-resized:area=A with A above 0 and at most 1");
}

Result<Transform> Transform::create(const TransformOptions &options, Size size, int64_t channels) {
  if (const int64_t most = std::max(size.height, size.width); options.resize.value_or(most) < most)
    return Status::userError("found --image-resize ", *options.resize,
                             ", but the model reads images of ", size.height, " x ", size.width,
                             " pixels; expected at least ", most);
  for (const auto &[values, name] :
       {std::pair(&options.mean, "--image-mean"), {&options.deviation, "--image-std"}})
    if (values->size() > 1 && int64_t(values->size()) != channels)
      return Status::userError(
          "found ", values->size(), " values of ", name, ", but the model's images have ", channels,
          channels == 1 ? " channel" : " channels", "; expected one for each, or one for all");
  Transform transform(options, size);
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int pixel = 0; pixel < 256; ++pixel)
      transform.values_.push_back((float(pixel) / 255.0f - float(of(options.mean, channel, 0))) /
                                  float(of(options.deviation, channel, 1)));
  return transform;
}

Geometry Transform::choose(Size image, uint64_t key) const {
  Draws draws(key);
  Geometry geometry{{0, 0, image}, image, {0, 0, size_}};
  if (options_.crop == Crop::RandomResized) {
    geometry.part = randomPart(image, options_.leastArea, draws);
    geometry.to = size_;
  } else {
    geometry.to = options_.resize ? withShortSide(image, *options_.resize) : covering(image, size_);
    const int64_t down = geometry.to.height - size_.height, right = geometry.to.width - size_.width;
    geometry.window.top = half(down), geometry.window.left = half(right);
    if (options_.crop == Crop::Random) {
      geometry.window.top = draws.below(down + 2 * options_.padding + 1) - options_.padding;
      geometry.window.left = draws.below(right + 2 * options_.padding + 1) - options_.padding;
    }
  }
  geometry.isMirrored = options_.flips && draws.between(0, 1) < 0.5;
  return geometry;
}

Image Transform::apply(const Image &image, uint64_t key) const {
  const Geometry geometry = choose(image.size, key);
  Image result = resample(image, geometry.part, geometry.to, geometry.window);
  if (geometry.isMirrored)
    mirror(result);
  return result;
}

std::string Transform::description() const {
  const std::string size = concat(size_.width, " x ", size_.height);
  std::string text;
  if (options_.crop == Crop::RandomResized)
    text = concat("random parts resized to ", size);
  else if (options_.resize)
    text = concat("resized to ", *options_.resize, ", ",
                  options_.crop == Crop::Random ? "random crop of " : "centre crop of ", size);
  else
    text = concat(options_.crop == Crop::Random ? "random crop of " : "centre crop of ", size);
  return options_.flips ? text + ", mirrored at random" : text;
}

} // namespace cleave::image
