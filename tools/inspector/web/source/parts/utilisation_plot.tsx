// The picture of utilisation, by uplot, and the same as a table.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { short, whole } from '../format';
import { cluster } from '../stream';
import { colour, theme } from '../theme';
import { type Sample, byMinute, keptSeconds, samples } from '../utilisation';
import { Table } from './table';

const heightPixels = 150;
const leastSeconds = 60;

const two = (value: number): string => String(value).padStart(2, '0');
const clock = (date: Date, seconds = false): string =>
  `${two(date.getHours())}:${two(date.getMinutes())}${seconds ? `:${two(date.getSeconds())}` : ''}`;

function data(of: Sample[]): uPlot.AlignedData {
  return [of.map((one) => one.unixSeconds), of.map((one) => one.busy), of.map((one) => one.all)];
}

function plot(box: HTMLElement): uPlot {
  const grid = { stroke: colour('line'), width: 1 };
  const axis = { stroke: colour('quiet'), grid, ticks: { show: false } };
  const font = '11px system-ui, sans-serif';
  return new uPlot({
    width: box.clientWidth,
    height: heightPixels,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_plot, first) => {
        const now = Date.now() / 1000;
        return [Math.max(now - keptSeconds, Math.min(first, now - leastSeconds)), now];
      } },
      y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1 || 1)] },
    },
    axes: [
      { ...axis, font, size: 24, space: 70, 
        values: (_plot, times) => times.map((time) => clock(new Date(time * 1000), time % 60 !== 0)) },
      { ...axis, font, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] },
    ],
    series: [
      {},
      { stroke: colour('busy'), fill: colour('busy-soft'), width: 1.5, points: { show: false },
        ...(uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: -1 }) } : {}) },
      { stroke: colour('text'), width: 1, dash: [5, 4], points: { show: false } },
    ],
  }, data(samples.peek()), box);
}

export function UtilisationPlot() {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<uPlot | null>(null);
  const dressed = theme.value;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = plot(element);
    shown.current = made;
    const fit = () => made.setSize({ width: element.clientWidth, height: heightPixels });
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [dressed]);
  const all = samples.value;
  useEffect(() => shown.current?.setData(data(all)), [all]);

  const seen = cluster.value;
  const words = seen === null
    ? 'no data now' : `${whole(seen.lanes_busy)} of ${whole(seen.lanes)} lanes busy now`;
  return (
    <figure>
      <figcaption>
        <span class="key-area" aria-hidden="true" /> lanes busy
        <span class="key-dash" aria-hidden="true" /> all lanes
        <span class="quiet"> of the last hour; {words}</span>
      </figcaption>
      <div class="plot" ref={box} role="img" aria-label={`Lanes busy over the last hour: ${words}`} />
      <details>
        <summary>As a table</summary>
        <Table title="Lanes busy by minute" titleUnseen rows={byMinute(all)} empty="No data yet."
          identity={(row) => `${row.minute}`}
          columns={[
            { title: 'Minute', cell: (row) => clock(new Date(row.minute * 60_000)) },
            { title: 'Least', number: true, cell: (row) => whole(row.least) },
            { title: 'Mean', number: true, cell: (row) => short(row.mean) },
            { title: 'Most', number: true, cell: (row) => whole(row.most) },
            { title: 'Lanes', number: true, cell: (row) => whole(row.lanes) },
          ]} />
      </details>
    </figure>
  );
}
