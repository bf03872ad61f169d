// RUN: atc-opt %s --host-pack-attributes --split-input-file | FileCheck %s

// A node of f32 is its split, its comparison (and feature), and the next nodes; a leaf leads to itself
// and has its first vote instead of the split. A vote is a weight and a target; the last one of a leaf
// has the highest bit. What is no list of the trees stays.
// CHECK-LABEL: func @regressor
// CHECK: graph.host_call "TreeEnsembleRegressor"(%arg0) {n_targets = array<i64: 1>,
// CHECK-SAME: packed_facts = dense<[1, 5, 0, 1, 0, 1]> : tensor<6xi64>, packed_members = dense<> : tensor<0xf64>,
// CHECK-SAME: packed_nodes = dense<{{\[\[}}1056964608, 4, 1, 2], [0, 1879048192, 1, 1], [1065353216, 1879048192, 2, 2]]> : tensor<3x4xi32>,
// CHECK-SAME: packed_roots = dense<{{\[\[}}0, 1]]> : tensor<1x2xi32>,
// CHECK-SAME: packed_votes = dense<{{\[\[}}1065353216, -2147483648], [1073741824, -2147483648]]> : tensor<2x2xi32>,
// CHECK-SAME: post_transform = "LOGISTIC"}
func.func @regressor(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = graph.host_call "TreeEnsembleRegressor"(%x) {n_targets = array<i64: 1>, post_transform = "LOGISTIC", nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>, nodes_featureids = array<i64: 4, 0, 0>, nodes_values = array<f64: 0.5, 0.0, 0.0>, nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, target_treeids = array<i64: 0, 0>, target_nodeids = array<i64: 1, 2>, target_ids = array<i64: 0, 0>, target_weights = array<f64: 1.0, 2.0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Splits that floats do not hold make nodes of six words. Labels and base values are no trees.
// CHECK-LABEL: func @classifier
// CHECK: "TreeEnsembleClassifier"(%arg0) {base_values = array<f64: 5.000000e-01>, classlabels_strings = ["a", "b"], packed_facts = {{.*}}, packed_nodes = {{.*}}tensor<3x6xi32>
// CHECK-NOT: class_
// CHECK-NOT: nodes_values
func.func @classifier(%x: tensor<*xf64>) -> tensor<*xf32> {
  %y:2 = graph.host_call "TreeEnsembleClassifier"(%x) {base_values = array<f64: 0.5>, classlabels_strings = ["a", "b"], nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>, nodes_featureids = array<i64: 0, 0, 0>, nodes_values_as_tensor = dense<[0.1, 0.0, 0.0]> : tensor<3xf64>, nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, class_treeids = array<i64: 0, 0>, class_nodeids = array<i64: 1, 2>, class_ids = array<i64: 0, 0>, class_weights = array<f64: 1.0, -2.0>} : (tensor<*xf64>) -> (tensor<*xi64>, tensor<*xf32>)
  return %y#1 : tensor<*xf32>
}

// -----

// Columns of a whole block, here of two vectors of three features.
// CHECK-LABEL: func @vectors
// CHECK: "SVMRegressor"(%arg0) {coefficients = array<f64: 1.000000e+00, 2.000000e+00>, n_supports = array<i64: 2>, packed_vectors = {{.*}}tensor<3x64xf32>}
// CHECK: "SVMClassifier"(%arg0) {classlabels_ints = array<i64: 0, 1>, coefficients = array<f64: 1.000000e+00, 2.000000e+00>, packed_vectors = {{.*}}tensor<3x64xf32>, vectors_per_class = array<i64: 1, 1>}
func.func @vectors(%x: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = graph.host_call "SVMRegressor"(%x) {coefficients = array<f64: 1.0, 2.0>, n_supports = array<i64: 2>, support_vectors = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>} : (tensor<*xf32>) -> tensor<*xf32>
  %z:2 = graph.host_call "SVMClassifier"(%x) {coefficients = array<f64: 1.0, 2.0>, classlabels_ints = array<i64: 0, 1>, vectors_per_class = array<i64: 1, 1>, support_vectors = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>} : (tensor<*xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %y, %z#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Lists that contradict each other stay, and the call says why; other kernels are none of its business.
// CHECK-LABEL: func @stays
// CHECK: "TreeEnsembleRegressor"(%arg0) {n_targets = array<i64: 1>, nodes_nodeids = array<i64: 0>, nodes_treeids = array<i64: 0, 0>}
// CHECK: "SVMRegressor"(%arg0) {coefficients = array<f64: 1.000000e+00>}
func.func @stays(%x: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = graph.host_call "TreeEnsembleRegressor"(%x) {n_targets = array<i64: 1>, nodes_treeids = array<i64: 0, 0>, nodes_nodeids = array<i64: 0>} : (tensor<*xf32>) -> tensor<*xf32>
  %z = graph.host_call "SVMRegressor"(%x) {coefficients = array<f64: 1.0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}
