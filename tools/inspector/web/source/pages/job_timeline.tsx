// The runs of each lane of a job over time. The server sums up as much as a screen can show of the present
// window, and is asked again when the window moves: so a job of a million tasks costs no more than one of a
// hundred.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Mark, type Slice, type Timeline, type TimelineLane, address, jobPath } from '../api';
import { useAnswer } from '../answer';
import { duration, percent, plural, whole } from '../format';
import { LanesPicture, Swatch } from '../parts/lanes_picture';
import { Notices, Problem, TaskLink } from '../parts/signs';
import { Table, counted, textual, timed } from '../parts/table';
import { Classes } from '../timeline/classes';
import { type Window, fitted, isWhole, panned, zoomed } from '../timeline/window';
import type { Known } from './known';

const everyMilliseconds = 2000;
const columnsMax = 1200;
const namesShown = 30;
const lanesShown = 200;
const scrubSteps = 1000;
/// The scrub bar's window when the whole span was shown: a part that can move.
const scrubShare = 0.2;

const share = (values: number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);

function Legend({ names, classes }: { names: string[]; classes: Classes }) {
  return (
    <ul class="legend" aria-label="Names of tasks">
      {names.slice(0, namesShown).map((name) => (
        <li key={name}><Swatch number={classes.number(name)} letter={classes.letter(name)} />{' '}
          <span class="name">{name}</span></li>
      ))}
      {names.length > namesShown && <li>and {plural(names.length - namesShown, 'other name')}</li>}
    </ul>
  );
}

function Tables({ id, data }: { id: string; data: Timeline }) {
  const slices = (data.slices ?? []).map((slice, index) => ({ ...slice, index }));
  return (
    <details>
      <summary>As tables</summary>
      <Table title="Lanes in this window" rows={data.lanes} identity={(lane) => lane.lane}
        empty="All lanes were idle."
        how="The tab Report lists lanes, too."
        columns={[
          textual<TimelineLane>('Lane', (lane) => lane.lane),
          { title: 'Busy share', number: true, by: (lane) => share(lane.busy),
            cell: (lane) => percent(share(lane.busy)) },
          timed<TimelineLane>('Busy', (lane) => lane.busy_seconds),
          counted<TimelineLane>('Runs', (lane) => lane.runs),
        ]} />
      {data.slices === null ? (
        <p class="quiet">Zoom in to list single runs: at most 2,000.</p>
      ) : (
        <Table title="Runs in this window" rows={slices} identity={(slice) => `${slice.index}`}
          empty="Nothing ran."
          how="Zoom in to see fewer."
          columns={[
            { title: 'Task', by: (slice) => data.names[slice.name] ?? '', cell: (slice) => (
              <TaskLink job={id} task={slice.task} name={data.names[slice.name] ?? ''} />
            ) },
            { title: 'Lane', cell: (slice) => data.lanes[slice.lane]?.lane ?? '', by: (slice) => slice.lane },
            timed<Slice>('Begin', (slice) => slice.begin),
            timed<Slice>('Took', (slice) => slice.seconds),
            textual<Slice>('Outcome', (slice) => slice.outcome),
          ]} />
      )}
    </details>
  );
}

function Marks({ data, look }: { data: Timeline; look: (at: number) => void }) {
  if (data.marks.length + data.marks_beyond === 0) return null;
  const marks = data.marks.map((mark, index) => ({ ...mark, index }));
  return (
    <section>
      <h2>Crashes and losses</h2>
      <Table title="Crashes and losses" titleUnseen rows={marks} identity={(mark) => `${mark.index}`} empty=""
        beyond={data.marks_beyond} how="The tab History lists all."
        columns={[
          { title: 'At', number: true, by: (mark) => mark.at, cell: (mark) => (
            <button type="button" class="plain" onClick={() => look(mark.at)}>{duration(mark.at)}</button>
          ) },
          textual<Mark>('Place', (mark) => mark.place),
          { title: 'What', cell: (mark) => <span class="what">▼ {mark.text}</span>, broad: true },
        ]} />
    </section>
  );
}

export function JobTimeline({ id, over }: Known) {
  const [window, setWindow] = useState<Window | null>(null);
  const [columns, setColumns] = useState(0);
  const classes = useRef(new Classes()).current;
  const box = useRef<HTMLDivElement>(null);
  const url = columns === 0 ? null : address(jobPath(id, 'timeline'), {
    columns,
    ...(window === null ? {} : { from: window.from.toFixed(6), to: window.to.toFixed(6) }),
  });
  const answer = useAnswer<Timeline>(url, {
    everyMilliseconds: over ? 0 : everyMilliseconds, settleMilliseconds: 120,
  });
  const { data } = answer;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    // In steps, so that a window that is dragged larger does not ask for each pixel.
    const look = () => {
      const columnsWanted = Math.ceil(element.clientWidth / 100) * 100;
      setColumns(Math.min(columnsMax, Math.max(100, columnsWanted)));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  data?.names.forEach((name) => classes.number(name));

  const span = data?.span_seconds ?? 0;
  const view = window ?? { from: 0, to: span };
  const move = (to: Window) => setWindow(isWhole(to, span) ? null : to);
  const scrub = (step: number) => {
    const width = window === null ? span * scrubShare : window.to - window.from;
    const from = (step / scrubSteps) * (span - width);
    move(fitted({ from, to: from + width }, span));
  };
  const room = span - (view.to - view.from);
  const middle = (view.from + view.to) / 2;
  const zoom = (factor: number) => move(zoomed(view, span, factor, middle));
  const text = `${duration(view.from)} to ${duration(view.to)} of ${duration(span)}`;
  return (
    <div ref={box}>
      {answer.failure !== null && <Problem failure={answer.failure} title="No timeline" />}
      <Notices notices={data?.notices} />
      {data === null && answer.failure === null && <p class="quiet">Reading the journals of all nodes.</p>}
      {data !== null && data.lanes.length === 0 && <p>No task of this job has run yet.</p>}
      {data !== null && data.lanes.length > 0 && (
        <>
          <div class="filters">
            <label class="scrub">Position{' '}
              <input type="range" min={0} max={scrubSteps} aria-valuetext={text}
                value={room > 0 ? Math.round((view.from / room) * scrubSteps) : 0}
                onInput={(event) => scrub(Number(event.currentTarget.value))} />
            </label>
            <button type="button" aria-label="Closer" onClick={() => zoom(0.5)}>+</button>
            <button type="button" aria-label="Further away" onClick={() => zoom(2)}>−</button>
            <button type="button" aria-label="Earlier" disabled={view.from <= 0}
              onClick={() => move(panned(view, span, -(view.to - view.from) / 4))}>←</button>
            <button type="button" aria-label="Later" disabled={view.to >= span}
              onClick={() => move(panned(view, span, (view.to - view.from) / 4))}>→</button>
            <button type="button" disabled={window === null}
              onClick={() => setWindow(null)}>Whole job</button>
            <button type="button" onClick={answer.reload}>Refresh</button>
            <span class="quiet">{text}; {plural(data.runs, 'run')}{data.slices === null
              ? ', summed up: the height of a column is its busy share' : ', each drawn'}</span>
          </div>
          <LanesPicture id={id} timeline={data} span={span} view={view} move={move} classes={classes}
            lanes={Math.min(lanesShown, data.lanes.length)} />
          {data.lanes.length > lanesShown && (
            <p class="more">{whole(data.lanes.length - lanesShown)} more lanes not drawn: `dag trace`
              writes all of
              them for Perfetto.</p>
          )}
          <Legend names={data.names} classes={classes} />
          <Marks data={data}
            look={(at) => move(fitted({ from: at - span / 20, to: at + span / 20 }, span))} />
          <Tables id={id} data={data} />
        </>
      )}
    </div>
  );
}
