// Recurrent layers and attention against references.
#include "compiler/frontend/emit/Attention.h"
#include "compiler/frontend/emit/Recurrent.h"
#include "test/unit/emit/Reference.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::emit;

namespace {

Values resultsOf(const RecurrentResult &result) {
  return result.cell ? Values{result.all, result.hidden, result.cell}
                     : Values{result.all, result.hidden};
}

// x, h (, c) (, lengths), weights and biases in PyTorch's layout.
RecurrentLayer layerOf(const Values &in, bool hasCell, bool hasLengths, bool backward) {
  RecurrentLayer layer;
  size_t i = 0;
  layer.input = in[i++];
  layer.hidden = in[i++];
  if (hasCell)
    layer.cell = in[i++];
  if (hasLengths)
    layer.lengths = in[i++];
  layer.weight = in[i++];
  layer.recurrence = in[i++];
  layer.inputBias = in[i++];
  layer.recurrentBias = in[i++];
  layer.backward = backward;
  return layer;
}

} // namespace

TEST_CASE("recurrent layers in both directions, sequences of different lengths") {
  for (bool backward : {false, true})
    for (bool lengths : {false, true}) {
      std::string suffix = std::string(backward ? " backward" : "") + (lengths ? " lengths" : "");
      checkReference("lstm" + suffix, [&](const Emitter &e, const Values &in) {
        return resultsOf(lstm(e, layerOf(in, true, lengths, backward), {}));
      });
      checkReference("gru" + suffix, [&](const Emitter &e, const Values &in) {
        return resultsOf(gru(e, layerOf(in, false, lengths, backward), {}));
      });
      checkReference("rnn" + suffix, [&](const Emitter &e, const Values &in) {
        return resultsOf(rnn(e, layerOf(in, false, lengths, backward), {}));
      });
    }
}

TEST_CASE("recurrent layers' variants: reset before the product, peepholes, clipping") {
  checkReference("gru reset before", [](const Emitter &e, const Values &in) {
    GruCell cell;
    cell.resetAfter = false;
    return resultsOf(gru(e, layerOf(in, false, false, false), cell));
  });
  checkReference("lstm peepholes clip", [](const Emitter &e, const Values &in) {
    RecurrentLayer layer;
    layer.input = in[0], layer.hidden = in[1], layer.cell = in[2];
    layer.weight = in[3], layer.recurrence = in[4], layer.inputBias = in[5];
    layer.clip = 0.75;
    LstmCell cell;
    for (int64_t i = 0; i < 3; ++i)
      cell.peepholes[i] = e.reshape(e.slice(in[6], 0, i, 1), {Polynomial(3)});
    return resultsOf(lstm(e, layer, cell));
  });
}

static void checkAttention(const std::string &name, AttentionOptions options,
                           std::function<void(AttentionOptions &, const Values &)> set = {}) {
  checkReference(name, [&](const Emitter &e, const Values &in) -> Values {
    if (set)
      set(options, in);
    return {attention(e, in[0], in[1], in[2], options).output};
  });
}

TEST_CASE("attention with masks, causal, with grouped heads") {
  checkAttention("attention", {});
  checkAttention("attention scale", {.scale = 0.5});
  auto mask = [](AttentionOptions &options, const Values &in) { options.mask = in[3]; };
  checkAttention("attention bool mask", {}, mask);
  checkAttention("attention float mask", {}, mask);
  checkAttention("attention empty row", {}, mask);
  AttentionOptions causal;
  causal.causal = true;
  checkAttention("attention causal", causal);
  causal.offset = 3;
  checkAttention("attention causal offset", causal);
  checkAttention("attention groups", {});
  checkAttention("attention counts", {},
                 [](AttentionOptions &options, const Values &in) { options.keyCounts = in[3]; });
  AttentionOptions capped;
  capped.softcap = 2;
  checkAttention("attention softcap", capped);
}

TEST_CASE("rotary embedding rotates pairs of elements") {
  for (bool pairs : {false, true})
    checkReference(pairs ? "rotate pairs" : "rotate halves",
                   [&](const Emitter &e, const Values &in) -> Values {
                     return {rotate(e, in[0], in[1], in[2], 4, pairs)};
                   });
}
