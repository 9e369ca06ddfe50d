// The job's progress, its failures, its processes, and where its record lies.

import { useRef, useState } from 'preact/hooks';
import { type Counts, type Job, type PastJobs, type TroubledTask, type Worker, isOver } from '../api';
import { useAnswer } from '../answer';
import { duration, moment, percent, plural, short, whole } from '../format';
import { type Pace, PaceMeter } from '../pace';
import { Facts, Notices, Problem, Progress, Sign, TaskLink, total } from '../parts/signs';
import { Table, rowsMax, textual } from '../parts/table';
import { jobLink } from '../route';
import { received } from '../stream';
import type { Known } from './known';

function usePace(state: Job | null) {
  const meter = useRef(new PaceMeter());
  const last = useRef<Job | null>(null);
  if (state !== null && state !== last.current) {
    last.current = state;
    meter.current.take(received.peek() / 1000, total(state.counts) - state.counts.open, state.counts.open);
  }
  return meter.current.pace();
}

function FailedTask({ id, task }: { id: string; task: TroubledTask }) {
  return (
    <li class="card">
      <p class="card-title">
        <Sign of={task.outcome} />{' '}
        <TaskLink job={id} task={task.task} name={task.name} />
        <span class="quiet"> {plural(task.tries, 'try', 'tries')}
          {task.late_seconds > 0 && `, ${duration(task.late_seconds)} after its deadline`}</span>
      </p>
      {task.error !== null && <Problem failure={task.error} />}
    </li>
  );
}

const tasksShownFirst = 10;

function Troubles({ id, state }: { id: string; state: Job }) {
  const [all, setAll] = useState(false);
  const details = state.details;
  if (details === null || details.tasks.length + details.tasks_beyond === 0) return null;
  const shown = details.tasks.slice(0, all ? rowsMax : tasksShownFirst);
  const more = details.tasks.length - shown.length + details.tasks_beyond;
  return (
    <section>
      <h2>Tasks that failed, were cancelled or late</h2>
      <ul class="cards">{shown.map((task) => <FailedTask key={task.task} id={id} task={task} />)}</ul>
      {more > 0 && (
        <p class="more">{whole(more)} more not shown.{' '}
          {!all && details.tasks.length > shown.length && (
            <><button type="button" class="plain" onClick={() => setAll(true)}>Show more of them</button>. </>
          )}
          <a href={jobLink(id, 'history', { failed: '1' })}>All failed tasks, page by page</a></p>
      )}
    </section>
  );
}

function Stages({ state }: { state: Job }) {
  const details = state.details;
  if (details === null) return null;
  const rows: { name: string; counts: Counts; rest: boolean }[] =
    details.classes.map((stage) => ({ ...stage, rest: false }));
  const { others } = details;
  if (others && total(others) > 0) rows.push({ name: 'all others', counts: others, rest: true });
  const count = (of: (counts: Counts) => number) => (row: { counts: Counts }) => of(row.counts);
  return (
    <section>
      <h2>Stages</h2>
      <Table title="Stages, by the name of their tasks" titleUnseen rows={rows} empty="No tasks yet."
        identity={(row) => `${row.rest} ${row.name}`} how="The tab Report lists all names."
        columns={[
          { title: 'Stage', by: (row) => row.name,
            cell: (row) => (row.rest ? <i>{row.name}</i> : <span class="name">{row.name}</span>) },
          { title: 'Progress', cell: (row) => <Progress counts={row.counts} />, broad: true },
          ...(['open', 'finished', 'failed', 'skipped', 'cancelled'] as const).map((kind) => ({
            title: kind.replace(/^./, (letter) => letter.toUpperCase()), number: true,
            cell: (row: { counts: Counts }) => whole(row.counts[kind]), by: count((counts) => counts[kind]),
          })),
        ]} />
    </section>
  );
}

function Said({ id, state }: { id: string; state: Job }) {
  const said = state.details?.progress ?? [];
  return said.length > 0 && (
    <section>
      <h2>Progress of tasks</h2>
      <ul>{said.map((one) => (
        <li key={one.task}>
          <TaskLink job={id} task={one.task} name={one.name} />: {percent(one.fraction)} {one.note}</li>
      ))}</ul>
    </section>
  );
}

/// A worker without a pid has not been started, or never was.
function stateOf(worker: Worker, job: Job): string {
  if (worker.up) return 'up';
  return worker.pid || isOver(job.phase) ? 'ended' : 'starting';
}

function Processes({ state }: { state: Job }) {
  return (
    <section>
      <h2>Processes</h2>
      <Table title="Processes" titleUnseen rows={state.workers} empty="No processes now."
        beyond={state.workers_beyond}
        identity={(worker) => `${worker.process} ${worker.life}`} how="`dag show` lists all."
        columns={[
          textual<Worker>('Process', (worker) => worker.process),
          { title: 'State', by: (worker) => stateOf(worker, state),
            cell: (worker) => <Sign of={stateOf(worker, state)} /> },
          textual<Worker>('Node', (worker) => worker.node),
          { title: 'pid', number: true, cell: (worker) => worker.pid || '–' },
          { title: 'End', broad: true,
            cell: (worker) => <span class="what">{worker.end ?? ''}</span> },
        ]} />
    </section>
  );
}

/// For a job that the cluster has forgotten.
function FromJournals({ id, failure }: Known) {
  const answer = useAnswer<PastJobs>('api/history');
  const past = answer.data?.jobs.find((job) => job.job === id);
  if (past === undefined) {
    return (
      <>
        {failure !== null && <Problem failure={failure} title={`The cluster does not know ${id}`} />}
        {answer.failure !== null && (
          <Problem failure={answer.failure} title="The journals could not be read" />
        )}
        <Notices notices={answer.data?.notices} />
        <p>{answer.waits
          ? 'Reading the journals.' : answer.data !== null && 'The journals have no such job either.'}{' '}
          <a href="#/jobs">Known jobs</a>, <a href="#/history">past jobs</a>.</p>
      </>
    );
  }
  return (
    <>
      <p class="lead">The cluster no longer holds a record of this job. This page comes from journals.</p>
      <Notices notices={answer.data?.notices} />
      <Facts of={[
        ['Name', <span class="name">{past.name}</span>],
        ['End', <Sign of={past.end} />],
        ...(past.over === undefined ? [] : [['Over', past.over] as [string, string]]),
        ['Began (UTC)', past.began === undefined ? '–' : moment(past.began)],
        ['Took', past.seconds === undefined ? '–' : duration(past.seconds)],
        ['Tasks submitted', past.tasks_submitted === undefined ? '–' : whole(past.tasks_submitted)],
      ]} />
      {past.counts !== undefined && <p><Progress counts={past.counts} /></p>}
      {past.error && <Problem failure={past.error} title="Why it ended" />}
      <p><a href={jobLink(id, 'graph')}>Graph</a>, <a href={jobLink(id, 'timeline')}>timeline</a>, <a href={jobLink(id, 'report')}>report</a> and{' '}
        <a href={jobLink(id, 'history')}>history</a> still work, as far as journals reach.</p>
    </>
  );
}

/// Only for the known tasks: a job whose tasks spawn others has more to come.
function leftText(pace: Pace | null): string {
  if (pace === null) return 'measuring';
  if (pace.secondsLeft === null) return 'no task has ended lately';
  return `about ${duration(pace.secondsLeft)} for the open tasks`;
}

export function JobOverview(known: Known) {
  const { id, state, failure, over } = known;
  const pace = usePace(state);
  if (state === null) {
    if (failure !== null) return <FromJournals {...known} />;
    return <p class="quiet">Waiting for the node’s first answer.</p>;
  }
  const { counts } = state;
  const coming = over ? 0 : Math.max(0, (state.total_tasks ?? 0) - total(counts));
  const facts: [string, string][] = [
    ['Tasks', whole(total(counts))], ['Open', whole(counts.open)], ['Finished', whole(counts.finished)],
    ['Failed', whole(counts.failed)], ['Skipped', whole(counts.skipped)],
    ['Cancelled', whole(counts.cancelled)],
    [over ? 'Took' : 'Age', duration(state.age_seconds)],
  ];
  if (state.details !== null && state.details.late > 0) facts.push(['Late', whole(state.details.late)]);
  if (!over) {
    facts.push(['Pace', pace === null ? 'measuring' : `${short(pace.perSecond)} tasks/s`]);
    facts.push(['Left', leftText(pace)]);
  }
  return (
    <>
      <div class="big-progress"><Progress counts={{ ...counts, open: counts.open + coming }} /></div>
      <Facts of={facts} />
      {state.phase === 'no_quorum' && (
        <div class="warning">
          <p><span aria-hidden="true">⚠ </span>Most of the nodes that hold this job’s record cannot be
            reached: nothing of it is settled until they are back.</p>
        </div>
      )}
      {state.error !== null && <Problem failure={state.error} title="The job’s error" />}
      {!over && <p><a href={jobLink(id, 'explain')}>Why is it not over?</a></p>}
      <Troubles id={id} state={state} />
      <Said id={id} state={state} />
      <Stages state={state} />
      <Processes state={state} />
      <section>
        <h2>Its record</h2>
        <p>{state.copies.length === 0 ? 'This node knows no replica.'
          : `Copies on ${state.copies.join(', ')}.`}</p>
      </section>
    </>
  );
}
