// Texts with N and M for rows and columns.
#include "test/bench/kernels/KernelTexts.h"

#include "test/bench/kernels/HandWritten.h"

namespace cleave::bench {

namespace {

const char kLayerNorm[] =
    R"(func.func @f(%x: tensor<NxMxf32>, %scale: tensor<Mxf32>, %bias: tensor<Mxf32>) -> tensor<NxMxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>, %g = %scale : tensor<Mxf32>, %h = %bias : tensor<Mxf32>)
      -> (tensor<NxMxf32>) {
    %s = graph.reduce sum %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %n = graph.constant dense<M.0> : tensor<Nxf32>
    %mean = graph.div %s, %n : tensor<Nxf32>
    %meanb = graph.broadcast %mean to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %a, %meanb : tensor<NxMxf32>
    %dd = graph.mul %d, %d : tensor<NxMxf32>
    %v = graph.reduce sum %dd over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %var = graph.div %v, %n : tensor<Nxf32>
    %eps = graph.constant dense<1.0e-5> : tensor<Nxf32>
    %ve = graph.add %var, %eps : tensor<Nxf32>
    %i = graph.rsqrt %ve : tensor<Nxf32>
    %ib = graph.broadcast %i to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %z = graph.mul %d, %ib : tensor<NxMxf32>
    %gb = graph.broadcast %g to [1] : tensor<Mxf32> -> tensor<NxMxf32>
    %hb = graph.broadcast %h to [1] : tensor<Mxf32> -> tensor<NxMxf32>
    %zg = graph.mul %z, %gb : tensor<NxMxf32>
    %o = graph.add %zg, %hb : tensor<NxMxf32>
    graph.yield %o : tensor<NxMxf32>
  }
  return %r : tensor<NxMxf32>
})";

const char kGeluBias[] =
    R"(func.func @f(%x: tensor<NxMxf32>, %y: tensor<Mxf32>) -> tensor<NxMxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %y : tensor<Mxf32>) -> (tensor<NxMxf32>) {
    %bb = graph.broadcast %b to [1] : tensor<Mxf32> -> tensor<NxMxf32>
    %z = graph.add %a, %bb : tensor<NxMxf32>
    %h = graph.constant dense<0.70710678> : tensor<NxMxf32>
    %t = graph.mul %z, %h : tensor<NxMxf32>
    %e = graph.erf %t : tensor<NxMxf32>
    %o = graph.constant dense<1.0> : tensor<NxMxf32>
    %p = graph.add %e, %o : tensor<NxMxf32>
    %half = graph.constant dense<0.5> : tensor<NxMxf32>
    %hz = graph.mul %z, %half : tensor<NxMxf32>
    %q = graph.mul %p, %hz : tensor<NxMxf32>
    graph.yield %q : tensor<NxMxf32>
  }
  return %r : tensor<NxMxf32>
})";

const char kAdamW[] =
    R"(func.func @f(%p: tensor<NxMxf32>, %g: tensor<NxMxf32>, %m: tensor<NxMxf32>, %v: tensor<NxMxf32>)
    -> (tensor<NxMxf32>, tensor<NxMxf32>, tensor<NxMxf32>) {
  %r:3 = graph.fusion (%a = %p : tensor<NxMxf32>, %b = %g : tensor<NxMxf32>, %c = %m : tensor<NxMxf32>,
                       %d = %v : tensor<NxMxf32>) -> (tensor<NxMxf32>, tensor<NxMxf32>, tensor<NxMxf32>) {
    %b1 = graph.constant dense<0.9> : tensor<NxMxf32>
    %o1 = graph.constant dense<0.1> : tensor<NxMxf32>
    %b2 = graph.constant dense<0.999> : tensor<NxMxf32>
    %o2 = graph.constant dense<0.001> : tensor<NxMxf32>
    %eps = graph.constant dense<1.0e-8> : tensor<NxMxf32>
    %keep = graph.constant dense<0.9999> : tensor<NxMxf32>
    %lr = graph.constant dense<0.001> : tensor<NxMxf32>
    %m1 = graph.mul %c, %b1 : tensor<NxMxf32>
    %m2 = graph.mul %b, %o1 : tensor<NxMxf32>
    %mn = graph.add %m1, %m2 : tensor<NxMxf32>
    %gg = graph.mul %b, %b : tensor<NxMxf32>
    %v1 = graph.mul %d, %b2 : tensor<NxMxf32>
    %v2 = graph.mul %gg, %o2 : tensor<NxMxf32>
    %vn = graph.add %v1, %v2 : tensor<NxMxf32>
    %s = graph.sqrt %vn : tensor<NxMxf32>
    %den = graph.add %s, %eps : tensor<NxMxf32>
    %u = graph.div %mn, %den : tensor<NxMxf32>
    %ul = graph.mul %u, %lr : tensor<NxMxf32>
    %pk = graph.mul %a, %keep : tensor<NxMxf32>
    %pn = graph.sub %pk, %ul : tensor<NxMxf32>
    graph.yield %pn, %mn, %vn : tensor<NxMxf32>, tensor<NxMxf32>, tensor<NxMxf32>
  }
  return %r#0, %r#1, %r#2 : tensor<NxMxf32>, tensor<NxMxf32>, tensor<NxMxf32>
})";

const char kColumnSum[] = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<Mxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<Mxf32>) {
    %s = graph.reduce sum %a over [0] : tensor<NxMxf32> -> tensor<Mxf32>
    graph.yield %s : tensor<Mxf32>
  }
  return %r : tensor<Mxf32>
})";

const char kCrossEntropy[] =
    R"(func.func @f(%x: tensor<NxMxf32>, %l: tensor<Nxi64>) -> tensor<Nxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>, %b = %l : tensor<Nxi64>) -> (tensor<Nxf32>) {
    %m = graph.reduce max %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %mb = graph.broadcast %m to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %a, %mb : tensor<NxMxf32>
    %e = graph.exp %d : tensor<NxMxf32>
    %s = graph.reduce sum %e over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %c = graph.iota dim 1 : tensor<NxMxi64>
    %lb = graph.broadcast %b to [0] : tensor<Nxi64> -> tensor<NxMxi64>
    %is = graph.compare eq %c, %lb : tensor<NxMxi64>
    %zero = graph.constant dense<0.0> : tensor<NxMxf32>
    %picked = graph.select %is, %d, %zero : tensor<NxMxi1>, tensor<NxMxf32>
    %at = graph.reduce sum %picked over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %log = graph.log %s : tensor<Nxf32>
    %loss = graph.sub %log, %at : tensor<Nxf32>
    graph.yield %loss : tensor<Nxf32>
  }
  return %r : tensor<Nxf32>
})";

const char kGather[] = R"(func.func @f(%t: tensor<NxMxf32>, %i: tensor<Nxi64>) -> tensor<NxMxf32> {
  %r = graph.gather %t at %i dim 0 : tensor<NxMxf32>, tensor<Nxi64> -> tensor<NxMxf32>
  return %r : tensor<NxMxf32>
})";

const char kTranspose[] = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<NxMxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<NxMxf32>) {
    graph.yield %a : tensor<NxMxf32>
  }
  return %r : tensor<NxMxf32>
})";

} // namespace

std::vector<KernelText> kernelTexts(int64_t rows, int64_t columns) {
  const int64_t n = rows * columns;
  const double matrix = 4.0 * static_cast<double>(n);
  auto text = [&](const char *of) { return test::sized(of, rows, columns); };
  const BufferShape all{n}, row{columns}, perRow{rows}, labels{rows, true};
  return {
      {"softmax", {text(test::kSoftmax)}, {all, all}, 2 * matrix, 1, hand_softmax},
      {"layer norm", {text(kLayerNorm)}, {all, row, row, all}, 2 * matrix, 1, hand_layer_norm},
      {"gelu of x + bias", {text(kGeluBias)}, {all, row, all}, 2 * matrix, 1, hand_gelu_bias},
      {"AdamW, in place",
       {text(kAdamW), {{0, 0}, {1, 2}, {2, 3}}},
       {all, all, all, all},
       7 * matrix,
       1,
       hand_adamw},
      {"column sum", {text(kColumnSum)}, {all, row}, matrix, 1, hand_column_sum},
      {"cross entropy",
       {text(kCrossEntropy)},
       {all, labels, perRow},
       matrix,
       columns,
       hand_cross_entropy},
      {"gather of rows", {text(kGather)}, {all, labels, all}, 2 * matrix, rows, hand_gather},
      {"transpose",
       {text(kTranspose), {}, 2e-6, -2, 2, {0}},
       {all, all},
       2 * matrix,
       1,
       hand_transpose},
  };
}

} // namespace cleave::bench
