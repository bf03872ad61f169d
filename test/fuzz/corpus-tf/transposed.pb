
:
xPlaceholder*
dtype0*
shape:
6
shapeConst*
dtype0*
valueB:
>
wConst*
dtype0*%
valueB*млл=
M
yConv2DBackpropInputshapewx*
strides
*
paddingSAME