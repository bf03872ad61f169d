
=
xPlaceholder*
dtype0*
shape:€€€
6
shapeConst*
dtype0*
valueB:
>
wConst*
dtype0*%
valueB*ÍÌÌ=
F
y	ScatterNdshapewxw*
paddingSAME*
strides

Y

m441413615Conv2DBackpropInputshapewxx*
paddingSAME*
strides

;

m357978623Const*
dtype0*
valueB:
<
m1957836193Const*
dtype0*
valueB: