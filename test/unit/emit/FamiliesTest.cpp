// The families' formulas against references: indexing, ordering, resizing, sampling, transforms,
// losses, quantization.
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Loss.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/emit/Quantization.h"
#include "compiler/frontend/emit/Resize.h"
#include "compiler/frontend/emit/Sampling.h"
#include "compiler/frontend/emit/Spectral.h"
#include "test/unit/emit/Reference.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::emit;

TEST_CASE("gathers along a dim and at coordinates") {
  for (int64_t axis : {0, 1})
    checkReference("gather elements " + std::to_string(axis),
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {gatherElements(e, in[0], in[1], axis)};
                   });
  checkReference("gather nd", [](const Emitter &e, const Values &in) -> Values {
    return {gatherAt(e, in[0], coordinatesOf(e, in[1]), 0)};
  });
  checkReference("gather nd batch", [](const Emitter &e, const Values &in) -> Values {
    return {gatherAt(e, in[0], coordinatesOf(e, in[1]), 1, 1)};
  });
}

TEST_CASE("scatters along a dim and at coordinates") {
  for (auto [name, how] : {std::pair("replace", Combine::Replace), std::pair("add", Combine::Add),
                           std::pair("mul", Combine::Mul), std::pair("max", Combine::Max),
                           std::pair("min", Combine::Min)}) {
    Combine combine = how;
    checkReference(std::string("scatter elements ") + name,
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {scatterElements(e, in[0], in[1], in[2], 1, combine)};
                   });
  }
  for (auto [name, how] :
       {std::pair("replace", Combine::Replace), std::pair("add", Combine::Add)}) {
    Combine combine = how;
    checkReference(std::string("scatter nd ") + name,
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {scatterAt(e, in[0], coordinatesOf(e, in[1]), in[2], 0, combine)};
                   });
  }
}

TEST_CASE("reverseSequence reverses each sequence up to its length") {
  checkReference("reverse sequence", [](const Emitter &e, const Values &in) -> Values {
    return {reverseSequence(e, in[0], in[1], 2, 1)};
  });
}

TEST_CASE("sorting is stable") {
  for (int64_t axis : {0, 1, 2})
    for (bool down : {false, true})
      checkReference("sort " + std::to_string(axis) + (down ? " down" : " up"),
                     [&](const Emitter &e, const Values &in) -> Values {
                       Ordered sorted = sort(e, in[0], axis, down);
                       return {sorted.values, sorted.indices};
                     });
  for (bool largest : {false, true})
    checkReference(largest ? "top 2 largest" : "top 2 smallest",
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {topK(e, in[0], 2, 1, largest).values};
                   });
}

TEST_CASE("arg-max, where NaN is the largest") {
  checkReference("arg max", [](const Emitter &e, const Values &in) -> Values {
    return {argMinMax(e, in[0], 1, true, false)};
  });
  checkReference("arg min", [](const Emitter &e, const Values &in) -> Values {
    return {argMinMax(e, in[0], 1, false, false)};
  });
  checkReference("arg max last", [](const Emitter &e, const Values &in) -> Values {
    return {argMinMax(e, in[0], 1, true, false, true)};
  });
}

TEST_CASE("cumulative sums, products, minima and maxima") {
  checkReference("cumsum", [](const Emitter &e, const Values &in) -> Values {
    return {cumulate(e, Reduction::Sum, in[0], 1)};
  });
  checkReference("cumsum reverse exclusive", [](const Emitter &e, const Values &in) -> Values {
    return {cumulate(e, Reduction::Sum, in[0], 1, true, true)};
  });
  checkReference("cumprod", [](const Emitter &e, const Values &in) -> Values {
    return {cumulate(e, Reduction::Prod, in[0], 2)};
  });
  for (bool largest : {false, true})
    checkReference(largest ? "cummax" : "cummin",
                   [&](const Emitter &e, const Values &in) -> Values {
                     Ordered running = cumulateMinMax(e, in[0], 1, largest);
                     return {running.values, running.indices};
                   });
}

static void checkResize(const std::string &name, ResizeOptions options) {
  for (auto [where, height, width] : {std::tuple("up", 8, 9), std::tuple("down", 2, 3)}) {
    std::string full = "resize " + name;
    full.replace(full.find('*'), 1, where);
    std::vector<ResizeAxis> axes = {{2, height, {}}, {3, width, {}}};
    checkReference(full, [&](const Emitter &e, const Values &in) -> Values {
      return {resize(e, in[0], axes, options)};
    });
  }
}

TEST_CASE("images are resized as PyTorch does it") {
  using I = Interpolation;
  using C = Coordinates;
  checkResize("nearest *", {I::Nearest, C::Asymmetric, NearestRounding::Floor});
  checkResize("nearest exact *", {I::Nearest, C::HalfPixel, NearestRounding::PreferCeil});
  checkResize("bilinear *", {I::Linear});
  checkResize("bilinear * corners", {I::Linear, C::AlignCorners});
  checkResize("bicubic *", {I::Cubic});
  checkResize("bicubic * corners", {I::Cubic, C::AlignCorners});
  ResizeOptions fine{I::Linear};
  fine.antialias = fine.excludeOutside = true;
  checkResize("bilinear * antialias", fine);
  fine.interpolation = I::Cubic;
  fine.cubic = -0.5;
  checkResize("bicubic * antialias", fine);
  checkReference("resize linear scale", [](const Emitter &e, const Values &in) -> Values {
    return {resize(e, in[0], {{2, 11, 1.7}}, {I::Linear})};
  });
}

TEST_CASE("images are sampled at positions that are data") {
  using I = Interpolation;
  for (auto [mode, interpolation] :
       {std::pair("nearest", I::Nearest), std::pair("bilinear", I::Linear),
        std::pair("bicubic", I::Cubic)})
    for (auto [edge, border] :
         {std::pair("zeros", Border::Zeros), std::pair("border", Border::Edge),
          std::pair("reflection", Border::Reflection)})
      for (bool corners : {false, true}) {
        GridSampleOptions options{interpolation, border, corners};
        checkReference(std::string("grid sample ") + mode + " " + edge +
                           (corners ? " corners" : ""),
                       [&](const Emitter &e, const Values &in) -> Values {
                         return {gridSample(e, in[0], in[1], options)};
                       });
      }
  checkReference("grid sample volume", [](const Emitter &e, const Values &in) -> Values {
    return {gridSample(e, in[0], in[1], {})};
  });
}

TEST_CASE("grids of positions under affine maps") {
  for (bool corners : {false, true}) {
    std::string name = corners ? " corners" : "";
    checkReference("affine grid" + name, [&](const Emitter &e, const Values &in) -> Values {
      return {affineGrid(e, in[0], {3, 4}, corners)};
    });
    checkReference("affine grid volume" + name, [&](const Emitter &e, const Values &in) -> Values {
      return {affineGrid(e, in[0], {2, 3, 2}, corners)};
    });
  }
}

TEST_CASE("images to windows and back") {
  Blocks blocks{.image = {5, 4},
                .kernel = {2, 2},
                .strides = {2, 1},
                .dilations = {1, 2},
                .padsLow = {1, 0},
                .padsHigh = {1, 0}};
  checkReference("columns to image", [&](const Emitter &e, const Values &in) -> Values {
    return {columnsToImage(e, in[0], blocks)};
  });
  checkReference("image to columns", [&](const Emitter &e, const Values &in) -> Values {
    return {imageToColumns(e, in[0], blocks)};
  });
}

static Values parts(const Complex &x) { return {x.real, x.imaginary}; }

TEST_CASE("Fourier transforms and back") {
  checkReference("fourier", [](const Emitter &e, const Values &in) {
    return parts(fourier(e, {in[0], in[1]}, 1, 7, false));
  });
  checkReference("fourier short", [](const Emitter &e, const Values &in) {
    return parts(fourier(e, {in[0], in[1]}, 1, 4, false));
  });
  checkReference("fourier long real", [](const Emitter &e, const Values &in) {
    return parts(fourier(e, {in[0], {}}, 1, 10, true));
  });
  checkReference("inverse fourier", [](const Emitter &e, const Values &in) {
    return parts(inverseFourier(e, {in[0], in[1]}, 1, 7));
  });
  for (int64_t n : {8, 7})
    checkReference("inverse real fourier " + std::to_string(n),
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {inverseRealFourier(e, {in[0], in[1]}, 1, n)};
                   });
  checkReference("short time fourier", [](const Emitter &e, const Values &in) {
    return parts(shortTimeFourier(e, {in[0], {}}, in[1], 4, 3, true));
  });
}

TEST_CASE("losses of classifiers, with weights, ignored labels and smoothing") {
  for (auto [name, reduction] :
       {std::pair("none", LossReduction::None), std::pair("mean", LossReduction::Mean),
        std::pair("sum", LossReduction::Sum)}) {
    ClassLossOptions options;
    options.ignored = -100;
    options.reduction = reduction;
    checkReference(std::string("nll ") + name, [&](const Emitter &e, const Values &in) -> Values {
      ClassLossOptions weighted = options;
      weighted.weights = in[2];
      return {negativeLogLikelihood(e, in[0], in[1], weighted)};
    });
    checkReference(std::string("cross entropy ") + name,
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {crossEntropy(e, in[0], in[1], options)};
                   });
    for (const char *weights : {"", " weights"})
      checkReference(std::string("cross entropy smooth ") + name + weights,
                     [&](const Emitter &e, const Values &in) -> Values {
                       ClassLossOptions smooth = options;
                       smooth.smoothing = 0.25;
                       smooth.weights = in.size() > 2 ? in[2] : Value();
                       return {crossEntropy(e, in[0], in[1], smooth)};
                     });
  }
  checkReference("cross entropy ignoring a class",
                 [](const Emitter &e, const Values &in) -> Values {
                   ClassLossOptions options;
                   options.ignored = 1;
                   return {crossEntropy(e, in[0], in[1], options)};
                 });
}

TEST_CASE("numbers are quantized per axis and per block") {
  checkReference("quantize axis", [](const Emitter &e, const Values &in) -> Values {
    return {quantize(e, in[0], in[1], in[2], e.b.getI8Type(), 1)};
  });
  checkReference("dequantize axis", [](const Emitter &e, const Values &in) -> Values {
    return {dequantize(e, in[0], in[1], in[2], 1)};
  });
  checkReference("quantize blocks", [](const Emitter &e, const Values &in) -> Values {
    auto type = graph::fromElementType(ElementType::U8, e.b.getContext());
    return {quantize(e, in[0], in[1], {}, type, 2, 2)};
  });
}
