// The factor rule of each op, as the check of the phase `planned` prints it for a strategy without
// factors.
// A letter is a factor; `!` marks one that is not split, parentheses a dim of several factors.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-promise-check=phase=planned

#none = #mesh.strategy<[], results = []>
module @a_pointwise_op_may_be_split_along_every_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %y: tensor<4x8xf32> {graph.name = "y", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b, a b -> a b{{$}}}}
    %0 = graph.add %x, %y {mesh.strategy = #none} : tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_transpose_permutes_the_factors attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8x2xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b c -> c a b{{$}}}}
    %0 = graph.transpose %x by [2, 0, 1] {mesh.strategy = #none} : tensor<4x8x2xf32> -> tensor<2x4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_broadcast_has_a_factor_that_only_its_result_carries attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule b -> a b{{$}}}}
    %0 = graph.broadcast %x to [1] {mesh.strategy = #none} : tensor<8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_slice_is_not_split_along_its_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a !b -> a !c{{$}}}}
    %0 = graph.slice %x dim 1 from 0 step 2 {mesh.strategy = #none} : tensor<4x8xf32> -> tensor<4x4xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_pad_is_not_split_along_its_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a c -> !b c{{$}}}}
    %0 = graph.pad %x dim 0 low 1 {mesh.strategy = #none} : tensor<4x8xf32> -> tensor<6x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_concatenation_is_not_split_along_its_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %y: tensor<2x8xf32> {graph.name = "y", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a c, !d c -> !b c{{$}}}}
    %0 = graph.concat %x, %y dim 0 {mesh.strategy = #none} : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_reversal_is_not_split_along_its_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a c -> !b c{{$}}}}
    %0 = graph.reverse %x dim 0 {mesh.strategy = #none} : tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_sum_drops_the_factors_that_it_reduces attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b -> b{{$}}}}
    %0 = graph.reduce sum %x over [0] {mesh.strategy = #none} : tensor<4x8xf32> -> tensor<8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_product_of_elements_is_not_split_along_its_dims attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a b -> b{{$}}}}
    %0 = graph.reduce prod %x over [0] {mesh.strategy = #none} : tensor<4x8xf32> -> tensor<8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_scan_is_not_split_along_its_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a !b -> a !b{{$}}}}
    %0 = graph.scan sum %x dim 1 {mesh.strategy = #none} : tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_sort_has_the_same_factors_in_both_results attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a b -> !a b, !a b{{$}}}}
    %0:2 = graph.sort %x dim 0 {mesh.strategy = #none} : tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_gather_may_be_split_along_the_rows_of_its_table attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<64x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %i: tensor<5xi64> {graph.name = "i", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a c, b -> b c{{$}}}}
    %0 = graph.gather %x at %i dim 0 {mesh.strategy = #none} : tensor<64x8xf32>, tensor<5xi64> -> tensor<5x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_batch_of_a_gather_is_a_factor_of_table_and_indices attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x64x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %i: tensor<2x5xi64> {graph.name = "i", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b d, a c -> a c d{{$}}}}
    %0 = graph.gather %x at %i dim 1 {batch = 1 : i64, mesh.strategy = #none} : tensor<2x64x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_scatter_of_a_sum_may_be_split_along_its_updates attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<5x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %i: tensor<5xi64> {graph.name = "i", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule b c, b -> a c{{$}}}}
    %0 = graph.scatter sum %x at %i dim 0 {mesh.strategy = #none} : tensor<5x8xf32>, tensor<5xi64> -> tensor<64x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_scatter_of_a_product_keeps_its_updates_whole attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<5x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %i: tensor<5xi64> {graph.name = "i", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !b c, !b -> a c{{$}}}}
    %0 = graph.scatter prod %x at %i dim 0 {mesh.strategy = #none} : tensor<5x8xf32>, tensor<5xi64> -> tensor<64x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_batched_product_splits_its_batch_on_both_sides attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x3x4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %w: tensor<2x4x5xf32> {graph.name = "w", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b d, a d c -> a b c{{$}}}}
    %0 = graph.dot_general %x, %w batch [0] x [0] contract [2] x [1] {mesh.strategy = #none} : tensor<2x3x4xf32>, tensor<2x4x5xf32> -> tensor<2x3x5xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_reshape_that_merges_dims_has_a_dim_of_two_factors attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x3x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule c b a -> (c b) a{{$}}}}
    %0 = graph.reshape %x {mesh.strategy = #none} : tensor<2x3x8xf32> -> tensor<6x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_dim_of_size_one_has_a_factor_of_its_own attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule b -> b a{{$}}}}
    %0 = graph.reshape %x {mesh.strategy = #none} : tensor<6xf32> -> tensor<6x1xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_reshape_of_dims_that_do_not_nest_keeps_them_whole attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x9xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !b !a -> !d !c{{$}}}}
    %0 = graph.reshape %x {mesh.strategy = #none} : tensor<2x9xf32> -> tensor<3x6xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_convolution_splits_batch_and_channels_only attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x3x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %w: tensor<4x3x3xf32> {graph.name = "w", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a c !d, b c !e -> a b !f{{$}}}}
    %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 1 : i64, mesh.strategy = #none}
      : tensor<2x3x8xf32>, tensor<4x3x3xf32> -> tensor<2x4x6xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_convolution_in_groups_splits_its_batch_only attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %w: tensor<4x2x3xf32> {graph.name = "w", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a !d !e, !b !c !f -> a !b !g{{$}}}}
    %0 = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, groups = 2 : i64, mesh.strategy = #none}
      : tensor<2x4x8xf32>, tensor<4x2x3xf32> -> tensor<2x4x6xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_pooling_splits_batch_and_channels attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x3x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b !c -> a b !d{{$}}}}
    %0 = graph.pool max %x {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, mesh.strategy = #none}
      : tensor<2x3x8xf32> -> tensor<2x3x6xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_grouped_product_sums_over_inputs_and_groups attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6x4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %w: tensor<3x4x8xf32> {graph.name = "w", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %e: tensor<3xi32> {graph.name = "e", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b, d b c, !e -> a c{{$}}}}
    %0 = graph.grouped_matmul %x, %w, %e {mesh.strategy = #none} : tensor<6x4xf32>, tensor<3x4x8xf32>, tensor<3xi32> -> tensor<6x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_grouped_weight_gradient_sums_over_rows attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6x4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %e: tensor<3xi32> {graph.name = "e", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b, a c, !e -> d b c{{$}}}}
    %0 = graph.grouped_weight_grad %x, %x, %e {mesh.strategy = #none} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<3xi32> -> tensor<3x4x4xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @an_attention_splits_groups_of_heads_and_queries attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%q: tensor<4x5x8xf32> {graph.name = "q", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %k: tensor<2x6x8xf32> {graph.name = "k", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule (a b) c !e, a !d !e, a !d !f -> (a b) c !f, (a b) c{{$}}}}
    %0, %lse_0 = graph.attention %q, %k, %k {scale = 1.0 : f64, mesh.strategy = #none}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_causal_attention_splits_its_queries_too attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%q: tensor<4x5x8xf32> {graph.name = "q", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b !d, a !c !d, a !c !e -> a b !e, a b{{$}}}}
    %0, %lse_0 = graph.attention %q, %q, %q {scale = 1.0 : f64, causal, mesh.strategy = #none}
      : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5xf32>)
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_repeated_mask_has_factors_of_its_own attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%q: tensor<3x4x5x8xf32> {graph.name = "q", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}, {}]>},
                  %m: tensor<3x1x1x5xi1> {graph.name = "m", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a b c !e, a b !d !e, a b !d !f, a !g !h !d -> a b c !f, a b c{{$}}}}
    %0, %lse = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64, mesh.strategy = #none}
      : (tensor<3x4x5x8xf32>, tensor<3x4x5x8xf32>, tensor<3x4x5x8xf32>, tensor<3x1x1x5xi1>) -> (tensor<3x4x5x8xf32>, tensor<3x4x5xf32>)
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @gradients_of_keys_are_sums_over_queries_and_heads_of_a_group attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%q: tensor<4x5x8xf32> {graph.name = "q", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %k: tensor<2x6x8xf32> {graph.name = "k", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %l: tensor<4x5xf32> {graph.name = "l", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule (a b) c !e, a !d !e, a !d !f, (a b) c !f, (a b) c, (a b) c !f -> (a b) c !e, a !d !e, a !d !f{{$}}}}
    %0, %1, %2 = graph.attention_grad %q, %k, %k, %q, %l, %q {scale = 1.0 : f64, mesh.strategy = #none}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<4x5x8xf32>, tensor<4x5xf32>, tensor<4x5x8xf32>)
      -> (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>)
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_rotation_keeps_its_pairs_together attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a !b, a !b, a !b -> a !b{{$}}}}
    %0 = graph.rotary %x, %x, %x {mesh.strategy = #none} : tensor<4x8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_layer_norm_keeps_its_last_dim_whole attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %s: tensor<8xf32> {graph.name = "s", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule a !b, !b, !b -> a !b{{$}}}}
    %0 = graph.layer_norm %x, %s, %s {epsilon = 1.0e-05 : f64, mesh.strategy = #none} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_batch_norm_splits_channels_only attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<2x3x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}, {}]>},
                  %s: tensor<3xf32> {graph.name = "s", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a b !c, b, b, b, b -> !a b !c, b, b{{$}}}}
    %0:3 = graph.batch_norm %x, %s, %s running %s, %s {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64, mesh.strategy = #none}
      : tensor<2x3x8xf32>, tensor<3xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @a_loss_is_not_split_before_it_is_decomposed attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4x10xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{}, {}]>},
                  %l: tensor<4xi64> {graph.name = "l", graph.role = "input", mesh.sharding = #mesh.sharding<[{}]>}) {
    // expected-error-re @+1 {{does not fit its factor rule !a !b, !a -> {{$}}}}
    %0 = graph.softmax_cross_entropy %x, %l {mesh.strategy = #none} : tensor<4x10xf32>, tensor<4xi64> -> tensor<f32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @indices_may_be_split_along_every_dim attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() {
    // expected-error-re @+1 {{does not fit its factor rule  -> a b{{$}}}}
    %0 = graph.iota dim 1 {mesh.strategy = #none} : tensor<4x8xi64>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @equal_elements_may_be_split attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() {
    // expected-error-re @+1 {{does not fit its factor rule  -> a{{$}}}}
    %0 = graph.constant {mesh.strategy = #none} dense<0.0> : tensor<4xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @different_elements_are_not_split attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() {
    // expected-error-re @+1 {{does not fit its factor rule  -> !a{{$}}}}
    %0 = graph.constant {mesh.strategy = #none} dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
    return
  }
}

// -----

#none = #mesh.strategy<[], results = []>
module @sizes_are_not_split attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step() {
    // expected-error-re @+1 {{does not fit its factor rule  -> !a{{$}}}}
    %0 = graph.sizes ["8", "4"] {mesh.strategy = #none} : tensor<2xi64>
    return
  }
}
