// From an image to the values of a model's input: which part of it is taken, its size, whether it
// is mirrored, and the scale of the values. Random choices depend on a key alone.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/image/Resample.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::image {

// Which part of an image is taken.
enum class Crop {
  Center,        // of the resized image
  Random,        // of the resized image with `padding` black pixels on each side
  RandomResized, // a random part of the image, resized
};

// The --image options of cleave-run.
struct TransformOptions {
  // The length of the shorter side of the resized image, in pixels; else the image is as small as
  // it may be for the model.
  std::optional<int64_t> resize;
  Crop crop = Crop::Center;
  int64_t padding = 0;     // of Crop::Random
  double leastArea = 0.08; // of Crop::RandomResized: the least share of the image's area
  bool flips = false;      // mirrors left and right in half of the cases
  // Per channel, or one for all: a value v of [0, 1] becomes (v - mean) / deviation. Empty: 0, 1.
  std::vector<double> mean, deviation;

  bool operator==(const TransformOptions &) const = default;
  // The same without random choices, for evaluation and inference.
  TransformOptions withoutChance() const;
};

// Reads the value of --image-crop: `center`, `random[:padding=N]`, `random-resized[:area=A]`.
Status readCrop(const std::string &text, TransformOptions &options);

// What of an image is taken: `part` of it is resized to `to`; `window` of the result is mirrored or
// not.
struct Geometry {
  Rect part;
  Size to;
  Rect window;
  bool isMirrored = false;
};

class Transform {
public:
  // For a model's input of this size, in pixels, and this number of channels. User errors: the
  // options contradict the size or the channels.
  static Result<Transform> create(const TransformOptions &options, Size size, int64_t channels);

  // The choice for an image of this size. Equal keys choose equally; other keys independently.
  Geometry choose(Size image, uint64_t key) const;
  // The pixels for the model, before they are scaled.
  Image apply(const Image &image, uint64_t key) const;
  // The value of a channel for a pixel's 8 bits.
  float value(int64_t channel, uint8_t pixel) const {
    return values_[size_t(channel) * 256 + pixel];
  }

  // For people: `resized to 256, random crop of 224 x 224, mirrored at random`.
  std::string description() const;

private:
  Transform(const TransformOptions &options, Size size) : options_(options), size_(size) {}

  TransformOptions options_;
  Size size_;
  std::vector<float> values_; // 256 per channel
};

} // namespace cleave::image
