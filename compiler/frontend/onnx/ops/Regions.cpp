// Regions of interest, deformable convolutions, and non-maximum suppression.
#include "compiler/frontend/emit/Regions.h"

#include "compiler/frontend/onnx/ops/Window.h"

#include <algorithm>
#include <numeric>

namespace cleave::onnx {
namespace {

using namespace emit;

Values importRoiAlign(NodeImport &n) {
  n.checkInputs(3, 3);
  RoiAlignOptions options;
  options.height = n.integer("output_height", 1);
  options.width = n.integer("output_width", 1);
  options.samples = n.integer("sampling_ratio", 0);
  options.scale = n.decimal("spatial_scale", 1);
  bool isOld = n.opset() < 16; // positions had no offset then
  std::string mode = n.string("mode", "avg"),
              place = n.string("coordinate_transformation_mode",
                               isOld ? "output_half_pixel" : "half_pixel");
  if ((mode != "avg" && mode != "max") || (place != "half_pixel" && place != "output_half_pixel"))
    fail("has the mode '", mode, "' and the coordinates '", place,
         "', expected avg or max, and half_pixel or output_half_pixel");
  if (options.samples < 1)
    fail("takes a number of samples that follows from each region's size (sampling_ratio 0), which "
         "depends on data; export it with sampling_ratio=2, say");
  options.largest = mode == "max";
  options.halfPixel = place == "half_pixel";
  return {roiAlign(n, n.input(0), n.input(1), n.input(2), options)};
}

Values importDeformConv(NodeImport &n) {
  n.checkInputs(3, 5);
  int64_t groups = n.integer("group", 1), offsetGroups = n.integer("offset_group", 1);
  WindowAttributes read = readWindow(n);
  constexpr int64_t most = 1 << 20;
  Ints kernel = n.numbers(shapeOf(n.input(1)), "size of a weight");
  for (const Ints *list :
       {&read.window.strides, &read.window.dilations, &read.window.padsLow, &read.window.padsHigh})
    for (int64_t number : *list)
      if (number < 0 || number > most)
        fail("has a window with the number ", number, ", expected 0 to 2^20");
  if (product(toShape(kernel.dropFront(2))).constant().value_or(0) > most || groups < 1 ||
      offsetGroups < 1 || std::max(groups, offsetGroups) > most)
    fail("has a weight ", showInts(kernel), " in ", groups, " groups, with ", offsetGroups,
         " of offsets, expected 1 to 2^20 groups and at most 2^20 window elements");
  return {deformableConvolution(n, n.input(0), n.input(1), n.input(2), n.optionalInput(3),
                                n.optionalInput(4), read.window, groups, offsetGroups)};
}

// -- non-maximum suppression of known boxes -------------------------------------------------------

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box boxAt(const Tensor &boxes, int64_t at, bool centred) {
  const double *v = &boxes.values[at * 4];
  if (centred) // x, y, width, height
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

// Intersection over union.
double overlap(const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
         width = std::min(a.right, b.right) - std::max(a.left, b.left);
  double both = height > 0 && width > 0 ? height * width : 0;
  return both > 0 ? both / (a.area() + b.area() - both) : 0;
}

// Options of NonMaxSuppression.
struct Suppression {
  int64_t most = 0;                 // boxes per class that are kept
  double overlap = 0;               // largest overlap with a kept box
  std::optional<double> leastScore; // of a kept box
  bool centred = false;             // boxes are centre and size instead of two corners
};

// The boxes of one image that are kept for one class, by falling score.
std::vector<int64_t> keptBoxes(const Tensor &boxes, const double *scores, int64_t image,
                               const Suppression &options) {
  int64_t count = boxes.shape[1];
  std::vector<int64_t> order(count), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= options.most)
      break;
    Box box = boxAt(boxes, image * count + i, options.centred);
    bool isNew = std::none_of(kept.begin(), kept.end(), [&](int64_t k) {
      return overlap(box, boxAt(boxes, image * count + k, options.centred)) > options.overlap;
    });
    if (isNew && (!options.leastScore || scores[i] > *options.leastScore))
      kept.push_back(i);
  }
  return kept;
}

Suppression readSuppression(NodeImport &n) {
  Suppression options;
  constexpr size_t kMost = 2, kOverlap = 3, kLeastScore = 4;
  options.most = n.hasInput(kMost) ? n.integerInput(kMost, "number of boxes per class") : 0;
  options.overlap = n.hasInput(kOverlap) ? n.decimalInput(kOverlap, "largest overlap") : 0;
  if (n.hasInput(kLeastScore))
    options.leastScore = n.decimalInput(kLeastScore, "least score");
  options.centred = n.integer("center_point_box", 0);
  return options;
}

// Outputs image, class and box of all boxes that are kept. Their number is the size of the result,
// so boxes and scores must be known while importing.
Values importNonMaxSuppression(NodeImport &n) {
  n.checkInputs(2, 5);
  Suppression options = readSuppression(n);
  Tensor boxes = n.tensorInput(0, "boxes, which say how large the result is"),
         scores = n.tensorInput(1, "scores, which say how large the result is");
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape[2] != 4 ||
      boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2])
    fail("has boxes ", showInts(boxes.shape), " and scores ", showInts(scores.shape),
         ", expected [n, boxes, 4] and [n, classes, boxes]");
  int64_t classes = scores.shape[1], count = boxes.shape[1], images = count ? boxes.shape[0] : 0;
  if (scores.size() * std::clamp<int64_t>(options.most, 0, count) > (int64_t(1) << 26))
    fail("has more boxes than Cleave compares while importing");
  Tensor out(ElementType::I64, {0, 3});
  for (int64_t i = 0; i < images; ++i)
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t box :
           keptBoxes(boxes, scores.values.data() + (i * classes + c) * count, i, options)) {
        for (int64_t number : {i, c, box})
          out.values.push_back(static_cast<double>(number));
        ++out.shape[0];
      }
  return {n.constant(out)};
}

constexpr OpEntry kRegionsOps[] = {
    {"DeformConv", 19, importDeformConv},
    {"NonMaxSuppression", 10, importNonMaxSuppression},
    {"RoiAlign", 10, importRoiAlign},
};

} // namespace

llvm::ArrayRef<OpEntry> regionOps() { return kRegionsOps; }

} // namespace cleave::onnx
