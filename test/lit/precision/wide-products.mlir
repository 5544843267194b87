// Which products stay f32 in bf16 and f16: those of positions, indices, counts and angles. One function per rule of
// passes/precision/WideProducts.h, and one per neighbour that stays low.
// RUN: cleave-opt --split-input-file --cleave-precision %s | FileCheck %s
// RUN: cleave-opt --split-input-file --cleave-precision=dtype=f16 %s | FileCheck %s

// CHECK-LABEL: func @frequencies_times_positions_are_f32
// CHECK: graph.dot_general {{.*}} : tensor<8192x1xf32>, tensor<1x64xf32> -> tensor<8192x64xf32>
// CHECK: graph.cos %{{.*}} : tensor<8192x64xf32>
func.func @frequencies_times_positions_are_f32(
    %f: tensor<1x64xf32> {graph.name = "inv_freq", graph.role = "constant"}) -> tensor<8192x64xf32> {
  %0 = graph.iota dim 0 : tensor<8192x1xi64>
  %1 = graph.cast %0 : tensor<8192x1xi64> -> tensor<8192x1xf32>
  %2 = graph.dot_general %1, %f batch [] x [] contract [1] x [0] : tensor<8192x1xf32>, tensor<1x64xf32> -> tensor<8192x64xf32>
  %3 = graph.cos %2 : tensor<8192x64xf32>
  return %3 : tensor<8192x64xf32>
}

// -----

// CHECK-LABEL: func @learned_frequencies_times_positions_are_f32
// CHECK: graph.dot_general {{.*}} : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
func.func @learned_frequencies_times_positions_are_f32(
    %p: tensor<4x1xi64> {graph.name = "position_ids", graph.role = "input"},
    %f: tensor<1x64xf32> {graph.name = "freqs", graph.role = "parameter"}) -> tensor<4x64xf32> {
  %0 = graph.cast %p : tensor<4x1xi64> -> tensor<4x1xf32>
  %1 = graph.dot_general %0, %f batch [] x [] contract [1] x [0] : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
  %2 = graph.sin %1 : tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// -----

// Positions after arithmetic, with a learned scale, are positions.
// CHECK-LABEL: func @scaled_positions_are_positions
// CHECK: graph.dot_general {{.*}} : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
func.func @scaled_positions_are_positions(
    %p: tensor<4x1xi64> {graph.name = "t", graph.role = "input"},
    %s: tensor<4x1xf32> {graph.name = "scale", graph.role = "parameter"},
    %w: tensor<1x64xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x64xf32> {
  %0 = graph.cast %p : tensor<4x1xi64> -> tensor<4x1xf32>
  %1 = graph.mul %0, %s : tensor<4x1xf32>
  %2 = graph.log %1 : tensor<4x1xf32>
  %3 = graph.dot_general %2, %w batch [] x [] contract [1] x [0] : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
  return %3 : tensor<4x64xf32>
}

// -----

// Weights of a heat map times coordinates: an expected position.
// CHECK-LABEL: func @a_mean_of_positions_is_f32
// CHECK: graph.dot_general {{.*}} : tensor<4x512xf32>, tensor<512x1xf32> -> tensor<4x1xf32>
func.func @a_mean_of_positions_is_f32(
    %x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"},
    %w: tensor<8x512xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x1xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x512xf32> -> tensor<4x512xf32>
  %1 = graph.softmax %0 dim 1 : tensor<4x512xf32>
  %2 = graph.iota dim 0 : tensor<512x1xf32>
  %3 = graph.dot_general %1, %2 batch [] x [] contract [1] x [0] : tensor<4x512xf32>, tensor<512x1xf32> -> tensor<4x1xf32>
  return %3 : tensor<4x1xf32>
}

// -----

// The number of marked tokens up to each: a product of masks.
// CHECK-LABEL: func @a_count_is_f32
// CHECK: graph.dot_general {{.*}} : tensor<4x1024xf32>, tensor<1024x1024xf32> -> tensor<4x1024xf32>
func.func @a_count_is_f32(%m: tensor<4x1024xi1> {graph.name = "m", graph.role = "input"}) -> tensor<4x1024xf32> {
  %0 = graph.cast %m : tensor<4x1024xi1> -> tensor<4x1024xf32>
  %1 = graph.iota dim 0 : tensor<1024x1024xi64>
  %2 = graph.iota dim 1 : tensor<1024x1024xi64>
  %3 = graph.compare le %1, %2 : tensor<1024x1024xi64>
  %4 = graph.cast %3 : tensor<1024x1024xi1> -> tensor<1024x1024xf32>
  %5 = graph.dot_general %0, %4 batch [] x [] contract [1] x [0] : tensor<4x1024xf32>, tensor<1024x1024xf32> -> tensor<4x1024xf32>
  return %5 : tensor<4x1024xf32>
}

// -----

// Times that are floats, and constants of the model: the cosine makes them angles.
// CHECK-LABEL: func @an_angle_of_an_input_is_f32
// CHECK: graph.dot_general {{.*}} : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
func.func @an_angle_of_an_input_is_f32(
    %t: tensor<4x1xf32> {graph.name = "t", graph.role = "input"},
    %f: tensor<1x64xf32> {graph.name = "f", graph.role = "constant"}) -> tensor<4x64xf32> {
  %two_pi = graph.constant dense<6.283> : tensor<4x64xf32>
  %0 = graph.dot_general %t, %f batch [] x [] contract [1] x [0] : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
  %1 = graph.mul %0, %two_pi : tensor<4x64xf32>
  %2 = graph.cos %1 : tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// -----

// CHECK-LABEL: func @without_a_cosine_it_is_a_product_as_any
// CHECK: graph.dot_general {{.*}} -> tensor<4x64x[[LOW:b?f16]]>
func.func @without_a_cosine_it_is_a_product_as_any(
    %t: tensor<4x1xf32> {graph.name = "t", graph.role = "input"},
    %f: tensor<1x64xf32> {graph.name = "f", graph.role = "constant"}) -> tensor<4x64xf32> {
  %0 = graph.dot_general %t, %f batch [] x [] contract [1] x [0] : tensor<4x1xf32>, tensor<1x64xf32> -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

// CHECK-LABEL: func @a_sine_of_activations_does_not_count
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW]]>
// CHECK: graph.sin %{{.*}} : tensor<4x8x[[LOW]]>
func.func @a_sine_of_activations_does_not_count(
    %x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"},
    %w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x8xf32> {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = graph.relu %0 : tensor<4x8xf32>
  %2 = graph.dot_general %1, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %3 = graph.sin %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// The layers on top of an embedding of timesteps: sines are no positions.
// CHECK-LABEL: func @a_layer_on_sines_is_low
// CHECK: graph.sin %{{.*}} : tensor<4x8xf32>
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
func.func @a_layer_on_sines_is_low(
    %t: tensor<4x8xi64> {graph.name = "t", graph.role = "input"},
    %w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x8xf32> {
  %0 = graph.cast %t : tensor<4x8xi64> -> tensor<4x8xf32>
  %1 = graph.sin %0 : tensor<4x8xf32>
  %2 = graph.dot_general %1, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A layer on positions is f32, the next one reads activations.
// CHECK-LABEL: func @the_layer_after_that_of_positions_is_low
// CHECK: graph.dot_general {{.*}} : tensor<16x2xf32>, tensor<2x8xf32> -> tensor<16x8xf32>
// CHECK: graph.dot_general {{.*}} -> tensor<16x8x[[LOW:b?f16]]>
func.func @the_layer_after_that_of_positions_is_low(
    %v: tensor<2x8xf32> {graph.name = "v", graph.role = "parameter"},
    %w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<16x8xf32> {
  %0 = graph.iota dim 0 : tensor<16x2xf32>
  %1 = graph.dot_general %0, %v batch [] x [] contract [1] x [0] : tensor<16x2xf32>, tensor<2x8xf32> -> tensor<16x8xf32>
  %2 = graph.relu %1 : tensor<16x8xf32>
  %3 = graph.dot_general %2, %w batch [] x [] contract [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}

// -----

// A row of a table, chosen by a product with a one-hot row, also one of integers.
// CHECK-LABEL: func @a_one_hot_row_is_no_position
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
func.func @a_one_hot_row_is_no_position(
    %i: tensor<4x64xi64> {graph.name = "i", graph.role = "input"},
    %w: tensor<64x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x8xf32> {
  %0 = graph.iota dim 1 : tensor<4x64xi64>
  %1 = graph.compare eq %0, %i : tensor<4x64xi64>
  %2 = graph.cast %1 : tensor<4x64xi1> -> tensor<4x64xi64>
  %3 = graph.cast %2 : tensor<4x64xi64> -> tensor<4x64xf32>
  %4 = graph.dot_general %3, %w batch [] x [] contract [1] x [0] : tensor<4x64xf32>, tensor<64x8xf32> -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @pixels_are_samples
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
func.func @pixels_are_samples(
    %x: tensor<4x64xui8> {graph.name = "x", graph.role = "input"},
    %w: tensor<64x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x8xf32> {
  %0 = graph.cast %x : tensor<4x64xui8> -> tensor<4x64xf32>
  %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0] : tensor<4x64xf32>, tensor<64x8xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @an_embedding_of_positions_is_an_activation
// CHECK: graph.dot_general {{.*}} -> tensor<4x8x[[LOW:b?f16]]>
func.func @an_embedding_of_positions_is_an_activation(
    %table: tensor<64x8xf32> {graph.name = "wpe", graph.role = "parameter"},
    %w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter"}) -> tensor<4x8xf32> {
  %0 = graph.iota dim 0 : tensor<4xi64>
  %1 = graph.gather %table at %0 dim 0 : tensor<64x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %2 = graph.dot_general %1, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Distances times slopes (ALiBi): attention adds them to f32 scores, and rounds neither them nor a mask of -3.4e38.
// CHECK-LABEL: func @the_bias_of_attention_is_not_rounded
// CHECK: graph.attention %{{.*}} bias %{{.*}} : (tensor<2x4x8x[[LOW:b?f16]]>, tensor<2x4x8x[[LOW]]>, tensor<2x4x8x[[LOW]]>, tensor<2x4x4xf32>)
func.func @the_bias_of_attention_is_not_rounded(
    %q: tensor<2x4x8xf32> {graph.name = "q", graph.role = "input"},
    %slope: tensor<2x4x4xf32> {graph.name = "slope", graph.role = "constant"}) -> tensor<2x4x8xf32> {
  %0 = graph.iota dim 2 : tensor<2x4x4xf32>
  %1 = graph.mul %0, %slope : tensor<2x4x4xf32>
  %2, %lse = graph.attention %q, %q, %q bias %1 {scale = 1.0 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  return %2 : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func @attention_to_positions_is_f32
// CHECK: graph.attention {{.*}} -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
func.func @attention_to_positions_is_f32(
    %q: tensor<2x4x8xf32> {graph.name = "q", graph.role = "input"}) -> tensor<2x4x8xf32> {
  %0 = graph.iota dim 1 : tensor<2x4x8xf32>
  %1, %lse = graph.attention %q, %q, %0 {scale = 1.0 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  return %1 : tensor<2x4x8xf32>
}
