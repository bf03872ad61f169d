// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-add-loss{kind=mse}))' | FileCheck %s --check-prefix=MSE
// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-add-loss{kind=softmax_cross_entropy reduction=sum target=labels}))' | FileCheck %s --check-prefix=CE
// RUN: not atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-add-loss{kind=hinge}))' 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(train-add-loss{output=other}))' 2>&1 | FileCheck %s --check-prefix=OUTPUT

// MSE-LABEL: func.func @main
// MSE-SAME: (%[[X:.*]]: tensor<2x3xf32> {om.name = "x"}, %[[T:.*]]: tensor<2x3xf32> {om.name = "target"})
// MSE-SAME: -> (tensor<f32> {om.name = "loss"}, tensor<2x3xf32> {om.name = "y"})
// MSE: %[[Y:.*]] = graph.tanh %[[X]]
// MSE: %[[D:.*]] = graph.sub %[[Y]], %[[T]]
// MSE: %[[S:.*]] = graph.mul %[[D]], %[[D]]
// MSE: %[[R:.*]] = graph.reduce %[[S]] {{.*}}sum
// MSE: %[[L:.*]] = graph.mul %[[R]]
// MSE: return %[[L]], %[[Y]]

// CE-LABEL: func.func @main
// CE-SAME: %[[LABELS:.*]]: tensor<2xi64> {om.name = "labels"}
// CE: graph.log_softmax
// CE: graph.compare {{.*}}eq
// CE: graph.where
// CE: graph.compare {{.*}}ne
// CE: %[[L:.*]] = graph.reduce
// CE: return %[[L]]

// KIND: E15005: 'hinge' is not a loss; it must be one of softmax_cross_entropy, mse, l1, bce, bce_logits, output
// OUTPUT: E15005: the model has no output 'other' for the loss
func.func @main(%x: tensor<2x3xf32> {om.name = "x"}) -> (tensor<2x3xf32> {om.name = "y"}) {
  %y = graph.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
