// Cross entropy: means over all labels or over those that count, and losses that are none.
// RUN: cleave-opt --cleave-simplify %s | FileCheck %s

// CHECK-LABEL: @the_mean_may_be_a_quotient_and_the_minus_anywhere
func.func @the_mean_may_be_a_quotient_and_the_minus_anywhere(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %arg1 : tensor<6x8xf32>, tensor<6xi64> -> tensor<f32>
  // CHECK-NEXT: return %[[L]]
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %labels : tensor<6xi64> -> tensor<6x1xi64>
  %2 = graph.gather %0 at %1 dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %3 = graph.neg %2 : tensor<6x1xf32>
  %4 = graph.reduce sum %3 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %5 = graph.div %4, %six : tensor<f32>
  return %5 : tensor<f32>
}

// CHECK-LABEL: @without_a_minus_it_is_no_loss
func.func @without_a_minus_it_is_no_loss(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %labels : tensor<6xi64> -> tensor<6x1xi64>
  %2 = graph.gather %0 at %1 dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %3 = graph.reduce sum %2 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %4 = graph.div %3, %six : tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @a_sum_divided_by_another_number_is_no_mean
func.func @a_sum_divided_by_another_number_is_no_mean(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %five = graph.constant dense<-5.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %labels : tensor<6xi64> -> tensor<6x1xi64>
  %2 = graph.gather %0 at %1 dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %3 = graph.reduce sum %2 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %4 = graph.div %3, %five : tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: @a_mean_of_each_line_is_not_one_loss
func.func @a_mean_of_each_line_is_not_one_loss(%x: tensor<2x3x8xf32>, %labels: tensor<2x3x1xi64>) -> tensor<2x1xf32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %three = graph.constant dense<-3.0> : tensor<2x1xf32>
  %0 = graph.log_softmax %x dim 2 : tensor<2x3x8xf32>
  %1 = graph.gather %0 at %labels dim 2 {batch = 2 : i64} : tensor<2x3x8xf32>, tensor<2x3x1xi64> -> tensor<2x3x1xf32>
  %2 = graph.reduce sum %1 over [1] : tensor<2x3x1xf32> -> tensor<2x1xf32>
  %3 = graph.div %2, %three : tensor<2x1xf32>
  return %3 : tensor<2x1xf32>
}

// CHECK-LABEL: @the_softmax_is_over_the_classes
func.func @the_softmax_is_over_the_classes(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<-6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 0 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.reduce sum %1 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %3 = graph.div %2, %six : tensor<f32>
  return %3 : tensor<f32>
}

// CHECK-LABEL: @two_labels_per_position_are_no_cross_entropy
func.func @two_labels_per_position_are_no_cross_entropy(%x: tensor<6x8xf32>, %labels: tensor<6x2xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %all = graph.constant dense<-12.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x2xi64> -> tensor<6x2xf32>
  %2 = graph.reduce sum %1 over [0, 1] : tensor<6x2xf32> -> tensor<f32>
  %3 = graph.div %2, %all : tensor<f32>
  return %3 : tensor<f32>
}

// CHECK-LABEL: @probabilities_in_place_of_their_logarithms_are_no_cross_entropy
func.func @probabilities_in_place_of_their_logarithms_are_no_cross_entropy(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<-6.0> : tensor<f32>
  %0 = graph.softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.reduce sum %1 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %3 = graph.div %2, %six : tensor<f32>
  return %3 : tensor<f32>
}

// The next token is the label: logits without the last position.
// CHECK-LABEL: @logits_without_the_last_position
func.func @logits_without_the_last_position(%x: tensor<2x4x8xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  // CHECK: %[[S:.*]] = graph.slice %arg0 dim 1 from 0 step 1 : tensor<2x4x8xf32> -> tensor<2x3x8xf32>
  // CHECK: graph.softmax_cross_entropy
  // CHECK-NOT: graph.log_softmax
  // CHECK: return
  %six = graph.constant dense<-6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 2 : tensor<2x4x8xf32>
  %1 = graph.slice %0 dim 1 from 0 step 1 : tensor<2x4x8xf32> -> tensor<2x3x8xf32>
  %2 = graph.reshape %labels : tensor<2x3xi64> -> tensor<2x3x1xi64>
  %3 = graph.gather %1 at %2 dim 2 {batch = 2 : i64} : tensor<2x3x8xf32>, tensor<2x3x1xi64> -> tensor<2x3x1xf32>
  %4 = graph.reduce sum %3 over [0, 1, 2] : tensor<2x3x1xf32> -> tensor<f32>
  %5 = graph.div %4, %six : tensor<f32>
  return %5 : tensor<f32>
}

// The softmax has all classes, of which a part can be meant.
// CHECK-LABEL: @classes_that_are_cut_off_are_no_cross_entropy
func.func @classes_that_are_cut_off_are_no_cross_entropy(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<-6.0> : tensor<f32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.slice %0 dim 1 from 0 step 1 : tensor<6x8xf32> -> tensor<6x5xf32>
  %2 = graph.gather %1 at %labels dim 1 {batch = 1 : i64} : tensor<6x5xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %3 = graph.reduce sum %2 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %4 = graph.div %3, %six : tensor<f32>
  return %4 : tensor<f32>
}

// As in PyTorch: ignored labels are looked up as 0, and their terms are replaced by 0.
// CHECK-LABEL: @the_mean_over_labels_that_are_not_ignored
func.func @the_mean_over_labels_that_are_not_ignored(%x: tensor<6x8xf32>, %labels: tensor<6xi64>) -> tensor<f32> {
  // CHECK-NEXT: %[[L:.*]] = graph.softmax_cross_entropy %arg0, %arg1 {ignore_index = -1 : i64}
  // CHECK-NEXT: return %[[L]]
  %ignored = graph.constant dense<-1> : tensor<6xi64>
  %first = graph.constant dense<0> : tensor<6xi64>
  %nothing = graph.constant dense<0.0> : tensor<6xf32>
  %counts = graph.compare ne %labels, %ignored : tensor<6xi64>
  %valid = graph.select %counts, %labels, %first : tensor<6xi1>, tensor<6xi64>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.reshape %valid : tensor<6xi64> -> tensor<6x1xi64>
  %2 = graph.gather %0 at %1 dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %3 = graph.reshape %2 : tensor<6x1xf32> -> tensor<6xf32>
  %4 = graph.neg %3 : tensor<6xf32>
  %5 = graph.select %counts, %4, %nothing : tensor<6xi1>, tensor<6xf32>
  %6 = graph.reduce sum %5 over [0] : tensor<6xf32> -> tensor<f32>
  %7 = graph.cast %counts : tensor<6xi1> -> tensor<6xi64>
  %8 = graph.reduce sum %7 over [0] : tensor<6xi64> -> tensor<i64>
  %9 = graph.cast %8 : tensor<i64> -> tensor<f32>
  %10 = graph.div %6, %9 : tensor<f32>
  return %10 : tensor<f32>
}

// CHECK-LABEL: @labels_that_count_as_a_factor
func.func @labels_that_count_as_a_factor(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK: graph.softmax_cross_entropy %arg0, %{{.*}} {ignore_index = 3 : i64}
  // CHECK-NOT: graph.log_softmax
  // CHECK: return
  %ignored = graph.constant dense<3> : tensor<6x1xi64>
  %counts = graph.compare ne %labels, %ignored : tensor<6x1xi64>
  %factor = graph.cast %counts : tensor<6x1xi1> -> tensor<6x1xf32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.reduce sum %3 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %5 = graph.reduce sum %factor over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %6 = graph.div %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}

// CHECK-LABEL: @terms_and_their_number_have_to_ignore_the_same_label
func.func @terms_and_their_number_have_to_ignore_the_same_label(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %three = graph.constant dense<3> : tensor<6x1xi64>
  %four = graph.constant dense<4> : tensor<6x1xi64>
  %above = graph.compare ne %labels, %three : tensor<6x1xi64>
  %below = graph.compare ne %labels, %four : tensor<6x1xi64>
  %factor = graph.cast %above : tensor<6x1xi1> -> tensor<6x1xf32>
  %number = graph.cast %below : tensor<6x1xi1> -> tensor<6x1xf32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.reduce sum %3 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %5 = graph.reduce sum %number over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %6 = graph.div %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}

// CHECK-LABEL: @labels_of_another_tensor_do_not_count
func.func @labels_of_another_tensor_do_not_count(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>, %others: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %ignored = graph.constant dense<3> : tensor<6x1xi64>
  %counts = graph.compare ne %others, %ignored : tensor<6x1xi64>
  %factor = graph.cast %counts : tensor<6x1xi1> -> tensor<6x1xf32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.reduce sum %3 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %5 = graph.reduce sum %factor over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %6 = graph.div %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}

// CHECK-LABEL: @masked_terms_divided_by_the_number_of_all_are_another_mean
func.func @masked_terms_divided_by_the_number_of_all_are_another_mean(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %six = graph.constant dense<6.0> : tensor<f32>
  %ignored = graph.constant dense<3> : tensor<6x1xi64>
  %counts = graph.compare ne %labels, %ignored : tensor<6x1xi64>
  %factor = graph.cast %counts : tensor<6x1xi1> -> tensor<6x1xf32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.reduce sum %3 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %5 = graph.div %4, %six : tensor<f32>
  return %5 : tensor<f32>
}

// F.cross_entropy(reduction="none") masks ignored labels, and a user's mask does it again.
// CHECK-LABEL: @terms_may_be_masked_twice
func.func @terms_may_be_masked_twice(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK: graph.softmax_cross_entropy %arg0, %{{.*}} {ignore_index = 3 : i64}
  // CHECK-NOT: graph.log_softmax
  // CHECK: return
  %ignored = graph.constant dense<3> : tensor<6x1xi64>
  %zero = graph.constant dense<0> : tensor<6x1xi64>
  %counts = graph.compare ne %labels, %ignored : tensor<6x1xi64>
  %factor = graph.cast %counts : tensor<6x1xi1> -> tensor<6x1xf32>
  %classes = graph.select %counts, %labels, %zero : tensor<6x1xi1>, tensor<6x1xi64>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %classes dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.mul %3, %factor : tensor<6x1xf32>
  %5 = graph.reduce sum %4 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %6 = graph.reduce sum %factor over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %7 = graph.div %5, %6 : tensor<f32>
  return %7 : tensor<f32>
}

// CHECK-LABEL: @terms_masked_by_two_labels_are_none
func.func @terms_masked_by_two_labels_are_none(%x: tensor<6x8xf32>, %labels: tensor<6x1xi64>) -> tensor<f32> {
  // CHECK-NOT: graph.softmax_cross_entropy
  // CHECK: return
  %ignored = graph.constant dense<3> : tensor<6x1xi64>
  %padding = graph.constant dense<0> : tensor<6x1xi64>
  %counts = graph.compare ne %labels, %ignored : tensor<6x1xi64>
  %factor = graph.cast %counts : tensor<6x1xi1> -> tensor<6x1xf32>
  %others = graph.compare ne %labels, %padding : tensor<6x1xi64>
  %second = graph.cast %others : tensor<6x1xi1> -> tensor<6x1xf32>
  %0 = graph.log_softmax %x dim 1 : tensor<6x8xf32>
  %1 = graph.gather %0 at %labels dim 1 {batch = 1 : i64} : tensor<6x8xf32>, tensor<6x1xi64> -> tensor<6x1xf32>
  %2 = graph.neg %1 : tensor<6x1xf32>
  %3 = graph.mul %2, %factor : tensor<6x1xf32>
  %4 = graph.mul %3, %second : tensor<6x1xf32>
  %5 = graph.reduce sum %4 over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %6 = graph.reduce sum %factor over [0, 1] : tensor<6x1xf32> -> tensor<f32>
  %7 = graph.div %5, %6 : tensor<f32>
  return %7 : tensor<f32>
}
