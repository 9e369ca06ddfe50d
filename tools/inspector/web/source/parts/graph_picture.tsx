// The picture of a job's graph: where its boxes stand is the node's choice, so this only draws them, and lets
// wheel, pointer and keys move what is seen of it. The cursor goes from box to box by keys, and is read out;
// the boxes are no stops of the tab key, as there may be hundreds, and the table has links to the same.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph, GraphEdge, GraphNode } from '../api';
import { duration, plural, whole } from '../format';
import { jobLink } from '../route';
import { type Size, type View, all, atFirst, fitted, zoomed } from './graph_view';
import { total } from './signs';

/// Letters of the labels' font, in the picture's units: all have this width.
const letterWidth = 6.7;
const labelInset = 8;
const markWidth = 12;
const barHeight = 6;
const barInset = 8;
const leastBar = 3;
const margin = 16;
const heightLeast = 160;
const heightMost = 520;
const nearPixels = 3;
const scrubSteps = 1000;

export const explainLink = (job: string, node: GraphNode): string =>
  jobLink(job, 'explain', { task: node.task ?? node.name });

function words(node: GraphNode): string {
  const { finished, failed, open, skipped, cancelled } = node.counts;
  const parts = [`${whole(finished)} of ${plural(node.tasks, 'task')} finished`];
  if (failed > 0) parts.push(`${whole(failed)} failed`);
  if (skipped + cancelled > 0) parts.push(`${whole(skipped + cancelled)} skipped or cancelled`);
  if (open > 0) parts.push(`${whole(open)} open`);
  parts.push(`took ${duration(node.ran_seconds)}`);
  if (node.critical) parts.push('on the critical path');
  return `${node.label}: ${parts.join(', ')}`;
}

/// Cut in its middle: names of one program begin alike, and the end says which task it is.
function cut(label: string, width: number): string {
  const letters = Array.from(label.split('\n', 1)[0] ?? '');
  const fit = Math.max(3, Math.floor(width / letterWidth));
  if (letters.length <= fit) return letters.join('');
  const before = Math.floor((fit - 1) / 3);
  return `${letters.slice(0, before).join('')}…${letters.slice(before + 1 - fit).join('')}`;
}

function Bar({ node }: { node: GraphNode }) {
  const { counts, x, y, width, height } = node;
  const every = total(counts);
  const room = width - 2 * barInset;
  const top = y + height - barHeight - 7;
  let left = x + barInset;
  // Skipped and cancelled tasks are drawn thinner than those that ran.
  const parts: [string, number, number][] = [
    ['finished', counts.finished, 0], ['failed', counts.failed, 0],
    ['left-out', counts.skipped + counts.cancelled, barHeight / 2],
  ];
  return (
    <>
      <rect class="part-all" x={left} y={top} width={room} height={barHeight} />
      {parts.map(([name, count, thinner]) => {
        if (count === 0) return null;
        const from = Math.min(left, x + barInset + room - leastBar);
        const wide = Math.max(leastBar, (room * count) / every);
        left = from + wide;
        return <rect key={name} class={`part-${name}`} x={from} y={top + thinner}
          width={Math.min(wide, x + barInset + room - from)} height={barHeight - thinner} />;
      })}
    </>
  );
}

function Box({ id, node }: { id: string; node: GraphNode }) {
  const { x, y, width, height, counts } = node;
  const failed = counts.failed > 0;
  const room = width - 2 * labelInset - (failed ? markWidth : 0);
  return (
    <a href={explainLink(id, node)} tabindex={-1}
      class={`box${node.critical ? ' critical' : ''}${failed ? ' failed' : ''}`}>
      <title>{words(node)}</title>
      <rect class="outline" x={x} y={y} width={width} height={height} rx={6} />
      <text x={x + labelInset} y={y + 17}>{cut(node.label, room)}</text>
      {failed && <text class="mark" x={x + width - labelInset - 7} y={y + 18}>!</text>}
      <Bar node={node} />
    </a>
  );
}

function Edge({ edge, nodes }: { edge: GraphEdge; nodes: GraphNode[] }) {
  const [from, to] = [nodes[edge.from], nodes[edge.to]];
  if (from === undefined || to === undefined) return null;
  const [x, y] = [from.x + from.width, from.y + from.height / 2];
  const [toX, toY] = [to.x, to.y + to.height / 2];
  const bend = Math.max(24, Math.abs(toX - x) / 2);
  return (
    <path class={`edge ${edge.kind}${edge.critical ? ' critical' : ''}`}
      d={`M${x} ${y}C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`}>
      <title>{`${from.label} → ${to.label}: ${plural(edge.edges, `${edge.kind} edge`)}`}</title>
    </path>
  );
}

/// The box beside that one, more ahead than aside; undefined: there is none.
function beside(nodes: GraphNode[], at: GraphNode, right: number, down: number): number | undefined {
  let [best, least] = [undefined as number | undefined, Infinity];
  nodes.forEach((node, index) => {
    const x = node.x + node.width / 2 - at.x - at.width / 2;
    const y = node.y + node.height / 2 - at.y - at.height / 2;
    const ahead = x * right + y * down;
    const far = ahead + 3 * Math.abs(x * down) + 3 * Math.abs(y * right);
    if (ahead >= 1 && far < least) [best, least] = [index, far];
  });
  return best;
}

export function GraphPicture({ id, graph, reload }: { id: string; graph: Graph; reload: () => void }) {
  const { nodes } = graph;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [moved, setMoved] = useState<View | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const drag = useRef<{ x: number; y: number; view: View } | null>(null);
  const dragged = useRef(false);

  const picture: Size = { width: graph.width + margin, height: graph.height + margin };
  const screen: Size = {
    width: Math.max(1, width), height: Math.min(heightMost, Math.max(heightLeast, picture.height)),
  };
  // The graph of a job that runs grows, and the part that is seen stays.
  const view = moved === null ? atFirst(picture, screen) : fitted(moved, picture, screen);
  const seen: Size = { width: screen.width / view.pixelsPerUnit, height: screen.height / view.pixelsPerUnit };
  const move = (to: View) => setMoved(fitted(to, picture, screen));
  const pan = (right: number, down: number) =>
    move({ ...view, x: view.x + right * seen.width, y: view.y + down * seen.height });
  const middle = { x: screen.width / 2, y: screen.height / 2 };
  const zoom = (factor: number, at = middle) => setMoved(zoomed(view, picture, screen, factor, at));
  const showAll = () => setMoved(all(picture, screen));

  const onWheel = (event: WheelEvent) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan(event.deltaX / screen.width, 0);
      return;
    }
    const corner = box.current?.getBoundingClientRect();
    if (corner === undefined) return;
    const to = zoomed(view, picture, screen, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))),
      { x: event.clientX - corner.left, y: event.clientY - corner.top });
    // Where it gets no further, the page scrolls.
    if (to.pixelsPerUnit === view.pixelsPerUnit) return;
    event.preventDefault();
    setMoved(to);
  };
  // A handler that lives longer than one drawing looks here.
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    // Not as an attribute: such a handler might not keep the page from scrolling.
    const wheel = (event: WheelEvent) => latest.current(event);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', wheel);
    };
  }, []);

  const isSeen = (node: GraphNode) => node.x >= view.x && node.x + node.width <= view.x + seen.width &&
    node.y >= view.y && node.y + node.height <= view.y + seen.height;
  const place = (index: number | undefined) => {
    const node = index === undefined ? undefined : nodes[index];
    if (index === undefined || node === undefined) return;
    setCursor(index);
    if (isSeen(node)) return;
    move({ ...view, x: node.x + (node.width - seen.width) / 2, y: node.y + (node.height - seen.height) / 2 });
  };
  const at = cursor === null ? undefined : nodes[cursor];
  const go = (right: number, down: number, shift: boolean) => {
    if (!shift) pan(right / 10, down / 10);
    else if (at === undefined) place(0);
    else place(beside(nodes, at, right, down));
  };
  // Keys bring closer what the cursor is on.
  const zoomByKey = (factor: number) => zoom(factor, at === undefined || !isSeen(at) ? middle : {
    x: (at.x + at.width / 2 - view.x) * view.pixelsPerUnit,
    y: (at.y + at.height / 2 - view.y) * view.pixelsPerUnit,
  });
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      '+': () => zoomByKey(0.5),
      '=': () => zoomByKey(0.5),
      '-': () => zoomByKey(2),
      '0': showAll,
      Home: () => move({ ...view, x: 0 }),
      End: () => move({ ...view, x: picture.width }),
      ArrowLeft: () => go(-1, 0, event.shiftKey),
      ArrowRight: () => go(1, 0, event.shiftKey),
      ArrowUp: () => go(0, -1, event.shiftKey),
      ArrowDown: () => go(0, 1, event.shiftKey),
      Enter: () => at !== undefined && (location.hash = explainLink(id, at)),
      Escape: () => setCursor(null),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  const onFocus = () => {
    // By keys only: a pointer has its own place.
    if (cursor === null && box.current?.matches(':focus-visible')) setCursor(0);
  };
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from === null) return;
    const [right, down] = [event.clientX - from.x, event.clientY - from.y];
    dragged.current = dragged.current || Math.hypot(right, down) > nearPixels;
    if (!dragged.current) return;
    box.current?.setPointerCapture(event.pointerId);
    const { x, y, pixelsPerUnit } = from.view;
    move({ x: x - right / pixelsPerUnit, y: y - down / pixelsPerUnit, pixelsPerUnit });
  };

  const content = useMemo(() => (
    <>
      {/* What matters most is drawn last. */}
      {[false, true].map((critical) => graph.edges.map((edge, index) => edge.critical === critical && (
        <Edge key={index} edge={edge} nodes={nodes} />
      )))}
      {nodes.map((node, index) => <Box key={index} id={id} node={node} />)}
    </>
  ), [id, graph]);

  const room = picture.width - seen.width;
  return (
    <>
      <div class="filters">
        {room > 0 && (
          <label class="scrub">Position{' '}
            <input type="range" min={0} max={scrubSteps} value={Math.round((view.x / room) * scrubSteps)}
              onInput={(event) =>
                move({ ...view, x: (Number(event.currentTarget.value) / scrubSteps) * room })} />
          </label>
        )}
        <button type="button" aria-label="Closer" onClick={() => zoom(0.5)}>+</button>
        <button type="button" aria-label="Further away" onClick={() => zoom(2)}>−</button>
        <button type="button" onClick={showAll}>Whole graph</button>
        <button type="button" onClick={reload}>Refresh</button>
        <span class="quiet">{plural(graph.tasks, 'task')}, {plural(graph.edges_of_tasks, 'edge')}
          {graph.tasks > nodes.length && `, drawn as ${plural(nodes.length, 'box', 'boxes')}`}</span>
      </div>
      <div class="graph" ref={box} tabIndex={0} role="application" aria-roledescription="graph"
        aria-label={`Graph of ${id}, ${plural(nodes.length, 'box', 'boxes')}`} aria-describedby="graph-keys"
        style={{ height: `${screen.height}px` }}
        onKeyDown={onKey} onFocus={onFocus} onBlur={() => setCursor(null)}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, y: event.clientY, view };
          dragged.current = false;
        }}
        onPointerMove={onMove} onPointerUp={() => (drag.current = null)}
        onPointerCancel={() => (drag.current = null)}
        onDragStart={(event) => event.preventDefault()}
        onClickCapture={(event) => dragged.current && event.preventDefault()}>
        <svg aria-hidden="true" viewBox={`${view.x} ${view.y} ${seen.width} ${seen.height}`}>
          {width > 0 && content}
          {at !== undefined && (
            <rect class="cursor" x={at.x - 4} y={at.y - 4} width={at.width + 8} height={at.height + 8} rx={9} />
          )}
        </svg>
        <p class="unseen" id="graph-keys">Plus and minus zoom, arrows move the picture, with Shift go from
          box to box, 0 shows the whole graph, Enter explains what the box stands for. The same stands in a
          table below.</p>
        <p class="unseen" role="status">{at === undefined ? '' : words(at)}</p>
      </div>
    </>
  );
}

function Line({ kind, children }: { kind: string; children: string }) {
  return (
    <li>
      <svg width="30" height="8" aria-hidden="true"><path class={`edge ${kind}`} d="M0 4H30" /></svg>
      {' '}{children}
    </li>
  );
}

export function GraphLegend() {
  return (
    <ul class="legend" aria-label="Edges and boxes">
      <Line kind="strong">strong: only after success</Line>
      <Line kind="weak">weak: after any end</Line>
      <Line kind="conditional">conditional</Line>
      <Line kind="critical">thick: the critical path</Line>
      <li><span class="sign bad"><b>!</b> some failed</span></li>
      <li><span class="quiet">thin part of a bar: skipped or cancelled</span></li>
    </ul>
  );
}
