// See Resample.h.
#include "runtime/image/Resample.h"

#include <algorithm>
#include <cmath>

namespace cleave::image {
namespace {

constexpr int kFractionBits = 22; // of weights

// How pixels [begin, end) of a resized line are made of pixels of the line.
struct Weights {
  struct Run {
    int64_t first = 0, count = 0; // of the line's pixels
    size_t at = 0;                // of the first weight in `values`
  };
  std::vector<Run> runs; // one per pixel
  std::vector<int32_t> values;
};

// A line of `from` pixels, resized to `to`.
Weights weightsOf(int64_t from, int64_t to, int64_t begin, int64_t end) {
  const double scale = double(from) / double(to), reach = std::max(scale, 1.0);
  Weights weights;
  std::vector<double> run;
  for (int64_t i = begin; i < end; ++i) {
    const double centre = (double(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, int64_t(centre - reach + 0.5));
    const int64_t last = std::min<int64_t>(from, int64_t(centre + reach + 0.5));
    run.clear();
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
      const double distance = std::abs((double(k) - centre + 0.5) * (1.0 / reach));
      run.push_back(std::max(0.0, 1.0 - distance));
      sum += run.back();
    }
    weights.runs.push_back({first, last - first, weights.values.size()});
    for (double value : run)
      weights.values.push_back(
          int32_t(0.5 + (sum != 0 ? value / sum : value) * double(1 << kFractionBits)));
  }
  return weights;
}

uint8_t rounded(int32_t sum) { return uint8_t(std::clamp<int32_t>(sum >> kFractionBits, 0, 255)); }

constexpr int32_t kHalf = 1 << (kFractionBits - 1);

// One row: `to` gets the pixels of the runs.
template <int kChannels>
void resampleRow(const uint8_t *from, const Weights &weights, uint8_t *to) {
  for (const Weights::Run &run : weights.runs) {
    const uint8_t *pixel = from + run.first * kChannels;
    const int32_t *weight = &weights.values[run.at];
    int32_t sums[kChannels];
    std::fill(sums, sums + kChannels, kHalf);
    for (int64_t k = 0; k < run.count; ++k, pixel += kChannels)
      for (int c = 0; c < kChannels; ++c)
        sums[c] += pixel[c] * weight[k];
    for (int c = 0; c < kChannels; ++c)
      *to++ = rounded(sums[c]);
  }
}

// The window's columns of the rows [first, end) of `part`.
Image resampleColumns(const Image &from, const Rect &part, int64_t width, int64_t left,
                      int64_t columns, int64_t first, int64_t end) {
  Image result{{end - first, columns}, from.channels, {}};
  const int64_t row = columns * from.channels;
  result.pixels.resize(size_t(result.size.height * row));
  const Weights weights = width == part.size.width
                              ? Weights{}
                              : weightsOf(part.size.width, width, left, left + columns);
  for (int64_t y = first; y < end; ++y) {
    const uint8_t *source =
        &from.pixels[size_t(((part.top + y) * from.size.width + part.left) * from.channels)];
    uint8_t *to = &result.pixels[size_t((y - first) * row)];
    if (width == part.size.width)
      std::copy_n(source + left * from.channels, row, to);
    else if (from.channels == 3)
      resampleRow<3>(source, weights, to);
    else
      resampleRow<1>(source, weights, to);
  }
  return result;
}

// Rows of the result, as sums of rows of `from`, whose first row is row `first` of the part.
Image resampleRows(const Image &from, int64_t first, const Weights &weights) {
  Image result{{int64_t(weights.runs.size()), from.size.width}, from.channels, {}};
  const size_t row = size_t(from.size.width * from.channels);
  result.pixels.resize(weights.runs.size() * row);
  std::vector<int32_t> sums(row);
  uint8_t *to = result.pixels.data();
  for (const Weights::Run &run : weights.runs) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int64_t k = 0; k < run.count; ++k) {
      const uint8_t *source = &from.pixels[size_t(run.first + k - first) * row];
      const int32_t weight = weights.values[run.at + size_t(k)];
      for (size_t i = 0; i < row; ++i)
        sums[i] += source[i] * weight;
    }
    for (size_t i = 0; i < row; ++i)
      *to++ = rounded(sums[i]);
  }
  return result;
}

// As resample(), where the window lies inside of the resized image.
Image resampleInside(const Image &from, const Rect &part, Size to, const Rect &window) {
  const int64_t end = window.top + window.size.height;
  if (to.height == part.size.height)
    return resampleColumns(from, part, to.width, window.left, window.size.width, window.top, end);
  const Weights weights = weightsOf(part.size.height, to.height, window.top, end);
  const Weights::Run &last = weights.runs.back();
  const int64_t first = weights.runs[0].first;
  const Image columns = resampleColumns(from, part, to.width, window.left, window.size.width, first,
                                        last.first + last.count);
  return resampleRows(columns, first, weights);
}

} // namespace

Image resample(const Image &from, const Rect &part, Size to, const Rect &window) {
  const int64_t top = std::max<int64_t>(window.top, 0), left = std::max<int64_t>(window.left, 0);
  const int64_t bottom = std::min(window.top + window.size.height, to.height);
  const int64_t right = std::min(window.left + window.size.width, to.width);
  if (Rect inside{top, left, {bottom - top, right - left}}; inside == window)
    return resampleInside(from, part, to, window);
  Image result{window.size, from.channels, {}};
  result.pixels.resize(size_t(window.size.height * window.size.width * from.channels));
  if (bottom <= top || right <= left)
    return result;
  const Image inside = resampleInside(from, part, to, {top, left, {bottom - top, right - left}});
  const int64_t row = inside.size.width * from.channels;
  for (int64_t y = 0; y < inside.size.height; ++y) {
    const int64_t at = (top - window.top + y) * window.size.width + left - window.left;
    std::copy_n(&inside.pixels[size_t(y * row)], row, &result.pixels[size_t(at * from.channels)]);
  }
  return result;
}

} // namespace cleave::image
