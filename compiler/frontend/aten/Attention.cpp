// Scaled dot product attention in all the forms that PyTorch gives it.
#include "compiler/frontend/emit/Attention.h"
#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {
namespace {

// The common numpy shape of the dims before heads, positions and width.
void broadcastBatches(OpCall &c, Array &q, Array &k, Array &v) {
  constexpr int64_t own = 3;
  int64_t rank = std::max({rankOf(q), rankOf(k), rankOf(v), own});
  Sizes batch;
  for (Array *x : {&q, &k, &v}) {
    while (rankOf(*x) < rank)
      *x = c.e.insertDim(*x, 0);
    Sizes shape = shapeOf(*x);
    batch = emit::broadcastShape(batch, Sizes(shape.begin(), shape.end() - own));
  }
  for (Array *x : {&q, &k, &v}) {
    Sizes shape = batch, last = shapeOf(*x);
    shape.insert(shape.end(), last.end() - own, last.end());
    *x = c.e.broadcast(*x, shape);
  }
}

Array attend(OpCall &c, const char *mask) {
  Array q = c.tensor("query"), k = c.tensor("key"), v = c.tensor("value");
  if (rankOf(q) > 2)
    broadcastBatches(c, q, k, v);
  bool single = rankOf(q) == 2;
  auto withHead = [&](Array x) { return single ? c.e.insertDim(x, 0) : x; };
  emit::AttentionOptions options;
  if (c.has("scale"))
    options.scale = c.number("scale");
  options.causal = c.boolean("is_causal");
  if (mask && c.has(mask)) {
    options.mask = c.tensor(mask);
    if (typeOf(options.mask) != ElementType::Bool)
      options.mask = c.cast(options.mask, typeOf(q));
  }
  options.dropout = c.number("dropout_p");
  Array out = emit::attention(c.e, withHead(q), withHead(k), withHead(v), options).output;
  return single ? c.e.dropDim(out, 0) : out;
}

Results masked(OpCall &c) { return attend(c, "attn_mask"); }
Results maskedOrDropped(OpCall &c) {
  if (c.has("dropout_mask"))
    fail("drops weights by a given mask (dropout_mask), which Cleave does not do");
  return masked(c);
}
Results biased(OpCall &c) { return attend(c, "attn_bias"); }
Results plain(OpCall &c) { return attend(c, nullptr); }

#define CLEAVE_QKV "T query, T key, T value, "
#define CLEAVE_BIAS CLEAVE_QKV "T? attn_bias, b compute_log_sumexp, f dropout_p=0.0, "
constexpr const char *kPublic = CLEAVE_QKV "T? attn_mask=None, f dropout_p=0.0, b is_causal=False, "
                                           "*, f? scale=None, b enable_gqa=False";

constexpr OpEntry kAttentionOps[] = {
    {"_scaled_dot_product_attention_math",
     CLEAVE_QKV "T? attn_mask=None, f dropout_p=0.0, b is_causal=False, T? dropout_mask=None, "
                "*, f? scale=None, b enable_gqa=False",
     maskedOrDropped},
    {"_scaled_dot_product_cudnn_attention",
     CLEAVE_BIAS "b is_causal=False, b return_debug_mask=False, *, f? scale=None", biased},
    {"_scaled_dot_product_efficient_attention", CLEAVE_BIAS "b is_causal=False, *, f? scale=None",
     biased},
    {"_scaled_dot_product_flash_attention",
     CLEAVE_QKV "f dropout_p=0.0, b is_causal=False, b return_debug_mask=False, *, f? scale=None",
     plain},
    {"_scaled_dot_product_flash_attention_for_cpu",
     CLEAVE_QKV "f dropout_p=0.0, b is_causal=False, *, T? attn_mask=None, f? scale=None", masked},
    {"scaled_dot_product_attention", kPublic, masked},
};

} // namespace

llvm::ArrayRef<OpEntry> attentionOps() { return kAttentionOps; }

} // namespace cleave::aten
