#include "test/unit/shard/Programs.h"

namespace cleave::test {

static const char *const perceptron = R"(
func.func @step(%x: tensor<7x6xf32> {graph.role = "input"}, %w: tensor<6x10xf32> {graph.role = "parameter"},
                %b: tensor<10xf32> {graph.role = "parameter"}, %v: tensor<10x5xf32> {graph.role = "parameter"})
    -> (tensor<7x5xf32>, tensor<f32>, tensor<5xf32>) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<7x6xf32>, tensor<6x10xf32> -> tensor<7x10xf32>
  %1 = graph.broadcast %b to [1] : tensor<10xf32> -> tensor<7x10xf32>
  %2 = graph.add %0, %1 : tensor<7x10xf32>
  %3 = graph.exp %2 : tensor<7x10xf32>
  %4 = graph.dot_general %3, %v batch [] x [] contract [1] x [0] : tensor<7x10xf32>, tensor<10x5xf32> -> tensor<7x5xf32>
  %5 = graph.reduce sum %4 over [0, 1] : tensor<7x5xf32> -> tensor<f32>
  %6 = graph.reduce max %4 over [0] : tensor<7x5xf32> -> tensor<5xf32>
  return %4, %5, %6 : tensor<7x5xf32>, tensor<f32>, tensor<5xf32>
})";

// Embedding, heads split and merged, softmax, tied output; and the gradient of the embedding.
static const char *const attention = R"(
func.func @step(%t: tensor<3x5xi64> {graph.role = "input"}, %e: tensor<11x8xf32> {graph.role = "parameter"})
    -> (tensor<3x5x11xf32>, tensor<11x8xf32>) {
  %x = graph.gather %e at %t dim 0 : tensor<11x8xf32>, tensor<3x5xi64> -> tensor<3x5x8xf32>
  %h = graph.reshape %x : tensor<3x5x8xf32> -> tensor<3x5x4x2xf32>
  %q = graph.transpose %h by [0, 2, 1, 3] : tensor<3x5x4x2xf32> -> tensor<3x4x5x2xf32>
  %s = graph.dot_general %q, %q batch [0, 1] x [0, 1] contract [3] x [3]
     : tensor<3x4x5x2xf32>, tensor<3x4x5x2xf32> -> tensor<3x4x5x5xf32>
  %p = graph.softmax %s dim 3 : tensor<3x4x5x5xf32>
  %o = graph.dot_general %p, %q batch [0, 1] x [0, 1] contract [3] x [2]
     : tensor<3x4x5x5xf32>, tensor<3x4x5x2xf32> -> tensor<3x4x5x2xf32>
  %m = graph.transpose %o by [0, 2, 1, 3] : tensor<3x4x5x2xf32> -> tensor<3x5x4x2xf32>
  %y = graph.reshape %m : tensor<3x5x4x2xf32> -> tensor<3x5x8xf32>
  %z = graph.dot_general %y, %e batch [] x [] contract [2] x [1]
     : tensor<3x5x8xf32>, tensor<11x8xf32> -> tensor<3x5x11xf32>
  %g = graph.scatter sum %y at %t dim 0 : tensor<3x5x8xf32>, tensor<3x5xi64> -> tensor<11x8xf32>
  return %z, %g : tensor<3x5x11xf32>, tensor<11x8xf32>
})";

static const char *const convolution = R"(
func.func @step(%x: tensor<3x4x5x5xf32> {graph.role = "input"}, %w: tensor<6x4x3x3xf32> {graph.role = "parameter"})
    -> (tensor<3x6x2x2xf32>, tensor<3x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<3x6x5x5xf32>) {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>,
       pads_high = array<i64: 1, 1>, groups = 1 : i64} : tensor<3x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<3x6x5x5xf32>
  %p = graph.pool max %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
       pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : tensor<3x6x5x5xf32> -> tensor<3x6x2x2xf32>
  %dy = graph.pool_grad max %p, %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
       pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>}
     : tensor<3x6x2x2xf32>, tensor<3x6x5x5xf32> -> tensor<3x6x5x5xf32>
  %dx = graph.conv_input_grad %dy, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
       pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, groups = 1 : i64}
     : tensor<3x6x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<3x4x5x5xf32>
  %dw = graph.conv_weight_grad %dy, %x {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
       pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, groups = 1 : i64}
     : tensor<3x6x5x5xf32>, tensor<3x4x5x5xf32> -> tensor<6x4x3x3xf32>
  return %p, %dx, %dw, %dy : tensor<3x6x2x2xf32>, tensor<3x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<3x6x5x5xf32>
})";

static const char *const movement = R"(
func.func @step(%x: tensor<6x7xf32> {graph.role = "input"}, %i: tensor<6x7xi32> {graph.role = "input"})
    -> (tensor<42xf32>, tensor<6x5xf32>, tensor<12x7xf32>, tensor<7xi32>, tensor<7xf32>, tensor<6x9xf32>) {
  %a = graph.iota dim 1 : tensor<6x7xf32>
  %b = graph.add %x, %a : tensor<6x7xf32>
  %c = graph.reshape %b : tensor<6x7xf32> -> tensor<42xf32>
  %d = graph.slice %b dim 1 from 1 step 1 : tensor<6x7xf32> -> tensor<6x5xf32>
  %e = graph.concat %b, %x dim 0 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<12x7xf32>
  %f = graph.reduce max %i over [0] : tensor<6x7xi32> -> tensor<7xi32>
  %g = graph.reduce min %x over [0] : tensor<6x7xf32> -> tensor<7xf32>
  %p = graph.pad %x dim 1 low 1 : tensor<6x7xf32> -> tensor<6x9xf32>
  return %c, %d, %e, %f, %g, %p
    : tensor<42xf32>, tensor<6x5xf32>, tensor<12x7xf32>, tensor<7xi32>, tensor<7xf32>, tensor<6x9xf32>
})";

// Maxima and minima of booleans and of unsigned integers.
static const char *const extremes = R"(
func.func @step(%i: tensor<7x5xi32> {graph.role = "input"}, %j: tensor<7x5xi32> {graph.role = "input"})
    -> (tensor<5xi1>, tensor<7xi1>, tensor<5xui8>, tensor<7xui8>) {
  %m = graph.compare lt %i, %j : tensor<7x5xi32>
  %a = graph.reduce max %m over [0] : tensor<7x5xi1> -> tensor<5xi1>
  %b = graph.reduce min %m over [1] : tensor<7x5xi1> -> tensor<7xi1>
  %u = graph.cast %i : tensor<7x5xi32> -> tensor<7x5xui8>
  %c = graph.reduce max %u over [0] : tensor<7x5xui8> -> tensor<5xui8>
  %d = graph.reduce min %u over [1] : tensor<7x5xui8> -> tensor<7xui8>
  return %a, %b, %c, %d : tensor<5xi1>, tensor<7xi1>, tensor<5xui8>, tensor<7xui8>
})";

// A kernel group with a reduction over dims that may be padded, and one with a constant and an iota
// inside.
static const char *const groups = R"(
func.func @step(%x: tensor<7x6xf32> {graph.role = "input"}, %y: tensor<7x6xf32> {graph.role = "input"})
    -> (tensor<7x6xf32>, tensor<6xf32>, tensor<7x3x2xf32>, tensor<6xf32>) {
  %0:2 = graph.fusion (%a = %x : tensor<7x6xf32>, %b = %y : tensor<7x6xf32>) -> (tensor<7x6xf32>, tensor<6xf32>) {
    %s = graph.add %a, %b : tensor<7x6xf32>
    %e = graph.exp %s : tensor<7x6xf32>
    %r = graph.reduce sum %e over [0] : tensor<7x6xf32> -> tensor<6xf32>
    graph.yield %e, %r : tensor<7x6xf32>, tensor<6xf32>
  }
  %1 = graph.fusion (%a = %0#0 : tensor<7x6xf32>) -> (tensor<7x3x2xf32>) {
    %n = graph.iota dim 0 : tensor<7x6xf32>
    %c = graph.constant dense<2.0> : tensor<7x6xf32>
    %m = graph.mul %n, %c : tensor<7x6xf32>
    %s = graph.add %a, %m : tensor<7x6xf32>
    %t = graph.reshape %s : tensor<7x6xf32> -> tensor<7x3x2xf32>
    graph.yield %t : tensor<7x3x2xf32>
  }
  %2 = graph.fusion (%a = %x : tensor<7x6xf32>) -> (tensor<6xf32>) {
    %e = graph.exp %a : tensor<7x6xf32>
    %r = graph.reduce max %e over [0] : tensor<7x6xf32> -> tensor<6xf32>
    graph.yield %r : tensor<6xf32>
  }
  return %0#0, %0#1, %1, %2 : tensor<7x6xf32>, tensor<6xf32>, tensor<7x3x2xf32>, tensor<6xf32>
})";

// Gradients summed over micro-batches, an update, and results that replace arguments.
static const char *const update = R"(
func.func @step(%x: tensor<5x4xf32> {graph.role = "input", graph.name = "x"},
                %w: tensor<4x6xf32> {graph.role = "parameter", graph.name = "w"},
                %m: tensor<4x6xf32> {graph.role = "state", graph.name = "w.m", graph.parameter = "w"})
    -> (tensor<f32> {graph.role = "loss", graph.name = "loss"},
        tensor<4x6xf32> {graph.role = "parameter", graph.name = "w", graph.alias = 1 : i64},
        tensor<4x6xf32> {graph.role = "state", graph.name = "w.m", graph.alias = 2 : i64}) {
  %y = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<5x4xf32>, tensor<4x6xf32> -> tensor<5x6xf32>
  %l = graph.reduce sum %y over [0, 1] : tensor<5x6xf32> -> tensor<f32>
  %c = graph.constant dense<1.0> : tensor<5x6xf32>
  %d = graph.mul %y, %c : tensor<5x6xf32>
  %g = graph.dot_general %x, %d batch [] x [] contract [0] x [0] : tensor<5x4xf32>, tensor<5x6xf32> -> tensor<4x6xf32>
  %a = graph.accumulate %g count 1 : tensor<4x6xf32>
  %n = graph.add %m, %a : tensor<4x6xf32>
  %v = graph.sub %w, %n : tensor<4x6xf32>
  return %l, %v, %n : tensor<f32>, tensor<4x6xf32>, tensor<4x6xf32>
})";

// Batched gather and scatter, scan, sort, and dropout by positions in the whole tensor.
static const char *const sequences = R"(
func.func @step(%x: tensor<5x6x7xf32> {graph.role = "input"}, %i: tensor<5x9xi64> {graph.role = "input"})
    -> (tensor<5x6x9xf32>, tensor<5x6x7xf32>, tensor<5x6x7xf32>, tensor<5x6x7xf32>, tensor<5x6x7xi64>, tensor<5x6x7xf32>) {
  %g = graph.gather %x at %i dim 2 {batch = 1 : i64} : tensor<5x6x7xf32>, tensor<5x9xi64> -> tensor<5x6x9xf32>
  %s = graph.scatter sum %g at %i dim 2 {batch = 1 : i64} : tensor<5x6x9xf32>, tensor<5x9xi64> -> tensor<5x6x7xf32>
  %h = graph.scatter max %g at %i dim 2 {batch = 1 : i64} : tensor<5x6x9xf32>, tensor<5x9xi64> -> tensor<5x6x7xf32>
  %m = graph.max %h, %x : tensor<5x6x7xf32>
  %c = graph.scan sum %m dim 1 : tensor<5x6x7xf32>
  %v, %o = graph.sort %c dim 2 {descending} : tensor<5x6x7xf32>
  %p0 = graph.iota dim 0 : tensor<5x6x7xi64>
  %c0 = graph.constant dense<42> : tensor<5x6x7xi64>
  %p1 = graph.iota dim 1 : tensor<5x6x7xi64>
  %c1 = graph.constant dense<7> : tensor<5x6x7xi64>
  %p2 = graph.iota dim 2 : tensor<5x6x7xi64>
  %q0 = graph.mul %p0, %c0 : tensor<5x6x7xi64>
  %q1 = graph.mul %p1, %c1 : tensor<5x6x7xi64>
  %q = graph.add %q0, %q1 : tensor<5x6x7xi64>
  %p = graph.add %q, %p2 : tensor<5x6x7xi64>
  %r = graph.random %p, %c1 : tensor<5x6x7xi64> -> tensor<5x6x7xf32>
  %d = graph.mul %v, %r : tensor<5x6x7xf32>
  return %g, %s, %m, %v, %o, %d : tensor<5x6x9xf32>, tensor<5x6x7xf32>, tensor<5x6x7xf32>, tensor<5x6x7xf32>, tensor<5x6x7xi64>, tensor<5x6x7xf32>
})";

// Attention whole, with its gradients: causal, grouped, with a bias that is repeated.
static const char *const causalAttention = R"(
func.func @step(%q: tensor<3x4x5x2xf32> {graph.role = "input"}, %k: tensor<3x2x7x2xf32> {graph.role = "input"},
                %v: tensor<3x2x7x3xf32> {graph.role = "input"}, %b: tensor<1x4x5x1xf32> {graph.role = "parameter"},
                %dy: tensor<3x4x5x3xf32> {graph.role = "input"})
    -> (tensor<3x4x5x3xf32>, tensor<3x4x5xf32>, tensor<3x4x5x2xf32>, tensor<3x2x7x2xf32>, tensor<3x2x7x3xf32>, tensor<1x4x5x1xf32>) {
  %y, %l = graph.attention %q, %k, %v bias %b {causal, scale = 0.7 : f64}
    : (tensor<3x4x5x2xf32>, tensor<3x2x7x2xf32>, tensor<3x2x7x3xf32>, tensor<1x4x5x1xf32>) -> (tensor<3x4x5x3xf32>, tensor<3x4x5xf32>)
  %dq, %dk, %dv, %db = graph.attention_grad %q, %k, %v, %y, %l, %dy bias %b {causal, scale = 0.7 : f64}
    : (tensor<3x4x5x2xf32>, tensor<3x2x7x2xf32>, tensor<3x2x7x3xf32>, tensor<3x4x5x3xf32>, tensor<3x4x5xf32>, tensor<3x4x5x3xf32>, tensor<1x4x5x1xf32>)
    -> (tensor<3x4x5x2xf32>, tensor<3x2x7x2xf32>, tensor<3x2x7x3xf32>, tensor<1x4x5x1xf32>)
  return %y, %l, %dq, %dk, %dv, %db
    : tensor<3x4x5x3xf32>, tensor<3x4x5xf32>, tensor<3x4x5x2xf32>, tensor<3x2x7x2xf32>, tensor<3x2x7x3xf32>, tensor<1x4x5x1xf32>
})";

// Attention that can run in zigzag on 2, 3, 4 and 6 ranks, with everything that depends on the
// place of a score: a causal mask, documents as another mask, a bias, and dropout.
static const char *const zigzagAttention = R"(
func.func @step(%q: tensor<3x4x24x2xf32> {graph.role = "input"}, %k: tensor<3x2x24x2xf32> {graph.role = "input"},
                %v: tensor<3x2x24x3xf32> {graph.role = "input"}, %b: tensor<1x4x24x24xf32> {graph.role = "parameter"},
                %n: tensor<3x1x24x24xi64> {graph.role = "input"}, %dy: tensor<3x4x24x3xf32> {graph.role = "input"},
                %s: tensor<i64> {graph.role = "input"})
    -> (tensor<3x4x24x3xf32>, tensor<3x4x24xf32>, tensor<3x4x24x2xf32>, tensor<3x2x24x2xf32>, tensor<3x2x24x3xf32>, tensor<1x4x24x24xf32>) {
  %zero = graph.constant dense<0> : tensor<3x1x24x24xi64>
  %m = graph.compare gt %n, %zero : tensor<3x1x24x24xi64>
  %y, %l = graph.attention %q, %k, %v bias %b mask %m seed %s {causal, dropout = 0.3 : f64, fill = -2.0 : f64, scale = 0.7 : f64}
    : (tensor<3x4x24x2xf32>, tensor<3x2x24x2xf32>, tensor<3x2x24x3xf32>, tensor<1x4x24x24xf32>, tensor<3x1x24x24xi1>, tensor<i64>) -> (tensor<3x4x24x3xf32>, tensor<3x4x24xf32>)
  %dq, %dk, %dv, %db = graph.attention_grad %q, %k, %v, %y, %l, %dy bias %b mask %m seed %s {causal, dropout = 0.3 : f64, fill = -2.0 : f64, scale = 0.7 : f64}
    : (tensor<3x4x24x2xf32>, tensor<3x2x24x2xf32>, tensor<3x2x24x3xf32>, tensor<3x4x24x3xf32>, tensor<3x4x24xf32>, tensor<3x4x24x3xf32>, tensor<1x4x24x24xf32>, tensor<3x1x24x24xi1>, tensor<i64>)
    -> (tensor<3x4x24x2xf32>, tensor<3x2x24x2xf32>, tensor<3x2x24x3xf32>, tensor<1x4x24x24xf32>)
  return %y, %l, %dq, %dk, %dv, %db
    : tensor<3x4x24x3xf32>, tensor<3x4x24xf32>, tensor<3x4x24x2xf32>, tensor<3x2x24x2xf32>, tensor<3x2x24x3xf32>, tensor<1x4x24x24xf32>
})";

// Attention with padded keys and dropout, whose positions are those in the whole scores. One head
// of keys serves all queries.
static const char *const droppingAttention = R"(
func.func @step(%q: tensor<3x5x7x2xf32> {graph.role = "input"}, %k: tensor<3x1x6x2xf32> {graph.role = "input"},
                %n: tensor<3x1x1x6xi64> {graph.role = "input"}, %dy: tensor<3x5x7x2xf32> {graph.role = "input"},
                %s: tensor<i64> {graph.role = "input"})
    -> (tensor<3x5x7x2xf32>, tensor<3x5x7x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x6x2xf32>) {
  %zero = graph.constant dense<0> : tensor<3x1x1x6xi64>
  %m = graph.compare gt %n, %zero : tensor<3x1x1x6xi64>
  %y, %l = graph.attention %q, %k, %k mask %m seed %s {dropout = 0.4 : f64, fill = -2.0 : f64, scale = 0.7 : f64}
    : (tensor<3x5x7x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x1x6xi1>, tensor<i64>) -> (tensor<3x5x7x2xf32>, tensor<3x5x7xf32>)
  %dq, %dk, %dv = graph.attention_grad %q, %k, %k, %y, %l, %dy mask %m seed %s {dropout = 0.4 : f64, fill = -2.0 : f64, scale = 0.7 : f64}
    : (tensor<3x5x7x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x6x2xf32>, tensor<3x5x7x2xf32>, tensor<3x5x7xf32>, tensor<3x5x7x2xf32>, tensor<3x1x1x6xi1>, tensor<i64>)
    -> (tensor<3x5x7x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x6x2xf32>)
  return %y, %dq, %dk, %dv : tensor<3x5x7x2xf32>, tensor<3x5x7x2xf32>, tensor<3x1x6x2xf32>, tensor<3x1x6x2xf32>
})";

const std::vector<Program> &programs() {
  static const std::vector<Program> all = {{"perceptron", perceptron},
                                           {"attention", attention, 0, 11},
                                           {"convolution", convolution},
                                           {"movement", movement, -3, 9},
                                           {"extremes", extremes, 0, 250},
                                           {"groups", groups},
                                           {"update", update},
                                           {"sequences", sequences, -1, 8},
                                           {"causal attention", causalAttention},
                                           {"zigzag attention", zigzagAttention, -4, 5},
                                           {"dropping attention", droppingAttention, -4, 5}};
  return all;
}

} // namespace cleave::test
