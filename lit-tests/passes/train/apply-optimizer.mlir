// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=sgd}))' | FileCheck %s --check-prefix=SGD
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=adam accumulate=2}))' | FileCheck %s --check-prefix=ADAM
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{kind=sgd nesterov=true}))' 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-apply-optimizer))' 2>&1 | FileCheck %s --check-prefix=ORDER

// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate{scale=other}))' 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed -e 's/xf32/xf16/g' %s | not atc-opt --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer))' 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=0.25}))' | FileCheck %s --check-prefix=RATE
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=2 schedule=cosine steps=10 warmup=4 final=0.5}))' | FileCheck %s --check-prefix=COSINE
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=2 schedule=steps milestones=3,5 factor=0.5}))' | FileCheck %s --check-prefix=STEPS
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=2 schedule=linear}))' 2>&1 | FileCheck %s --check-prefix=LINEAR
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=2 schedule=step}))' 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{rate=2 warmup=5}))' 2>&1 | FileCheck %s --check-prefix=WARMUP

// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{weight-decay=0.5 groups=4:0.25:w,2::*}))' | FileCheck %s --check-prefix=GROUP
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{zero-rows=0:w}))' | FileCheck %s --check-prefix=ZERO
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{groups=1:0:v}))' 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{groups=fast:0:w}))' 2>&1 | FileCheck %s --check-prefix=BADGROUP
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(train-differentiate,train-apply-optimizer{zero-rows=1:w}))' 2>&1 | FileCheck %s --check-prefix=NOROW

// The first group that matches counts.
// GROUP: %[[FACTOR:.*]] = graph.constant dense<4.000000e+00>
// GROUP: %[[PACE:.*]] = graph.mul %{{.*}}, %[[FACTOR]]
// GROUP: %[[DECAY:.*]] = graph.constant dense<2.500000e-01>
// GROUP: graph.mul %arg0, %[[DECAY]]
// GROUP: graph.mul %{{.*}}, %[[PACE]]
// GROUP-NOT: dense<2.000000e+00>
// ZERO: %[[KEPT:.*]] = graph.constant dense<0.000000e+00> : tensor<1xf32>
// ZERO: %[[GRADIENT:.*]] = graph.mul %{{.*}}, %[[KEPT]]
// ZERO: graph.mul %[[GRADIENT]], %
// NOBODY: E15002: no parameter is named 'v', for which the optimizer has a group
// BADGROUP: E15006: 'fast:0:w' is no group: expected rate:decay:name
// NOROW: E15006: '1:w' is no row of a parameter that each rank has as a whole
// RATE-NOT: learning_rate
// RATE: %[[PACE:.*]] = graph.constant dense<2.500000e-01> : tensor<f32>
// RATE: graph.mul %{{.*}}, %[[PACE]]

// COSINE-NOT: learning_rate
// COSINE: %[[DONE:.*]] = graph.min
// COSINE: graph.cos
// COSINE: %[[UPDATES:.*]] = graph.add %[[COUNT:arg[0-9]+]]
// COSINE: graph.mul %[[UPDATES]]
// COSINE: %[[RISES:.*]] = graph.compare %[[COUNT]]
// COSINE: %[[PACE:.*]] = graph.where %[[RISES]]
// COSINE: graph.mul %{{.*}}, %[[PACE]]

// STEPS-COUNT-2: graph.where
// STEPS: graph.sub
// LINEAR: E15006: the learning rate: linear needs 'steps', the update at which it ends
// SCHEDULE: E15006: the learning rate: 'step' is not a schedule; it must be constant, linear, cosine or steps
// WARMUP: E15006: the learning rate: 'warmup', 'steps' and 'final' are settings of linear and cosine, not of constant
// SCALE: E15002: no argument of one element of the loss's type is named 'other'
// HALF: E15001: the parameter 'w' is a 'tensor<1xf16>', but optimizers update float32 tensors
// SGD: module attributes {train.states = {{\[}}["mean", "mean.next"], ["train.step", "train.step.next"], ["w", "w.next"]]}
// SGD: [[PACE:%arg[0-9]+]]: tensor<f32> {om.name = "learning_rate"}
// SGD: %[[MOVE:.*]] = graph.mul %{{.*}}, [[PACE]]
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
