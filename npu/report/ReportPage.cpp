//===-- ReportPage.cpp - the page around a report's figures ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/ReportParts.h"

const char *const atc::npu::kReportPage = R"PAGE(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { --ink:#1d2430; --soft:#667085; --line:#dfe3e8; --back:#fff; --card:#f6f7f9; --bar:#3b6fb6; --bound:#c0603a; --wait:#e8c9bd; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4e7ec; --soft:#98a2b3; --line:#343b47; --back:#14181f; --card:#1c222b; --bar:#6d9fe0; --bound:#e0895f; --wait:#5a4038; } }
body { font:14px/1.45 system-ui, sans-serif; color:var(--ink); background:var(--back); max-width:1280px; margin:0 auto; padding:24px; }
h1 { font-size:22px; margin:0 0 4px; } h2 { font-size:16px; margin:34px 0 10px; } p { margin:6px 0; }
.soft { color:var(--soft); } .cards { display:flex; flex-wrap:wrap; gap:10px; margin:18px 0; }
.card { background:var(--card); border-radius:6px; padding:10px 16px; min-width:120px; }
.card b { display:block; font-size:20px; font-weight:600; } .card span { color:var(--soft); font-size:12px; }
table { border-collapse:collapse; width:100%; } th { text-align:left; font-weight:600; color:var(--soft); font-size:12px; cursor:default; }
th, td { padding:4px 12px 4px 0; border-bottom:1px solid var(--line); white-space:nowrap; }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; } td.name { white-space:normal; overflow-wrap:anywhere; }
.track { background:var(--card); height:12px; border-radius:3px; min-width:160px; width:100%; display:flex; overflow:hidden; }
.track i { display:block; height:100%; background:var(--bar); } .track i.b { background:var(--bound); } .track i.w { background:var(--wait); }
.two { display:grid; grid-template-columns:repeat(auto-fit, minmax(420px, 1fr)); gap:0 40px; }
canvas { width:100%; display:block; cursor:grab; border:1px solid var(--line); border-radius:4px; }
#tip { position:fixed; pointer-events:none; background:var(--ink); color:var(--back); padding:5px 9px; border-radius:4px; font-size:12px; display:none; max-width:420px; white-space:pre-line; z-index:2; }
select, button { font:inherit; padding:2px 8px; } details { margin-top:8px; } summary { cursor:pointer; color:var(--soft); }
</style></head><body>
<h1>@TITLE@</h1><p class="soft">@NOTE@</p>
<div class="cards">@CARDS@</div>
<h2>Against the lower bound</h2>@ROOFLINE@
<div class="two"><div><h2>Use of the queues</h2>@QUEUES@</div><div><h2>Shared memories</h2>@TRAFFIC@</div></div>
<h2>What was waited for</h2>@STALLS@
<h2>Timeline</h2>
<p><select id="cores"></select> <button id="all">whole run</button> <span class="soft">Wheel: zoom. Drag: move. Click on a layer: go there. @TRUNCATED@</span></p>
<canvas id="time"></canvas><div id="tip"></div>
<h2>Memories over time</h2>
<p class="soft">The share of each local memory that a launch uses on its fullest core, and how busy the channels of L2 and DDR are; the same part of the run as above.</p>
<canvas id="memory"></canvas>
<h2>Layers</h2>@LAYERS@
<div class="two"><div><h2>Device memory</h2>@DEVICE@</div><div><h2>Moved between memories</h2>@MOVED@</div></div>
<h2>Local memories</h2>@LOCAL@
<script>
const data = @DATA@;
const canvas = document.getElementById('time'), tip = document.getElementById('tip'), pick = document.getElementById('cores');
const context = canvas.getContext('2d'), rowHeight = 15, labels = 118, top0 = 44;
const palette = {mmad:'#2f7d4f', vector:'#8757b5', transpose:'#a678cf', move_l0c:'#c98a1b', load2d:'#2b8c96', img2col:'#3ba7b3', move:'#3b6fb6', move_nd2nz:'#5a8bd0', load_image:'#6fa0e0', load_yuv:'#6fa0e0'};
const colours = data.kinds.map(k => k.startsWith('waits') ? null : palette[k] || '#778');
let at = 0;
const launches = data.launches.map(([length, name, memory]) => { const l = {start: at, end: at + length, name, memory}; at += length; return l; });
const rows = data.rows.map(row => {
  const n = row.items.length / 5, starts = new Float64Array(n), ends = new Float64Array(n);
  for (let i = 0, t = 0; i < n; ++i) { t += row.items[5 * i]; starts[i] = t * data.unit; ends[i] = (t + row.items[5 * i + 1]) * data.unit; }
  return {core: row.core, queue: row.queue, starts, ends, items: row.items};
});
const names = [...new Set(rows.map(r => r.core))];
for (const name of ['all cores', ...names]) pick.add(new Option(name, name));
if (names.length > 2) pick.value = names[0];
let from = 0, to = data.end || 1, shown = rows;
const us = cycles => { const t = cycles / data.mhz; return t >= 1000 ? (t / 1000).toFixed(4) + ' ms' : t.toFixed(3) + ' us'; };
const firstAfter = (list, value) => { let low = 0, high = list.length; while (low < high) { const mid = low + high >> 1; if (list[mid] < value) low = mid + 1; else high = mid; } return low; };
function draw() {
  shown = pick.value === 'all cores' ? rows : rows.filter(r => r.core === pick.value);
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = top0 + shown.length * rowHeight + 6;
  canvas.style.height = height + 'px'; canvas.width = width * ratio; canvas.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.body), ink = style.color, wait = style.getPropertyValue('--wait'), line = style.getPropertyValue('--line');
  context.clearRect(0, 0, width, height); context.font = '11px system-ui, sans-serif'; context.textBaseline = 'middle';
  const scale = (width - labels) / (to - from), x = t => labels + (t - from) * scale;
  let step = Math.pow(10, Math.ceil(Math.log10((to - from) / data.mhz / 10)));
  if (step * data.mhz * scale > 200) step /= 2;
  context.fillStyle = ink; context.strokeStyle = line;
  for (let t = Math.ceil(from / data.mhz / step) * step; t * data.mhz < to; t += step) {
    const px = x(t * data.mhz); context.fillText(us(t * data.mhz), px + 3, 8);
    context.beginPath(); context.moveTo(px, 0); context.lineTo(px, height); context.stroke();
  }
  context.save(); context.beginPath(); context.rect(labels, 0, width - labels, height); context.clip();
  launches.forEach((l, i) => {
    if (l.end < from || l.start > to) return;
    const a = x(l.start), b = x(l.end);
    context.fillStyle = i % 2 ? '#8a94a6' : '#a9b1bf'; context.fillRect(a, 18, Math.max(1, b - a - 0.5), 18);
    if (b - a > 40) { context.save(); context.beginPath(); context.rect(a, 18, b - a - 4, 18); context.clip(); context.fillStyle = '#111'; context.fillText(l.name, Math.max(a, labels) + 4, 27); context.restore(); }
  });
  shown.forEach((row, r) => {
    const y = top0 + r * rowHeight;
    let i = Math.max(0, firstAfter(row.starts, from) - 1), drawn = -1;
    for (; i < row.starts.length && row.starts[i] < to; ++i) {
      const a = x(row.starts[i]), b = x(row.ends[i]);
      if (b < labels || (b < drawn + 0.4 && b - a < 0.4)) continue;
      const colour = colours[row.items[5 * i + 2]];
      context.fillStyle = colour || wait; context.fillRect(a, colour ? y + 1 : y + 5, Math.max(0.5, b - a), colour ? rowHeight - 3 : rowHeight - 11);
      drawn = b;
    }
  });
  context.restore(); context.fillStyle = ink; context.fillText('layers', 4, 27);
  shown.forEach((row, r) => {
    const y = top0 + r * rowHeight + rowHeight / 2;
    if (!r || shown[r - 1].core !== row.core) context.fillText(row.core, 4, y);
    context.fillText(row.queue, labels - 34, y);
  });
  drawMemories();
}
const map = document.getElementById('memory'), mapRow = 34;
function drawMemories() {
  const ratio = devicePixelRatio || 1, width = map.clientWidth, height = data.memories.length * mapRow + 4, pen = map.getContext('2d');
  map.style.height = height + 'px'; map.width = width * ratio; map.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, width, height); pen.font = '11px system-ui, sans-serif'; pen.textBaseline = 'middle';
  const style = getComputedStyle(document.body), scale = (width - labels) / (to - from);
  data.memories.forEach((name, m) => {
    const floor = (m + 1) * mapRow; let drawn = labels, highest = 0;
    pen.fillStyle = style.color; pen.fillText(name, 4, floor - mapRow / 2);
    pen.fillStyle = style.getPropertyValue('--line'); pen.fillRect(labels, floor, width - labels, 1);
    pen.fillStyle = style.getPropertyValue(m < data.memories.length - 2 ? '--bar' : '--bound');
    // Launches of less than a pixel are drawn together, as high as the highest of them.
    for (const l of launches) {
      if (l.end < from || l.start > to) continue;
      const b = Math.min(width, labels + (l.end - from) * scale);
      highest = Math.max(highest, l.memory[m]);
      if (b - drawn < 1) continue;
      pen.fillRect(drawn, floor - highest / 100 * (mapRow - 4), b - drawn, highest / 100 * (mapRow - 4)); drawn = b; highest = 0;
    }
  });
}
map.addEventListener('mousemove', event => {
  const t = from + (event.offsetX - labels) / (map.clientWidth - labels) * (to - from), launch = launches.find(l => t >= l.start && t < l.end), m = Math.floor(event.offsetY / mapRow);
  const text = launch && event.offsetX > labels && m < data.memories.length ? data.memories[m] + ': ' + launch.memory[m] + ' %\n' + launch.name : '';
  tip.style.display = text ? 'block' : 'none'; tip.textContent = text; tip.style.left = Math.min(event.clientX + 14, innerWidth - 300) + 'px'; tip.style.top = event.clientY + 14 + 'px';
});
map.addEventListener('mouseleave', () => tip.style.display = 'none');
function clamp() { const span = Math.min(data.end || 1, Math.max(20, to - from)); from = Math.max(0, Math.min(from, (data.end || 1) - span)); to = from + span; }
canvas.addEventListener('wheel', event => {
  event.preventDefault();
  const position = Math.max(0, (event.offsetX - labels) / (canvas.clientWidth - labels)), t = from + position * (to - from), span = (to - from) * Math.exp(event.deltaY / 400);
  from = t - position * span; to = from + span; clamp(); draw();
}, {passive: false});
let held = null, moved = false;
canvas.addEventListener('mousedown', event => { held = {x: event.clientX, from, to}; moved = false; });
addEventListener('mouseup', () => held = null);
addEventListener('mousemove', event => {
  if (!held) return;
  const shift = (held.x - event.clientX) / (canvas.clientWidth - labels) * (held.to - held.from);
  moved = moved || Math.abs(held.x - event.clientX) > 3; from = held.from + shift; to = held.to + shift; clamp(); draw();
});
const under = event => from + (event.offsetX - labels) / (canvas.clientWidth - labels) * (to - from);
canvas.addEventListener('click', event => {
  if (moved || event.offsetY > top0) return;
  const t = under(event), launch = launches.find(l => t >= l.start && t < l.end);
  if (launch) { from = launch.start; to = launch.end; clamp(); draw(); }
});
canvas.addEventListener('mousemove', event => {
  const t = under(event), launch = launches.find(l => t >= l.start && t < l.end), row = shown[Math.floor((event.offsetY - top0) / rowHeight)];
  let text = '';
  if (event.offsetY > 16 && event.offsetY < top0 && launch) text = launch.name + '\n' + us(launch.end - launch.start);
  if (event.offsetY >= top0 && row) {
    const i = firstAfter(row.starts, t + 1e-9) - 1, slack = (to - from) / canvas.clientWidth;
    if (i >= 0 && row.ends[i] + slack >= t) {
      const spans = row.items[5 * i + 4];
      text = (spans > 1 ? 'mostly ' : '') + data.kinds[row.items[5 * i + 2]] + (spans > 1 ? ', ' + spans + ' spans' : ' (instruction ' + row.items[5 * i + 3] + ')') + '\n' + us(row.ends[i] - row.starts[i]) + ' at ' + us(row.starts[i]) + (launch ? '\n' + launch.name : '');
    }
  }
  tip.style.display = text ? 'block' : 'none'; tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - 300) + 'px'; tip.style.top = event.clientY + 14 + 'px';
});
canvas.addEventListener('mouseleave', () => tip.style.display = 'none');
document.getElementById('all').onclick = () => { from = 0; to = data.end || 1; draw(); };
pick.onchange = draw; addEventListener('resize', draw); draw();
</script></body></html>
)PAGE";
