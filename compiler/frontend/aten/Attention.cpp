// Scaled dot product attention in all the forms that PyTorch gives it.
#include "compiler/frontend/emit/Attention.h"
#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {
namespace {

Array attend(OpCall &c, const char *mask) {
  Array q = c.tensor("query"), k = c.tensor("key"), v = c.tensor("value");
  bool single = rankOf(q) == 2;
  auto withHead = [&](Array x) { return single ? c.e.insertDim(x, 0) : x; };
  emit::AttentionOptions options;
  if (c.has("scale"))
    options.scale = c.number("scale");
  options.causal = c.truth("is_causal");
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
Results biased(OpCall &c) { return attend(c, "attn_bias"); }
Results plain(OpCall &c) { return attend(c, nullptr); }

#define CLEAVE_QKV "T query, T key, T value, "
#define CLEAVE_BIAS CLEAVE_QKV "T? attn_bias, b compute_log_sumexp, f dropout_p=0.0, "
constexpr const char *kPublic = CLEAVE_QKV "T? attn_mask=None, f dropout_p=0.0, b is_causal=False, "
                                           "*, f? scale=None, b enable_gqa=False";

constexpr OpEntry kOps[] = {
    {"_scaled_dot_product_attention_math",
     CLEAVE_QKV "T? attn_mask=None, f dropout_p=0.0, b is_causal=False, T? dropout_mask=None, "
                "*, f? scale=None, b enable_gqa=False",
     masked},
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

llvm::ArrayRef<OpEntry> attentionOps() { return kOps; }

} // namespace cleave::aten
