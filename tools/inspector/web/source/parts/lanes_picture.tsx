// The timeline's picture on a canvas: wheel, pointer and keys move its window and its cursor. What is under
// the cursor stands beside it, and is read out when keys moved it there.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Timeline } from '../api';
import { jobLink } from '../route';
import { theme } from '../theme';
import { Classes, Fills } from '../timeline/classes';
import { type Found, found, step } from '../timeline/found';
import { type Place, draw, laneOf, layoutOf, timeOf, xOf, axisHeight, rowHeight } from '../timeline/picture';
import { type Window, panned, zoomed } from '../timeline/window';

const nearPixels = 3;
const tipWidth = 240;
const tipHeight = 76;

export function Swatch({ number, letter }: { number: number; letter: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dressed = theme.value;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const fills = new Fills();
    context.fillStyle = fills.of(number);
    context.fillRect(0, 0, 32, 16);
    context.fillStyle = fills.base(number);
    context.fillRect(8, 1, 16, 14);
    context.fillStyle = fills.ink;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(letter, 16, 8.5);
  }, [number, letter, dressed]);
  return <canvas class="swatch" width={32} height={16} ref={canvas} role="img" aria-label={letter} />;
}

interface Properties {
  id: string;
  timeline: Timeline;
  span: number;
  view: Window;
  move: (to: Window) => void;
  classes: Classes;
  lanes: number;
}

function words(of: Found, letter: string | null): string {
  const task = of.task === null ? '' : ` (${of.task})`;
  return `${of.lane}, ${of.when}: ${of.name === null ? '' : `${letter} ${of.name}${task}, `}${of.what}`;
}

export function LanesPicture({ id, timeline, span, view, move, classes, lanes }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState<Place | null>(null);
  const [byKeys, setByKeys] = useState(false);
  const fills = useRef<{ theme: string; made: Fills } | null>(null);
  const drag = useRef<{ x: number; view: Window; moved: boolean } | null>(null);
  const dressed = theme.value;
  const layout = layoutOf(width, lanes);
  const secondsPerPixel = (view.to - view.from) / Math.max(1, width - layout.gutter);
  // Handlers that live longer than one drawing look here.
  const latest = useRef({ view, layout, span, move });
  latest.current = { view, layout, span, move };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    const onWheel = (event: WheelEvent) => {
      const { view: seen, layout: laid, span: all, move: go } = latest.current;
      const pixels = element.getBoundingClientRect();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        go(panned(seen, all, (event.deltaX / (laid.width - laid.gutter)) * (seen.to - seen.from)));
        return;
      }
      // A picture higher than the screen must let the page scroll; there it takes Ctrl, as on maps.
      if (!event.ctrlKey && !event.shiftKey && pixels.height > innerHeight) return;
      event.preventDefault();
      const at = timeOf(laid, seen, Math.max(laid.gutter, event.clientX - pixels.left));
      go(zoomed(seen, all, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), at));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', onWheel);
    };
  }, []);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    if (fills.current?.theme !== dressed) fills.current = { theme: dressed, made: new Fills() };
    const ratio = Math.min(2, devicePixelRatio || 1);
    element.width = Math.round(layout.width * ratio);
    element.height = Math.round(layout.height * ratio);
    element.style.width = `${layout.width}px`;
    element.style.height = `${layout.height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw({ context, layout, timeline, window: view, classes, fills: fills.current.made, cursor });
  });

  const placeOf = (event: PointerEvent): Place | null => {
    const pixels = canvas.current?.getBoundingClientRect();
    if (pixels === undefined) return null;
    const lane = laneOf(layout, event.clientY - pixels.top);
    const x = event.clientX - pixels.left;
    return lane === null || x < layout.gutter ? null : { lane, at: timeOf(layout, view, x) };
  };
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from !== null) {
      const pixels = event.clientX - from.x;
      from.moved = from.moved || Math.abs(pixels) > nearPixels;
      if (from.moved) {
        box.current?.setPointerCapture(event.pointerId);
        move(panned(from.view, span, -pixels * secondsPerPixel));
      }
      return;
    }
    setByKeys(false);
    setCursor(placeOf(event));
  };

  const what = cursor === null ? null : found(timeline, cursor, nearPixels * secondsPerPixel);
  const explain = () => {
    if (what?.task != null) location.hash = jobLink(id, 'explain', { task: what.task });
  };
  const onUp = () => {
    const click = drag.current !== null && !drag.current.moved;
    drag.current = null;
    if (click) explain();
  };

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const wide = view.to - view.from;
    const at = cursor ?? { lane: 0, at: (view.from + view.to) / 2 };
    const inView = at.at >= view.from && at.at <= view.to ? at.at : (view.from + view.to) / 2;
    const place = (to: Place) => {
      setByKeys(true);
      setCursor(to);
      // The cursor takes the window along.
      if (to.at < view.from || to.at > view.to) move(panned(view, span, to.at - (view.from + view.to) / 2));
    };
    const pan = (seconds: number) => {
      move(panned(view, span, seconds));
    };
    const actions: Record<string, () => void> = {
      '+': () => move(zoomed(view, span, 0.5, inView)),
      '=': () => move(zoomed(view, span, 0.5, inView)),
      '-': () => move(zoomed(view, span, 2, inView)),
      '0': () => move({ from: 0, to: span }),
      Home: () => pan(-span),
      End: () => pan(span),
      ArrowLeft: () => (event.shiftKey ? place(step(timeline, at, false)) : pan(-wide / 10)),
      ArrowRight: () => (event.shiftKey ? place(step(timeline, at, true)) : pan(wide / 10)),
      ArrowUp: () => place({ ...at, lane: Math.max(0, at.lane - 1) }),
      ArrowDown: () => place({ ...at, lane: Math.min(lanes - 1, at.lane + 1) }),
      Enter: explain,
      Escape: () => setCursor(null),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  const onFocus = () => {
    // By keys only: a pointer has its own place.
    if (cursor !== null || !box.current?.matches(':focus-visible')) return;
    setByKeys(true);
    setCursor({ lane: 0, at: (view.from + view.to) / 2 });
  };

  const letter = what?.name == null ? null : classes.letter(what.name);
  const x = cursor === null ? 0 : xOf(layout, view, cursor.at);
  const below = cursor === null ? 0 : axisHeight + (cursor.lane + 1) * rowHeight + 4;
  const shows = what !== null && x >= layout.gutter && x <= width;
  return (
    <div class="lanes" ref={box} tabIndex={0} role="application" aria-roledescription="timeline"
      aria-label={`Timeline of ${id}, ${lanes} lanes`} aria-describedby="lanes-keys"
      onKeyDown={onKey} onFocus={onFocus} onBlur={() => setCursor(null)}
      onPointerDown={(event) => (drag.current = { x: event.clientX, view, moved: false })}
      onPointerMove={onMove} onPointerUp={onUp} onPointerCancel={() => (drag.current = null)}
      onPointerLeave={() => !byKeys && drag.current === null && setCursor(null)}>
      <canvas ref={canvas} aria-hidden="true" />
      <p class="unseen" id="lanes-keys">Plus and minus zoom, left and right move in time, with Shift to the
        run before or after, up and down go from lane to lane, 0 shows the whole job, Enter explains a task.
        The same stands in tables below.</p>
      <p class="unseen" role="status">{byKeys && what !== null ? words(what, letter) : ''}</p>
      {shows && what !== null && (
        <div class="tip" aria-hidden="true" style={{
          left: `${Math.max(0, Math.min(x + 10, width - tipWidth))}px`,
          top: `${below + tipHeight > layout.height && below > tipHeight + rowHeight
            ? below - tipHeight - rowHeight - 8 : below}px`,
        }}>
          <b>{what.lane}</b> <span class="quiet">{what.when}</span>
          {what.name !== null && (
            <div><Swatch number={classes.number(what.name)} letter={letter ?? ''} />
              {' '}<span class="name">{what.name}</span>
              {what.task !== null && ` (${what.task})`}</div>
          )}
          <div>{what.what}</div>
        </div>
      )}
    </div>
  );
}
