// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=sgd}))' | FileCheck %s --check-prefix=SGD
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=adam accumulate=2}))' | FileCheck %s --check-prefix=ADAM
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=sgd nesterov=true}))' 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-apply-optimizer))' 2>&1 | FileCheck %s --check-prefix=ORDER

// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate{scale=other}))' 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed -e 's/xf32/xf16/g' %s | not atc-opt --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer))' 2>&1 | FileCheck %s --check-prefix=HALF

// SCALE: E15002: no argument of one element of the loss's type is named 'other'
// HALF: E15001: the parameter 'w' is a 'tensor<1xf16>', but optimizers update float32 tensors
// SGD: module attributes {train.states = {{\[}}["mean", "mean.next"], ["train.step", "train.step.next"], ["w", "w.next"]]}
// SGD: [[RATE:%arg[0-9]+]]: tensor<f32> {om.name = "learning_rate"}
// SGD: %[[MOVE:.*]] = graph.mul %{{.*}}, [[RATE]]
// SGD: graph.sub %{{.*}}, %[[MOVE]]

// ADAM: ["train.run", "train.run.next"], ["w.gradient", "w.gradient.next"]
// ADAM-SAME: ["w.mean", "w.mean.next"], ["w.variance", "w.variance.next"]
// ADAM: graph.where

// NESTEROV: E15006: nesterov needs a momentum and no dampening
// ORDER: E15002: the parameter 'w' has no gradient: train-differentiate comes first
func.func @main(%w: tensor<1xf32> {om.name = "w", train.parameter},
                %m: tensor<1xf32> {om.name = "mean", train.statistic = "mean.next"})
    -> (tensor<1xf32> {om.name = "loss"}, tensor<1xf32> {om.name = "mean.next"}) {
  %e = graph.exp %w : (tensor<1xf32>) -> tensor<1xf32>
  return %e, %m : tensor<1xf32>, tensor<1xf32>
}
