// Draws lanes over time. An answer may be drawn into another window than it was asked for: while the next one
// is on its way, what is known is stretched to where the reader went. Exact slices where the answer has them,
// else columns as high as they were busy.

import type { Slice, Timeline } from '../api';
import type { Classes, Fills } from './classes';
import { type Window, ticks, tickText } from './window';

export const axisHeight = 22;
export const rowHeight = 20;
const letterWidth = 14;
const tickWidth = 90;

export interface Place {
  lane: number;
  at: number;
}

export interface Layout {
  width: number;
  height: number;
  gutter: number;
  lanes: number;
}

export function layoutOf(width: number, lanes: number): Layout {
  const height = axisHeight + Math.max(1, lanes) * rowHeight + 2;
  return { width, height, gutter: width < 500 ? 72 : 110, lanes };
}

export const xOf = (layout: Layout, window: Window, at: number): number =>
  layout.gutter + ((at - window.from) / (window.to - window.from || 1)) * (layout.width - layout.gutter);
export const timeOf = (layout: Layout, window: Window, x: number): number =>
  window.from + ((x - layout.gutter) / (layout.width - layout.gutter || 1)) * (window.to - window.from);
export const laneOf = (layout: Layout, y: number): number | null => {
  const lane = Math.floor((y - axisHeight) / rowHeight);
  return lane >= 0 && lane < layout.lanes ? lane : null;
};

export interface Drawing {
  context: CanvasRenderingContext2D;
  layout: Layout;
  timeline: Timeline;
  window: Window;
  classes: Classes;
  fills: Fills;
  cursor: Place | null;
}

interface Letter {
  text: string;
  number: number;
  x: number;
  y: number;
  width: number;
}

function letter({ context, fills }: Drawing, { text, number, x, y, width }: Letter): void {
  if (width < letterWidth) return;
  const middle = x + width / 2;
  context.fillStyle = fills.base(number);
  context.fillRect(middle - 6, y + 2, 12, rowHeight - 5);
  context.fillStyle = fills.ink;
  context.textAlign = 'center';
  context.fillText(text, middle, y + rowHeight / 2);
}

function drawColumns(drawing: Drawing): void {
  const { context, layout, timeline, window, classes, fills } = drawing;
  const step = (timeline.to - timeline.from) / Math.max(1, timeline.columns);
  const right = layout.width;
  for (let lane = 0; lane < layout.lanes; ++lane) {
    const of = timeline.lanes[lane];
    if (of === undefined) continue;
    const y = axisHeight + lane * rowHeight;
    const bottom = y + rowHeight - 1;
    for (let column = 0; column < of.busy.length;) {
      const name = of.name[column] ?? -1;
      const begin = column;
      let low = 1;
      const number = classes.number(timeline.names[name] ?? '?');
      // A single rectangle for neighbours that look alike: an hour of one long task is one.
      while (column < of.busy.length && (of.name[column] ?? -1) === name) {
        const busy = of.busy[column] ?? 0;
        let end = column + 1;
        while (end < of.busy.length && of.name[end] === name && of.busy[end] === busy) ++end;
        const x = Math.max(layout.gutter, xOf(layout, window, timeline.from + column * step));
        const to = Math.min(right, xOf(layout, window, timeline.from + end * step));
        column = end;
        if (busy <= 0 || to <= layout.gutter || x >= right) continue;
        low = Math.min(low, busy);
        const height = Math.max(2, busy * (rowHeight - 3));
        context.fillStyle = fills.of(number);
        context.fillRect(x, bottom - height, Math.max(0.7, to - x), height);
      }
      if (name < 0 || low < 0.6) continue;
      const x = Math.max(layout.gutter, xOf(layout, window, timeline.from + begin * step));
      const to = Math.min(right, xOf(layout, window, timeline.from + column * step));
      letter(drawing, { text: classes.letter(timeline.names[name] ?? '?'), number, x, y, width: to - x });
    }
  }
}

function drawSlices(drawing: Drawing, slices: Slice[]): void {
  const { context, layout, timeline, window, classes, fills } = drawing;
  for (const slice of slices) {
    if (slice.lane >= layout.lanes) continue;
    const x = Math.max(layout.gutter, xOf(layout, window, slice.begin));
    const to = Math.min(layout.width, xOf(layout, window, slice.begin + slice.seconds));
    if (to < layout.gutter || x > layout.width) continue;
    const y = axisHeight + slice.lane * rowHeight;
    const width = Math.max(1, to - x - (to - x > 3 ? 1 : 0));
    const name = timeline.names[slice.name] ?? '?';
    const number = classes.number(name);
    context.fillStyle = fills.of(number);
    context.fillRect(x, y + 2, width, rowHeight - 3);
    letter(drawing, { text: classes.letter(name), number, x, y, width });
    if (slice.outcome === 'finished') continue;
    context.fillStyle = fills.ground;
    context.fillRect(x, y + 1, Math.max(9, Math.min(width, 11)), 10);
    context.fillStyle = fills.bad;
    context.textAlign = 'left';
    context.fillText('✕', x, y + 7);
    context.fillRect(x, y + rowHeight - 3, width, 2);
  }
}

function drawAxis({ context, layout, window, fills }: Drawing): void {
  context.textAlign = 'left';
  for (const { at, step } of ticks(window, Math.floor((layout.width - layout.gutter) / tickWidth))) {
    const x = Math.round(xOf(layout, window, at)) + 0.5;
    context.strokeStyle = fills.line;
    context.beginPath();
    context.moveTo(x, axisHeight - 6);
    context.lineTo(x, layout.height);
    context.stroke();
    context.fillStyle = fills.quiet;
    if (x < layout.width - 40) context.fillText(tickText(at, step), x + 3, axisHeight / 2);
  }
}

function drawMarks({ context, layout, timeline, window, fills }: Drawing): void {
  context.strokeStyle = context.fillStyle = fills.bad;
  context.setLineDash([4, 3]);
  context.textAlign = 'center';
  for (const mark of timeline.marks) {
    const x = Math.round(xOf(layout, window, mark.at)) + 0.5;
    if (x < layout.gutter || x > layout.width) continue;
    context.beginPath();
    context.moveTo(x, axisHeight - 4);
    context.lineTo(x, layout.height);
    context.stroke();
    context.fillText('▼', x, axisHeight - 8);
  }
  context.setLineDash([]);
}

function drawLabels({ context, layout, timeline, fills, cursor }: Drawing): void {
  context.fillStyle = fills.ground;
  context.fillRect(0, 0, layout.gutter, layout.height);
  context.textAlign = 'left';
  for (let lane = 0; lane < layout.lanes; ++lane) {
    context.fillStyle = lane === cursor?.lane ? fills.text : fills.quiet;
    let text = timeline.lanes[lane]?.lane ?? '';
    // The end of a lane's name tells it from its neighbours.
    while (text.length > 4 && context.measureText(text).width > layout.gutter - 8) text = `…${text.slice(2)}`;
    context.fillText(text, 2, axisHeight + lane * rowHeight + rowHeight / 2);
  }
}

export function draw(drawing: Drawing): void {
  const { context, layout, timeline, window, fills, cursor } = drawing;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = fills.ground;
  context.fillRect(0, 0, layout.width, layout.height);
  for (let lane = 0; lane < layout.lanes; lane += 2) {
    context.fillStyle = fills.stripe;
    context.fillRect(0, axisHeight + lane * rowHeight, layout.width, rowHeight);
  }
  drawAxis(drawing);
  if (timeline.slices !== null) drawSlices(drawing, timeline.slices);
  else drawColumns(drawing);
  drawMarks(drawing);
  drawLabels(drawing);
  if (cursor === null) return;
  context.strokeStyle = fills.focus;
  const x = Math.round(xOf(layout, window, cursor.at)) + 0.5;
  const top = axisHeight + cursor.lane * rowHeight + 0.5;
  context.strokeRect(layout.gutter + 0.5, top, layout.width - layout.gutter - 1, rowHeight);
  if (x < layout.gutter) return;
  context.beginPath();
  context.moveTo(x, axisHeight);
  context.lineTo(x, layout.height);
  context.stroke();
}
