module attributes {graph.name = "main_graph"} {
  func.func @main(%arg0: tensor<?x?xi64> {om.dim_names = ["batch", "sequence"], om.name = "input_ids"}, %arg1: tensor<?x?xi64> {om.dim_names = ["batch", "total"], om.name = "attention_mask"}, %arg2: tensor<?x?xi64> {om.dim_names = ["batch", "sequence"], om.name = "position_ids"}, %arg3: tensor<?x2x?x8xf16> {om.dim_names = ["batch", "", "past", ""], om.name = "past_key_values.0.key"}, %arg4: tensor<?x2x?x8xf16> {om.dim_names = ["batch", "", "past", ""], om.name = "past_key_values.0.value"}, %arg5: tensor<?x2x?x8xf16> {om.dim_names = ["batch", "", "past", ""], om.name = "past_key_values.1.key"}, %arg6: tensor<?x2x?x8xf16> {om.dim_names = ["batch", "", "past", ""], om.name = "past_key_values.1.value"}) -> (tensor<*xf16> {om.name = "logits"}, tensor<*xf16> {om.name = "present.0.key"}, tensor<*xf16> {om.name = "present.0.value"}, tensor<*xf16> {om.name = "present.1.key"}, tensor<*xf16> {om.name = "present.1.value"}) {
    %0 = graph.host_call "Cast"(%arg6) {to = array<i64: 1>} : (tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf32>
    %1 = graph.host_call "Cast"(%arg5) {to = array<i64: 1>} : (tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf32>
    %2 = graph.host_call "Cast"(%arg4) {to = array<i64: 1>} : (tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf32>
    %3 = graph.constant dense_resource<"atc_onnx::MatMul_718_15"> : tensor<32x48xf16>
    %4 = graph.host_call "Cast"(%3) {to = array<i64: 1>} : (tensor<32x48xf16>) -> tensor<32x48xf32>
    %5 = graph.constant dense_resource<"atc_onnx::MatMul_717_14"> : tensor<48x32xf16>
    %6 = graph.host_call "Cast"(%5) {to = array<i64: 1>} : (tensor<48x32xf16>) -> tensor<48x32xf32>
    %7 = graph.constant dense_resource<"atc_onnx::MatMul_716_13"> : tensor<32x48xf16>
    %8 = graph.host_call "Cast"(%7) {to = array<i64: 1>} : (tensor<32x48xf16>) -> tensor<32x48xf32>
    %9 = graph.constant dense_resource<"atc_onnx::MatMul_715_12"> : tensor<32x48xf16>
    %10 = graph.host_call "Cast"(%9) {to = array<i64: 1>} : (tensor<32x48xf16>) -> tensor<32x48xf32>
    %11 = graph.constant dense_resource<"atc_onnx::MatMul_714_11"> : tensor<32x32xf16>
    %12 = graph.host_call "Cast"(%11) {to = array<i64: 1>} : (tensor<32x32xf16>) -> tensor<32x32xf32>
    %13 = graph.constant dense_resource<"atc_onnx::MatMul_698_10"> : tensor<32x16xf16>
    %14 = graph.host_call "Cast"(%13) {to = array<i64: 1>} : (tensor<32x16xf16>) -> tensor<32x16xf32>
    %15 = graph.constant dense_resource<"atc_onnx::MatMul_697_9"> : tensor<32x16xf16>
    %16 = graph.host_call "Cast"(%15) {to = array<i64: 1>} : (tensor<32x16xf16>) -> tensor<32x16xf32>
    %17 = graph.constant dense_resource<"atc_onnx::MatMul_690_8"> : tensor<32x32xf16>
    %18 = graph.host_call "Cast"(%17) {to = array<i64: 1>} : (tensor<32x32xf16>) -> tensor<32x32xf32>
    %19 = graph.constant dense_resource<"atc_onnx::MatMul_689_7"> : tensor<48x32xf16>
    %20 = graph.host_call "Cast"(%19) {to = array<i64: 1>} : (tensor<48x32xf16>) -> tensor<48x32xf32>
    %21 = graph.constant dense_resource<"atc_onnx::MatMul_688_6"> : tensor<32x48xf16>
    %22 = graph.host_call "Cast"(%21) {to = array<i64: 1>} : (tensor<32x48xf16>) -> tensor<32x48xf32>
    %23 = graph.constant dense_resource<"atc_onnx::MatMul_687_5"> : tensor<32x48xf16>
    %24 = graph.host_call "Cast"(%23) {to = array<i64: 1>} : (tensor<32x48xf16>) -> tensor<32x48xf32>
    %25 = graph.constant dense_resource<"atc_onnx::MatMul_686_4"> : tensor<32x32xf16>
    %26 = graph.host_call "Cast"(%25) {to = array<i64: 1>} : (tensor<32x32xf16>) -> tensor<32x32xf32>
    %27 = graph.constant dense<3.535160e-01> : tensor<f16>
    %28 = graph.constant dense<0.353515625> : tensor<f32>
    %29 = graph.constant dense<9223372036854775807> : tensor<1xi64>
    %30 = graph.constant dense<3> : tensor<i64>
    %31 = graph.constant dense_resource<"atc_onnx::MatMul_670_3"> : tensor<32x16xf16>
    %32 = graph.host_call "Cast"(%31) {to = array<i64: 1>} : (tensor<32x16xf16>) -> tensor<32x16xf32>
    %33 = graph.constant dense_resource<"atc_onnx::MatMul_669_2"> : tensor<32x16xf16>
    %34 = graph.host_call "Cast"(%33) {to = array<i64: 1>} : (tensor<32x16xf16>) -> tensor<32x16xf32>
    %35 = graph.constant dense<8> : tensor<1xi64>
    %36 = graph.constant dense_resource<"atc_onnx::MatMul_662_1"> : tensor<32x32xf16>
    %37 = graph.host_call "Cast"(%36) {to = array<i64: 1>} : (tensor<32x32xf16>) -> tensor<32x32xf32>
    %38 = graph.constant dense<1.001360e-05> : tensor<f16>
    %39 = graph.constant dense<1.00135803E-5> : tensor<f32>
    %40 = graph.constant dense<2.000000e+00> : tensor<f16>
    %41 = graph.constant dense<2.000000e+00> : tensor<f32>
    %42 = graph.constant dense<1.000000e+00> : tensor<f16>
    %43 = graph.constant dense<1.000000e+00> : tensor<f32>
    %44 = graph.constant dense<[1.000000e+00, 9.997550e-02, 1.000210e-02, 1.000400e-03]> : tensor<4xf16>
    %45 = graph.constant dense<[1.000000e+00, 0.0999755859, 0.0100021362, 0.00100040436]> : tensor<4xf32>
    %46 = graph.constant dense<-6.550400e+04> : tensor<f16>
    %47 = graph.constant dense<-6.550400e+04> : tensor<f32>
    %48 = graph.constant dense<0.000000e+00> : tensor<f16>
    %49 = graph.constant dense<0.000000e+00> : tensor<f32>
    %50 = graph.constant dense<-1> : tensor<i64>
    %51 = graph.constant dense<-1> : tensor<1xi64>
    %52 = graph.constant dense<true> : tensor<i1>
    %53 = graph.constant dense<0> : tensor<1xi64>
    %54 = graph.constant dense<3> : tensor<1xi64>
    %55 = graph.constant dense<2> : tensor<1xi64>
    %56 = graph.constant dense<1> : tensor<1xi64>
    %57 = graph.constant dense<0> : tensor<i64>
    %58 = graph.constant dense<2> : tensor<i64>
    %59 = graph.constant dense<1> : tensor<i64>
    %60 = graph.constant dense_resource<atc_model.model.embed_tokens.weight_0> : tensor<48x32xf16>
    %61 = graph.constant dense<1.000000e+00> : tensor<32xf16>
    %62 = graph.constant dense<1.000000e+00> : tensor<32xf32>
    %63 = graph.host_call "Concat"(%arg3) {axis = array<i64: -2>} : (tensor<?x2x?x8xf16>) -> tensor<*xf16>
    %64 = graph.host_call "Cast"(%63) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %65 = graph.host_call "Gather"(%60, %arg0) {} : (tensor<48x32xf16>, tensor<?x?xi64>) -> tensor<*xf16>
    %66 = graph.host_call "Cast"(%arg1) {to = array<i64: 9>} : (tensor<?x?xi64>) -> tensor<*xi1>
    %67 = graph.host_call "Shape"(%65) {} : (tensor<*xf16>) -> tensor<*xi64>
    %68 = graph.host_call "Gather"(%67, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %69 = graph.host_call "Shape"(%63) {} : (tensor<*xf16>) -> tensor<*xi64>
    %70 = graph.host_call "Gather"(%69, %58) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %71 = graph.host_call "Cast"(%70) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %72 = graph.host_call "Add"(%70, %68) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %73 = graph.host_call "Shape"(%65) {} : (tensor<*xf16>) -> tensor<*xi64>
    %74 = graph.host_call "Gather"(%73, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %75 = graph.host_call "Cast"(%74) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %76 = graph.host_call "Range"(%57, %75, %59) {} : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %77 = graph.host_call "Cast"(%68) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %78 = graph.host_call "Range"(%57, %77, %59) {} : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %79 = graph.host_call "Add"(%78, %71) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %80 = graph.host_call "Cast"(%72) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %81 = graph.host_call "Range"(%57, %80, %59) {} : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %82 = graph.host_call "Unsqueeze"(%76, %56) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %83 = graph.host_call "Unsqueeze"(%82, %55) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %84 = graph.host_call "Unsqueeze"(%83, %54) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %85 = graph.host_call "Unsqueeze"(%79, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %86 = graph.host_call "Unsqueeze"(%85, %56) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %87 = graph.host_call "Unsqueeze"(%86, %54) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %88 = graph.host_call "Unsqueeze"(%81, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %89 = graph.host_call "Unsqueeze"(%88, %56) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %90 = graph.host_call "Unsqueeze"(%89, %55) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %91 = graph.host_call "LessOrEqual"(%90, %87) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %92 = graph.host_call "Cast"(%91) {to = array<i64: 9>} : (tensor<*xi1>) -> tensor<*xi1>
    %93 = graph.host_call "And"(%52, %92) {} : (tensor<i1>, tensor<*xi1>) -> tensor<*xi1>
    %94 = graph.host_call "Shape"(%66) {} : (tensor<*xi1>) -> tensor<*xi64>
    %95 = graph.host_call "Gather"(%94, %56) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %96 = graph.host_call "Flatten"(%66) {axis = array<i64: 2>} : (tensor<*xi1>) -> tensor<*xi1>
    %97 = graph.host_call "Mul"(%84, %95) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %98 = graph.host_call "Add"(%90, %97) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %99 = graph.host_call "Gather"(%96, %98) {axis = array<i64: 0>} : (tensor<*xi1>, tensor<*xi64>) -> tensor<*xi1>
    %100 = graph.host_call "Shape"(%98) {} : (tensor<*xi64>) -> tensor<*xi64>
    %101 = graph.host_call "Reshape"(%99, %51) {allowzero = array<i64: 0>} : (tensor<*xi1>, tensor<1xi64>) -> tensor<*xi1>
    %102 = graph.host_call "Concat"(%100) {axis = array<i64: 0>} : (tensor<*xi64>) -> tensor<*xi64>
    %103 = graph.host_call "Reshape"(%101, %102) {allowzero = array<i64: 0>} : (tensor<*xi1>, tensor<*xi64>) -> tensor<*xi1>
    %104 = graph.host_call "Cast"(%103) {to = array<i64: 9>} : (tensor<*xi1>) -> tensor<*xi1>
    %105 = graph.host_call "And"(%93, %104) {} : (tensor<*xi1>, tensor<*xi1>) -> tensor<*xi1>
    %106 = graph.host_call "Unsqueeze"(%74, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %107 = graph.host_call "Unsqueeze"(%68, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %108 = graph.host_call "Unsqueeze"(%72, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %109 = graph.host_call "Concat"(%106, %51, %107, %108) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %110 = graph.host_call "Reshape"(%109, %51) {allowzero = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %111 = graph.host_call "Shape"(%110) {} : (tensor<*xi64>) -> tensor<*xi64>
    %112 = graph.host_call "ConstantOfShape"(%111) {value = dense<1> : tensor<1xi64>} : (tensor<*xi64>) -> tensor<*xi64>
    %113 = graph.host_call "Mul"(%112, %50) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %114 = graph.host_call "Equal"(%110, %113) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %115 = graph.host_call "Where"(%114, %112, %110) {} : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %116 = graph.host_call "Expand"(%105, %115) {} : (tensor<*xi1>, tensor<*xi64>) -> tensor<*xi1>
    %117 = graph.host_call "Where"(%116, %49, %47) {} : (tensor<*xi1>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
    %118 = graph.host_call "Unsqueeze"(%arg2, %55) {} : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<*xi64>
    %119 = graph.host_call "Cast"(%118) {to = array<i64: 10>} : (tensor<*xi64>) -> tensor<*xf16>
    %120 = graph.host_call "Cast"(%119) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %121 = graph.host_call "Mul"(%120, %45) {} : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
    %122 = graph.host_call "Concat"(%121, %121) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %123 = graph.host_call "Cos"(%122) {} : (tensor<*xf32>) -> tensor<*xf32>
    %124 = graph.host_call "Mul"(%123, %43) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %125 = graph.host_call "Cast"(%124) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %126 = graph.host_call "Sin"(%122) {} : (tensor<*xf32>) -> tensor<*xf32>
    %127 = graph.host_call "Mul"(%126, %43) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %128 = graph.host_call "Cast"(%127) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %129 = graph.host_call "Cast"(%125) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %130 = graph.host_call "Cast"(%128) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %131 = graph.host_call "Cast"(%65) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %132 = graph.host_call "Cast"(%131) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %133 = graph.host_call "Pow"(%132, %41) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %134 = graph.host_call "ReduceMean"(%133, %51) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %135 = graph.host_call "Add"(%134, %39) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %136 = graph.host_call "Sqrt"(%135) {} : (tensor<*xf32>) -> tensor<*xf32>
    %137 = graph.host_call "Div"(%43, %136) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
    %138 = graph.host_call "Mul"(%132, %137) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %139 = graph.host_call "Cast"(%138) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %140 = graph.host_call "Cast"(%139) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %141 = graph.host_call "Cast"(%140) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %142 = graph.host_call "Mul"(%62, %141) {} : (tensor<32xf32>, tensor<*xf32>) -> tensor<*xf32>
    %143 = graph.host_call "Shape"(%142) {} : (tensor<*xf32>) -> tensor<*xi64>
    %144 = graph.host_call "Gather"(%143, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %145 = graph.host_call "Shape"(%142) {} : (tensor<*xf32>) -> tensor<*xi64>
    %146 = graph.host_call "Gather"(%145, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %147 = graph.host_call "MatMul"(%142, %37) {} : (tensor<*xf32>, tensor<32x32xf32>) -> tensor<*xf32>
    %148 = graph.host_call "Unsqueeze"(%144, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %149 = graph.host_call "Unsqueeze"(%146, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %150 = graph.host_call "Concat"(%148, %149, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %151 = graph.host_call "Unsqueeze"(%144, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %152 = graph.host_call "Unsqueeze"(%146, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %153 = graph.host_call "Concat"(%151, %152, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %154 = graph.host_call "Unsqueeze"(%144, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %155 = graph.host_call "Unsqueeze"(%146, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %156 = graph.host_call "Concat"(%154, %155, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %157 = graph.host_call "Reshape"(%147, %150) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %158 = graph.host_call "Transpose"(%157) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %159 = graph.host_call "MatMul"(%142, %34) {} : (tensor<*xf32>, tensor<32x16xf32>) -> tensor<*xf32>
    %160 = graph.host_call "Reshape"(%159, %153) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %161 = graph.host_call "Transpose"(%160) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %162 = graph.host_call "MatMul"(%142, %32) {} : (tensor<*xf32>, tensor<32x16xf32>) -> tensor<*xf32>
    %163 = graph.host_call "Reshape"(%162, %156) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %164 = graph.host_call "Transpose"(%163) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %165 = graph.host_call "Unsqueeze"(%129, %56) {} : (tensor<*xf16>, tensor<1xi64>) -> tensor<*xf16>
    %166 = graph.host_call "Cast"(%165) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %167 = graph.host_call "Unsqueeze"(%130, %56) {} : (tensor<*xf16>, tensor<1xi64>) -> tensor<*xf16>
    %168 = graph.host_call "Cast"(%167) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %169 = graph.host_call "Mul"(%158, %166) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %170 = graph.host_call "Shape"(%158) {} : (tensor<*xf32>) -> tensor<*xi64>
    %171 = graph.host_call "Gather"(%170, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %172 = graph.host_call "Div"(%171, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %173 = graph.host_call "Cast"(%172) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %174 = graph.host_call "Cast"(%173) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %175 = graph.host_call "Unsqueeze"(%174, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %176 = graph.host_call "Slice"(%158, %53, %175, %54, %56) {} : (tensor<*xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %177 = graph.host_call "Unsqueeze"(%174, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %178 = graph.host_call "Slice"(%158, %177, %29, %54, %56) {} : (tensor<*xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %179 = graph.host_call "Neg"(%178) {} : (tensor<*xf32>) -> tensor<*xf32>
    %180 = graph.host_call "Concat"(%179, %176) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %181 = graph.host_call "Mul"(%180, %168) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %182 = graph.host_call "Add"(%169, %181) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %183 = graph.host_call "Mul"(%161, %166) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %184 = graph.host_call "Shape"(%161) {} : (tensor<*xf32>) -> tensor<*xi64>
    %185 = graph.host_call "Gather"(%184, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %186 = graph.host_call "Div"(%185, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %187 = graph.host_call "Cast"(%186) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %188 = graph.host_call "Cast"(%187) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %189 = graph.host_call "Unsqueeze"(%188, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %190 = graph.host_call "Slice"(%161, %53, %189, %54, %56) {} : (tensor<*xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %191 = graph.host_call "Unsqueeze"(%188, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %192 = graph.host_call "Slice"(%161, %191, %29, %54, %56) {} : (tensor<*xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %193 = graph.host_call "Neg"(%192) {} : (tensor<*xf32>) -> tensor<*xf32>
    %194 = graph.host_call "Concat"(%193, %190) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %195 = graph.host_call "Mul"(%194, %168) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %196 = graph.host_call "Add"(%183, %195) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %197 = graph.host_call "Concat"(%64, %196) {axis = array<i64: -2>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %198 = graph.host_call "Cast"(%197) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %199 = graph.host_call "Concat"(%2, %164) {axis = array<i64: -2>} : (tensor<?x2x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
    %200 = graph.host_call "Cast"(%199) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %201 = graph.host_call "Shape"(%197) {} : (tensor<*xf32>) -> tensor<*xi64>
    %202 = graph.host_call "Gather"(%201, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %203 = graph.host_call "Shape"(%197) {} : (tensor<*xf32>) -> tensor<*xi64>
    %204 = graph.host_call "Gather"(%203, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %205 = graph.host_call "Shape"(%197) {} : (tensor<*xf32>) -> tensor<*xi64>
    %206 = graph.host_call "Gather"(%205, %58) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %207 = graph.host_call "Shape"(%197) {} : (tensor<*xf32>) -> tensor<*xi64>
    %208 = graph.host_call "Gather"(%207, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %209 = graph.host_call "Unsqueeze"(%197, %55) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %210 = graph.host_call "Unsqueeze"(%202, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %211 = graph.host_call "Unsqueeze"(%204, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %212 = graph.host_call "Unsqueeze"(%206, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %213 = graph.host_call "Unsqueeze"(%208, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %214 = graph.host_call "Concat"(%210, %211, %55, %212, %213) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %215 = graph.host_call "Reshape"(%214, %51) {allowzero = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %216 = graph.host_call "Shape"(%215) {} : (tensor<*xi64>) -> tensor<*xi64>
    %217 = graph.host_call "ConstantOfShape"(%216) {value = dense<1> : tensor<1xi64>} : (tensor<*xi64>) -> tensor<*xi64>
    %218 = graph.host_call "Mul"(%217, %50) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %219 = graph.host_call "Equal"(%215, %218) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %220 = graph.host_call "Where"(%219, %217, %215) {} : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %221 = graph.host_call "Expand"(%209, %220) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %222 = graph.host_call "Mul"(%204, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %223 = graph.host_call "Unsqueeze"(%202, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %224 = graph.host_call "Unsqueeze"(%222, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %225 = graph.host_call "Unsqueeze"(%206, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %226 = graph.host_call "Unsqueeze"(%208, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %227 = graph.host_call "Concat"(%223, %224, %225, %226) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %228 = graph.host_call "Reshape"(%221, %227) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %229 = graph.host_call "Shape"(%199) {} : (tensor<*xf32>) -> tensor<*xi64>
    %230 = graph.host_call "Gather"(%229, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %231 = graph.host_call "Shape"(%199) {} : (tensor<*xf32>) -> tensor<*xi64>
    %232 = graph.host_call "Gather"(%231, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %233 = graph.host_call "Shape"(%199) {} : (tensor<*xf32>) -> tensor<*xi64>
    %234 = graph.host_call "Gather"(%233, %58) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %235 = graph.host_call "Shape"(%199) {} : (tensor<*xf32>) -> tensor<*xi64>
    %236 = graph.host_call "Gather"(%235, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %237 = graph.host_call "Unsqueeze"(%199, %55) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %238 = graph.host_call "Unsqueeze"(%230, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %239 = graph.host_call "Unsqueeze"(%232, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %240 = graph.host_call "Unsqueeze"(%234, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %241 = graph.host_call "Unsqueeze"(%236, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %242 = graph.host_call "Concat"(%238, %239, %55, %240, %241) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %243 = graph.host_call "Reshape"(%242, %51) {allowzero = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %244 = graph.host_call "Shape"(%243) {} : (tensor<*xi64>) -> tensor<*xi64>
    %245 = graph.host_call "ConstantOfShape"(%244) {value = dense<1> : tensor<1xi64>} : (tensor<*xi64>) -> tensor<*xi64>
    %246 = graph.host_call "Mul"(%245, %50) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %247 = graph.host_call "Equal"(%243, %246) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %248 = graph.host_call "Where"(%247, %245, %243) {} : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %249 = graph.host_call "Expand"(%237, %248) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %250 = graph.host_call "Mul"(%232, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %251 = graph.host_call "Unsqueeze"(%230, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %252 = graph.host_call "Unsqueeze"(%250, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %253 = graph.host_call "Unsqueeze"(%234, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %254 = graph.host_call "Unsqueeze"(%236, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %255 = graph.host_call "Concat"(%251, %252, %253, %254) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %256 = graph.host_call "Reshape"(%249, %255) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %257 = graph.host_call "Transpose"(%228) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
    %258 = graph.host_call "MatMul"(%182, %257) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %259 = graph.host_call "Mul"(%258, %28) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %260 = graph.host_call "Add"(%259, %117) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %261 = graph.host_call "Softmax"(%260) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
    %262 = graph.host_call "Cast"(%261) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %263 = graph.host_call "Cast"(%262) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %264 = graph.host_call "Cast"(%263) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %265 = graph.host_call "Cast"(%264) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %266 = graph.host_call "MatMul"(%265, %256) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %267 = graph.host_call "Transpose"(%266) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %268 = graph.host_call "Unsqueeze"(%144, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %269 = graph.host_call "Unsqueeze"(%146, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %270 = graph.host_call "Concat"(%268, %269, %51) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %271 = graph.host_call "Reshape"(%267, %270) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %272 = graph.host_call "MatMul"(%271, %26) {} : (tensor<*xf32>, tensor<32x32xf32>) -> tensor<*xf32>
    %273 = graph.host_call "Add"(%132, %272) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %274 = graph.host_call "Cast"(%273) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %275 = graph.host_call "Cast"(%274) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %276 = graph.host_call "Cast"(%275) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %277 = graph.host_call "Pow"(%276, %41) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %278 = graph.host_call "ReduceMean"(%277, %51) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %279 = graph.host_call "Add"(%278, %39) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %280 = graph.host_call "Sqrt"(%279) {} : (tensor<*xf32>) -> tensor<*xf32>
    %281 = graph.host_call "Div"(%43, %280) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
    %282 = graph.host_call "Mul"(%276, %281) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %283 = graph.host_call "Cast"(%282) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %284 = graph.host_call "Cast"(%283) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %285 = graph.host_call "Cast"(%284) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %286 = graph.host_call "Mul"(%62, %285) {} : (tensor<32xf32>, tensor<*xf32>) -> tensor<*xf32>
    %287 = graph.host_call "MatMul"(%286, %24) {} : (tensor<*xf32>, tensor<32x48xf32>) -> tensor<*xf32>
    %288 = graph.host_call "Sigmoid"(%287) {} : (tensor<*xf32>) -> tensor<*xf32>
    %289 = graph.host_call "Mul"(%287, %288) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %290 = graph.host_call "MatMul"(%286, %22) {} : (tensor<*xf32>, tensor<32x48xf32>) -> tensor<*xf32>
    %291 = graph.host_call "Mul"(%289, %290) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %292 = graph.host_call "MatMul"(%291, %20) {} : (tensor<*xf32>, tensor<48x32xf32>) -> tensor<*xf32>
    %293 = graph.host_call "Add"(%276, %292) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %294 = graph.host_call "Cast"(%293) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %295 = graph.host_call "Cast"(%294) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %296 = graph.host_call "Cast"(%295) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %297 = graph.host_call "Pow"(%296, %41) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %298 = graph.host_call "ReduceMean"(%297, %51) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %299 = graph.host_call "Add"(%298, %39) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %300 = graph.host_call "Sqrt"(%299) {} : (tensor<*xf32>) -> tensor<*xf32>
    %301 = graph.host_call "Div"(%43, %300) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
    %302 = graph.host_call "Mul"(%296, %301) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %303 = graph.host_call "Cast"(%302) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %304 = graph.host_call "Cast"(%303) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %305 = graph.host_call "Cast"(%304) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %306 = graph.host_call "Mul"(%62, %305) {} : (tensor<32xf32>, tensor<*xf32>) -> tensor<*xf32>
    %307 = graph.host_call "Shape"(%306) {} : (tensor<*xf32>) -> tensor<*xi64>
    %308 = graph.host_call "Gather"(%307, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %309 = graph.host_call "Shape"(%306) {} : (tensor<*xf32>) -> tensor<*xi64>
    %310 = graph.host_call "Gather"(%309, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %311 = graph.host_call "MatMul"(%306, %18) {} : (tensor<*xf32>, tensor<32x32xf32>) -> tensor<*xf32>
    %312 = graph.host_call "Unsqueeze"(%308, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %313 = graph.host_call "Unsqueeze"(%310, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %314 = graph.host_call "Concat"(%312, %313, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %315 = graph.host_call "Unsqueeze"(%308, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %316 = graph.host_call "Unsqueeze"(%310, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %317 = graph.host_call "Concat"(%315, %316, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %318 = graph.host_call "Unsqueeze"(%308, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %319 = graph.host_call "Unsqueeze"(%310, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %320 = graph.host_call "Concat"(%318, %319, %51, %35) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
    %321 = graph.host_call "Reshape"(%311, %314) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %322 = graph.host_call "Transpose"(%321) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %323 = graph.host_call "MatMul"(%306, %16) {} : (tensor<*xf32>, tensor<32x16xf32>) -> tensor<*xf32>
    %324 = graph.host_call "Reshape"(%323, %317) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %325 = graph.host_call "Transpose"(%324) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %326 = graph.host_call "MatMul"(%306, %14) {} : (tensor<*xf32>, tensor<32x16xf32>) -> tensor<*xf32>
    %327 = graph.host_call "Reshape"(%326, %320) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %328 = graph.host_call "Transpose"(%327) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %329 = graph.host_call "Mul"(%322, %166) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %330 = graph.host_call "Shape"(%322) {} : (tensor<*xf32>) -> tensor<*xi64>
    %331 = graph.host_call "Gather"(%330, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %332 = graph.host_call "Div"(%331, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %333 = graph.host_call "Cast"(%332) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %334 = graph.host_call "Cast"(%333) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %335 = graph.host_call "Unsqueeze"(%334, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %336 = graph.host_call "Slice"(%322, %53, %335, %54, %56) {} : (tensor<*xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %337 = graph.host_call "Unsqueeze"(%334, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %338 = graph.host_call "Slice"(%322, %337, %29, %54, %56) {} : (tensor<*xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %339 = graph.host_call "Neg"(%338) {} : (tensor<*xf32>) -> tensor<*xf32>
    %340 = graph.host_call "Concat"(%339, %336) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %341 = graph.host_call "Mul"(%340, %168) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %342 = graph.host_call "Add"(%329, %341) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %343 = graph.host_call "Mul"(%325, %166) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %344 = graph.host_call "Shape"(%325) {} : (tensor<*xf32>) -> tensor<*xi64>
    %345 = graph.host_call "Gather"(%344, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %346 = graph.host_call "Div"(%345, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %347 = graph.host_call "Cast"(%346) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %348 = graph.host_call "Cast"(%347) {to = array<i64: 7>} : (tensor<*xi64>) -> tensor<*xi64>
    %349 = graph.host_call "Unsqueeze"(%348, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %350 = graph.host_call "Slice"(%325, %53, %349, %54, %56) {} : (tensor<*xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %351 = graph.host_call "Unsqueeze"(%348, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %352 = graph.host_call "Slice"(%325, %351, %29, %54, %56) {} : (tensor<*xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
    %353 = graph.host_call "Neg"(%352) {} : (tensor<*xf32>) -> tensor<*xf32>
    %354 = graph.host_call "Concat"(%353, %350) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %355 = graph.host_call "Mul"(%354, %168) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %356 = graph.host_call "Add"(%343, %355) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %357 = graph.host_call "Concat"(%1, %356) {axis = array<i64: -2>} : (tensor<?x2x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
    %358 = graph.host_call "Cast"(%357) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %359 = graph.host_call "Concat"(%0, %328) {axis = array<i64: -2>} : (tensor<?x2x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
    %360 = graph.host_call "Cast"(%359) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %361 = graph.host_call "Shape"(%357) {} : (tensor<*xf32>) -> tensor<*xi64>
    %362 = graph.host_call "Gather"(%361, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %363 = graph.host_call "Shape"(%357) {} : (tensor<*xf32>) -> tensor<*xi64>
    %364 = graph.host_call "Gather"(%363, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %365 = graph.host_call "Shape"(%357) {} : (tensor<*xf32>) -> tensor<*xi64>
    %366 = graph.host_call "Gather"(%365, %58) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %367 = graph.host_call "Shape"(%357) {} : (tensor<*xf32>) -> tensor<*xi64>
    %368 = graph.host_call "Gather"(%367, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %369 = graph.host_call "Unsqueeze"(%357, %55) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %370 = graph.host_call "Unsqueeze"(%362, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %371 = graph.host_call "Unsqueeze"(%364, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %372 = graph.host_call "Unsqueeze"(%366, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %373 = graph.host_call "Unsqueeze"(%368, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %374 = graph.host_call "Concat"(%370, %371, %55, %372, %373) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %375 = graph.host_call "Reshape"(%374, %51) {allowzero = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %376 = graph.host_call "Shape"(%375) {} : (tensor<*xi64>) -> tensor<*xi64>
    %377 = graph.host_call "ConstantOfShape"(%376) {value = dense<1> : tensor<1xi64>} : (tensor<*xi64>) -> tensor<*xi64>
    %378 = graph.host_call "Mul"(%377, %50) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %379 = graph.host_call "Equal"(%375, %378) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %380 = graph.host_call "Where"(%379, %377, %375) {} : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %381 = graph.host_call "Expand"(%369, %380) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %382 = graph.host_call "Mul"(%364, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %383 = graph.host_call "Unsqueeze"(%362, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %384 = graph.host_call "Unsqueeze"(%382, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %385 = graph.host_call "Unsqueeze"(%366, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %386 = graph.host_call "Unsqueeze"(%368, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %387 = graph.host_call "Concat"(%383, %384, %385, %386) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %388 = graph.host_call "Reshape"(%381, %387) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %389 = graph.host_call "Shape"(%359) {} : (tensor<*xf32>) -> tensor<*xi64>
    %390 = graph.host_call "Gather"(%389, %57) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %391 = graph.host_call "Shape"(%359) {} : (tensor<*xf32>) -> tensor<*xi64>
    %392 = graph.host_call "Gather"(%391, %59) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %393 = graph.host_call "Shape"(%359) {} : (tensor<*xf32>) -> tensor<*xi64>
    %394 = graph.host_call "Gather"(%393, %58) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %395 = graph.host_call "Shape"(%359) {} : (tensor<*xf32>) -> tensor<*xi64>
    %396 = graph.host_call "Gather"(%395, %30) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %397 = graph.host_call "Unsqueeze"(%359, %55) {} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %398 = graph.host_call "Unsqueeze"(%390, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %399 = graph.host_call "Unsqueeze"(%392, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %400 = graph.host_call "Unsqueeze"(%394, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %401 = graph.host_call "Unsqueeze"(%396, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %402 = graph.host_call "Concat"(%398, %399, %55, %400, %401) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %403 = graph.host_call "Reshape"(%402, %51) {allowzero = array<i64: 0>} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %404 = graph.host_call "Shape"(%403) {} : (tensor<*xi64>) -> tensor<*xi64>
    %405 = graph.host_call "ConstantOfShape"(%404) {value = dense<1> : tensor<1xi64>} : (tensor<*xi64>) -> tensor<*xi64>
    %406 = graph.host_call "Mul"(%405, %50) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %407 = graph.host_call "Equal"(%403, %406) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
    %408 = graph.host_call "Where"(%407, %405, %403) {} : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %409 = graph.host_call "Expand"(%397, %408) {} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %410 = graph.host_call "Mul"(%392, %58) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %411 = graph.host_call "Unsqueeze"(%390, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %412 = graph.host_call "Unsqueeze"(%410, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %413 = graph.host_call "Unsqueeze"(%394, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %414 = graph.host_call "Unsqueeze"(%396, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %415 = graph.host_call "Concat"(%411, %412, %413, %414) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
    %416 = graph.host_call "Reshape"(%409, %415) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %417 = graph.host_call "Transpose"(%388) {perm = array<i64: 0, 1, 3, 2>} : (tensor<*xf32>) -> tensor<*xf32>
    %418 = graph.host_call "MatMul"(%342, %417) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %419 = graph.host_call "Mul"(%418, %28) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %420 = graph.host_call "Add"(%419, %117) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %421 = graph.host_call "Softmax"(%420) {axis = array<i64: -1>} : (tensor<*xf32>) -> tensor<*xf32>
    %422 = graph.host_call "Cast"(%421) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %423 = graph.host_call "Cast"(%422) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %424 = graph.host_call "Cast"(%423) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %425 = graph.host_call "Cast"(%424) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %426 = graph.host_call "MatMul"(%425, %416) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %427 = graph.host_call "Transpose"(%426) {perm = array<i64: 0, 2, 1, 3>} : (tensor<*xf32>) -> tensor<*xf32>
    %428 = graph.host_call "Unsqueeze"(%308, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %429 = graph.host_call "Unsqueeze"(%310, %53) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %430 = graph.host_call "Concat"(%428, %429, %51) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
    %431 = graph.host_call "Reshape"(%427, %430) {allowzero = array<i64: 0>} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    %432 = graph.host_call "MatMul"(%431, %12) {} : (tensor<*xf32>, tensor<32x32xf32>) -> tensor<*xf32>
    %433 = graph.host_call "Add"(%296, %432) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %434 = graph.host_call "Cast"(%433) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %435 = graph.host_call "Cast"(%434) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %436 = graph.host_call "Cast"(%435) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %437 = graph.host_call "Pow"(%436, %41) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %438 = graph.host_call "ReduceMean"(%437, %51) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %439 = graph.host_call "Add"(%438, %39) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %440 = graph.host_call "Sqrt"(%439) {} : (tensor<*xf32>) -> tensor<*xf32>
    %441 = graph.host_call "Div"(%43, %440) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
    %442 = graph.host_call "Mul"(%436, %441) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %443 = graph.host_call "Cast"(%442) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %444 = graph.host_call "Cast"(%443) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %445 = graph.host_call "Cast"(%444) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %446 = graph.host_call "Mul"(%62, %445) {} : (tensor<32xf32>, tensor<*xf32>) -> tensor<*xf32>
    %447 = graph.host_call "MatMul"(%446, %10) {} : (tensor<*xf32>, tensor<32x48xf32>) -> tensor<*xf32>
    %448 = graph.host_call "Sigmoid"(%447) {} : (tensor<*xf32>) -> tensor<*xf32>
    %449 = graph.host_call "Mul"(%447, %448) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %450 = graph.host_call "MatMul"(%446, %8) {} : (tensor<*xf32>, tensor<32x48xf32>) -> tensor<*xf32>
    %451 = graph.host_call "Mul"(%449, %450) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %452 = graph.host_call "MatMul"(%451, %6) {} : (tensor<*xf32>, tensor<48x32xf32>) -> tensor<*xf32>
    %453 = graph.host_call "Add"(%436, %452) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %454 = graph.host_call "Cast"(%453) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %455 = graph.host_call "Cast"(%454) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %456 = graph.host_call "Cast"(%455) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %457 = graph.host_call "Pow"(%456, %41) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %458 = graph.host_call "ReduceMean"(%457, %51) {keepdims = array<i64: 1>} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %459 = graph.host_call "Add"(%458, %39) {} : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    %460 = graph.host_call "Sqrt"(%459) {} : (tensor<*xf32>) -> tensor<*xf32>
    %461 = graph.host_call "Div"(%43, %460) {} : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
    %462 = graph.host_call "Mul"(%456, %461) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %463 = graph.host_call "Cast"(%462) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %464 = graph.host_call "Cast"(%463) {to = array<i64: 10>} : (tensor<*xf16>) -> tensor<*xf16>
    %465 = graph.host_call "Cast"(%464) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %466 = graph.host_call "Mul"(%62, %465) {} : (tensor<32xf32>, tensor<*xf32>) -> tensor<*xf32>
    %467 = graph.host_call "MatMul"(%466, %4) {} : (tensor<*xf32>, tensor<32x48xf32>) -> tensor<*xf32>
    %468 = graph.host_call "Cast"(%467) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    return %468, %198, %200, %358, %360 : tensor<*xf16>, tensor<*xf16>, tensor<*xf16>, tensor<*xf16>, tensor<*xf16>
  }
}

