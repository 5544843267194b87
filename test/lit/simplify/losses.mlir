// Losses that an exporter spelled out.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// As nll_loss2d is decomposed: classes before positions, with a dim of one element between.
// CHECK-LABEL: @cross_entropy_of_classes_in_the_middle
func.func @cross_entropy_of_classes_in_the_middle(%x: tensor<2x8x3xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  // CHECK: graph.softmax_cross_entropy
  // CHECK-NOT: graph.log_softmax
  // CHECK: return
  %mean = graph.constant dense<-0.166666667> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<2x8x3xf32>
  %1 = graph.reshape %0 : tensor<2x8x3xf32> -> tensor<2x8x1x3xf32>
  %2 = graph.transpose %1 by [0, 3, 2, 1] : tensor<2x8x1x3xf32> -> tensor<2x3x1x8xf32>
  %3 = graph.reshape %labels : tensor<2x3xi64> -> tensor<2x3x1x1xi64>
  %4 = graph.gather %2 at %3 dim 3 {batch = 3 : i64} : tensor<2x3x1x8xf32>, tensor<2x3x1x1xi64> -> tensor<2x3x1x1xf32>
  %5 = graph.reduce sum %4 over [0, 1, 2, 3] : tensor<2x3x1x1xf32> -> tensor<f32>
  %6 = graph.mul %5, %mean : tensor<f32>
  return %6 : tensor<f32>
}

// Eight classes of which four can be meant are no cross entropy.
// CHECK-LABEL: @half_of_the_classes
func.func @half_of_the_classes(%x: tensor<2x8x3xf32>, %labels: tensor<2x3x2xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %mean = graph.constant dense<-0.0833333333> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<2x8x3xf32>
  %1 = graph.reshape %0 : tensor<2x8x3xf32> -> tensor<2x4x2x3xf32>
  %2 = graph.transpose %1 by [0, 3, 2, 1] : tensor<2x4x2x3xf32> -> tensor<2x3x2x4xf32>
  %3 = graph.reshape %labels : tensor<2x3x2xi64> -> tensor<2x3x2x1xi64>
  %4 = graph.gather %2 at %3 dim 3 {batch = 3 : i64} : tensor<2x3x2x4xf32>, tensor<2x3x2x1xi64> -> tensor<2x3x2x1xf32>
  %5 = graph.reduce sum %4 over [0, 1, 2, 3] : tensor<2x3x2x1xf32> -> tensor<f32>
  %6 = graph.mul %5, %mean : tensor<f32>
  return %6 : tensor<f32>
}

// CHECK-LABEL: @labels_may_be_one_hot_rows
func.func @labels_may_be_one_hot_rows(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %arg1 : tensor<6x8xf32>, tensor<6xi64> -> tensor<f32>
  // CHECK-NEXT: return %[[L]]
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %class = graph.iota dim 1 : tensor<6x8xi64>
  %1 = graph.broadcast %labels to [0] : tensor<6xi64> -> tensor<6x8xi64>
  %2 = graph.compare eq %class, %1 : tensor<6x8xi64>
  %3 = graph.cast %2 : tensor<6x8xi1> -> tensor<6x8xi64>
  %4 = graph.cast %3 : tensor<6x8xi64> -> tensor<6x8xf32>
  %5 = graph.mul %4, %0 : tensor<6x8xf32>
  %6 = graph.reduce sum %5 over [1] : tensor<6x8xf32> -> tensor<6xf32>
  %7 = graph.neg %6 : tensor<6xf32>
  %8 = graph.reduce sum %7 over [0] : tensor<6xf32> -> tensor<f32>
  %9 = graph.div %8, %six : tensor<f32>
  return %9 : tensor<f32>
}

// CHECK-LABEL: @one_hot_rows_may_be_summed_with_all_positions
func.func @one_hot_rows_may_be_summed_with_all_positions(%x: tensor<2x3x8xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %arg1 : tensor<2x3x8xf32>, tensor<2x3xi64> -> tensor<f32>
  // CHECK-NEXT: return %[[L]]
  %six = graph.constant dense<6.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %zeros = graph.broadcast %zero to [] : tensor<f32> -> tensor<2x3x8xf32>
  %0 = graph.log_softmax %x dim 2 : tensor<2x3x8xf32>
  %class = graph.iota dim 2 : tensor<2x3x8xi64>
  %column = graph.reshape %labels : tensor<2x3xi64> -> tensor<2x3x1xi64>
  %flat = graph.reshape %column : tensor<2x3x1xi64> -> tensor<2x3xi64>
  %1 = graph.broadcast %flat to [0, 1] : tensor<2x3xi64> -> tensor<2x3x8xi64>
  %2 = graph.compare eq %1, %class : tensor<2x3x8xi64>
  %3 = graph.select %2, %0, %zeros : tensor<2x3x8xi1>, tensor<2x3x8xf32>
  %4 = graph.reduce sum %3 over [0, 1, 2] : tensor<2x3x8xf32> -> tensor<f32>
  %5 = graph.neg %4 : tensor<f32>
  %6 = graph.div %5, %six : tensor<f32>
  return %6 : tensor<f32>
}

// CHECK-LABEL: @one_hot_rows_of_one_label_for_all_positions_are_no_labels
func.func @one_hot_rows_of_one_label_for_all_positions_are_no_labels(%x: tensor<6x8xf32>, %label: tensor<i64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %class = graph.iota dim 1 : tensor<6x8xi64>
  %1 = graph.broadcast %label to [] : tensor<i64> -> tensor<6x8xi64>
  %2 = graph.compare eq %class, %1 : tensor<6x8xi64>
  %3 = graph.cast %2 : tensor<6x8xi1> -> tensor<6x8xf32>
  %4 = graph.mul %3, %0 : tensor<6x8xf32>
  %5 = graph.reduce sum %4 over [0, 1] : tensor<6x8xf32> -> tensor<f32>
  %6 = graph.neg %5 : tensor<f32>
  %7 = graph.div %6, %six : tensor<f32>
  return %7 : tensor<f32>
}

// CHECK-LABEL: @positions_in_place_of_classes_are_no_labels
func.func @positions_in_place_of_classes_are_no_labels(%x: tensor<6x6xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x6xf32>
  %row = graph.iota dim 0 : tensor<6x6xi64>
  %1 = graph.broadcast %labels to [0] : tensor<6xi64> -> tensor<6x6xi64>
  %2 = graph.compare eq %row, %1 : tensor<6x6xi64>
  %3 = graph.cast %2 : tensor<6x6xi1> -> tensor<6x6xf32>
  %4 = graph.mul %3, %0 : tensor<6x6xf32>
  %5 = graph.reduce sum %4 over [0, 1] : tensor<6x6xf32> -> tensor<f32>
  %6 = graph.neg %5 : tensor<f32>
  %7 = graph.div %6, %six : tensor<f32>
  return %7 : tensor<f32>
}

// CHECK-LABEL: @logits_minus_their_log_sum_exp
func.func @logits_minus_their_log_sum_exp(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %arg1 : tensor<6x8xf32>, tensor<6xi64> -> tensor<f32>
  // CHECK-NEXT: return %[[L]]
  %six = graph.constant dense<6.0> : tensor<f32>
  %max = graph.reduce max %x over [1] : tensor<6x8xf32> -> tensor<6xf32>
  %0 = graph.broadcast %max to [0] : tensor<6xf32> -> tensor<6x8xf32>
  %1 = graph.sub %x, %0 : tensor<6x8xf32>
  %2 = graph.exp %1 : tensor<6x8xf32>
  %3 = graph.reduce sum %2 over [1] : tensor<6x8xf32> -> tensor<6xf32>
  %4 = graph.log %3 : tensor<6xf32>
  %5 = graph.add %4, %max : tensor<6xf32>
  %6 = graph.reshape %labels : tensor<6xi64> -> tensor<6x1xi64>
  %7 = graph.gather %x at %6 dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %8 = graph.reshape %7 : tensor<6x1xf32> -> tensor<6xf32>
  %9 = graph.sub %5, %8 : tensor<6xf32>
  %10 = graph.reduce sum %9 over [0] : tensor<6xf32> -> tensor<f32>
  %11 = graph.div %10, %six : tensor<f32>
  return %11 : tensor<f32>
}

// CHECK-LABEL: @logits_minus_the_log_sum_exp_of_others
func.func @logits_minus_the_log_sum_exp_of_others(%x: tensor<6x8xf32>, %z: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.exp %z : tensor<6x8xf32>
  %1 = graph.reduce sum %0 over [1] : tensor<6x8xf32> -> tensor<6xf32>
  %2 = graph.log %1 : tensor<6xf32>
  %3 = graph.gather %x at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %4 = graph.reshape %3 : tensor<6x1xf32> -> tensor<6xf32>
  %5 = graph.sub %2, %4 : tensor<6xf32>
  %6 = graph.reduce sum %5 over [0] : tensor<6xf32> -> tensor<f32>
  %7 = graph.div %6, %six : tensor<f32>
  return %7 : tensor<f32>
}

// CHECK-LABEL: @the_mean_over_a_symbolic_batch
func.func @the_mean_over_a_symbolic_batch(%x: tensor<?x8xf32, #graph.dims<["b", ""]>>, %labels: tensor<?x1xi64, #graph.dims<["b", ""]>>) -> tensor<f32> {
  // CHECK: graph.softmax_cross_entropy %arg0, %{{.*}} -> tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<?x8xf32, #graph.dims<["b", ""]>>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<?x8xf32, #graph.dims<["b", ""]>>, tensor<?x1xi64, #graph.dims<["b", ""]>> -> tensor<?x1xf32, #graph.dims<["b", ""]>>
  %2 = graph.neg %1 : tensor<?x1xf32, #graph.dims<["b", ""]>>
  %3 = graph.reduce sum %2 over [0, 1] : tensor<?x1xf32, #graph.dims<["b", ""]>> -> tensor<f32>
  %share = graph.sizes ["1"] {divisor = "b"} : tensor<f32>
  %4 = graph.mul %3, %share : tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @the_share_of_another_symbol_is_no_mean
func.func @the_share_of_another_symbol_is_no_mean(%x: tensor<?x8xf32, #graph.dims<["b", ""]>>, %labels: tensor<?x1xi64, #graph.dims<["b", ""]>>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %0 = graph.log_softmax %x dim 1 : tensor<?x8xf32, #graph.dims<["b", ""]>>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<?x8xf32, #graph.dims<["b", ""]>>, tensor<?x1xi64, #graph.dims<["b", ""]>> -> tensor<?x1xf32, #graph.dims<["b", ""]>>
  %2 = graph.neg %1 : tensor<?x1xf32, #graph.dims<["b", ""]>>
  %3 = graph.reduce sum %2 over [0, 1] : tensor<?x1xf32, #graph.dims<["b", ""]>> -> tensor<f32>
  %share = graph.sizes ["1"] {divisor = "c"} : tensor<f32>
  %4 = graph.mul %3, %share : tensor<f32>
  return %4 : tensor<f32>
}

// As log_probs[arange(6), labels] is exported.
// CHECK-LABEL: @terms_may_be_chosen_in_the_flat_table
func.func @terms_may_be_chosen_in_the_flat_table(%x: tensor<6x8xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  // CHECK: %[[LABELS:.*]] = graph.reshape %arg1 : tensor<2x3xi64> -> tensor<6xi64>
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %[[LABELS]] : tensor<6x8xf32>, tensor<6xi64> -> tensor<f32>
  // CHECK-NEXT: return %[[L]]
  %mean = graph.constant dense<-0.166666667> : tensor<f32>
  %classes = graph.constant dense<8> : tensor<6xi64>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %0 : tensor<6x8xf32> -> tensor<48xf32>
  %2 = graph.iota dim 0 : tensor<6xi64>
  %3 = graph.mul %2, %classes : tensor<6xi64>
  %4 = graph.reshape %labels : tensor<2x3xi64> -> tensor<6xi64>
  %5 = graph.add %3, %4 : tensor<6xi64>
  %6 = graph.gather %1 at %5 dim 0 : tensor<48xf32>, tensor<6xi64> -> tensor<6xf32>
  %7 = graph.reduce sum %6 over [0] : tensor<6xf32> -> tensor<f32>
  %8 = graph.mul %7, %mean : tensor<f32>
  return %8 : tensor<f32>
}

// CHECK-LABEL: @terms_of_every_other_row_are_none
func.func @terms_of_every_other_row_are_none(%x: tensor<6x8xf32>, %labels: tensor<3xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %mean = graph.constant dense<-0.333333333> : tensor<f32>
  %classes = graph.constant dense<16> : tensor<3xi64>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %0 : tensor<6x8xf32> -> tensor<48xf32>
  %2 = graph.iota dim 0 : tensor<3xi64>
  %3 = graph.mul %2, %classes : tensor<3xi64>
  %4 = graph.add %3, %labels : tensor<3xi64>
  %5 = graph.gather %1 at %4 dim 0 : tensor<48xf32>, tensor<3xi64> -> tensor<3xf32>
  %6 = graph.reduce sum %5 over [0] : tensor<3xf32> -> tensor<f32>
  %7 = graph.mul %6, %mean : tensor<f32>
  return %7 : tensor<f32>
}
