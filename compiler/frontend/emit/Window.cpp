// See Window.h.
#include "compiler/frontend/emit/Window.h"

#include "dialects/graph/Symbols.h"

namespace cleave::emit {

using namespace graph;

namespace {

void checkEntries(const Ints &values, size_t count, int64_t atLeast, const char *what) {
  if (values.size() != count)
    fail("the ", std::string(what), " has ", values.size(), " entries, expected ", count);
  for (int64_t value : values)
    if (value < atLeast || value > (int64_t(1) << 31))
      fail("the ", std::string(what), " ", showInts(values), " has an entry that is out of range");
}

void padSame(const Emitter &e, Window &window, const Sizes &spatial, bool upper) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t stride = window.strides[i], pad = std::max<int64_t>(0, window.extent(i) - stride);
    // With a stride of 1 or one that divides the size, the padding does not depend on the size.
    if (!spatial[i].dividedBy(stride)) {
      int64_t size = e.number(spatial[i], "padded size"), count = (size + stride - 1) / stride;
      pad = std::max<int64_t>(0, (count - 1) * stride + window.extent(i) - size);
    }
    window.padsLow[i] = upper ? pad / 2 : pad - pad / 2;
    window.padsHigh[i] = pad - window.padsLow[i];
  }
}

// The last window may end outside, but has to begin inside the data or the padding in front.
void roundUp(const Emitter &e, Window &window, const Sizes &spatial) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t stride = window.strides[i];
    // If no window can begin after the data, more padding suffices.
    if (window.padsHigh[i] + stride <= window.extent(i)) {
      window.padsHigh[i] += stride - 1;
      continue;
    }
    int64_t size = e.number(spatial[i], "pooled size") + window.padsLow[i];
    int64_t free = size + window.padsHigh[i] - window.extent(i);
    int64_t windows = (free + stride - 1) / stride + 1;
    if ((windows - 1) * stride >= size)
      --windows;
    window.padsHigh[i] += (windows - 1) * stride - free;
  }
}

} // namespace

Window fittedWindow(const Emitter &e, const Sizes &spatial, Window window, AutoPad autoPad,
                    bool ceil) {
  size_t count = spatial.size();
  for (Ints *list : {&window.strides, &window.dilations})
    if (list->empty())
      list->assign(count, 1);
  for (Ints *list : {&window.padsLow, &window.padsHigh})
    if (list->empty())
      list->assign(count, 0);
  checkEntries(window.kernel, count, 1, "kernel");
  checkEntries(window.strides, count, 1, "list of strides");
  checkEntries(window.dilations, count, 1, "list of dilations");
  checkEntries(window.padsLow, count, 0, "padding");
  checkEntries(window.padsHigh, count, 0, "padding");
  if (autoPad != AutoPad::None)
    padSame(e, window, spatial, autoPad == AutoPad::SameUpper);
  for (size_t i = 0; i < count; ++i) {
    Polynomial padded = spatial[i] + Polynomial(window.padsLow[i] + window.padsHigh[i]);
    if ((padded - window.extent(i)).atMost(kLeastSymbol).value_or(0) < 0)
      fail("has a window of ", window.extent(i), " elements over a dim of size ", spatial[i].str(),
           " with padding ", window.padsLow[i], " and ", window.padsHigh[i]);
  }
  if (ceil)
    roundUp(e, window, spatial);
  return window;
}

} // namespace cleave::emit
