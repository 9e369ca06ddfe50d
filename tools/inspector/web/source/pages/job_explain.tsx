// Why a job, or one of its tasks, is not over: the nodes' own reasons, asked again every two seconds.

import { useEffect, useState } from 'preact/hooks';
import { type BusyProcess, type Candidate, type Explained, type Reason, address, jobPath } from '../api';
import { useAnswer } from '../answer';
import { duration, plural, whole } from '../format';
import { LineTable } from '../parts/line_table';
import { Problem, Sign } from '../parts/signs';
import { type Column, Table, counted, rowsMax, textual } from '../parts/table';
import { jobLink, replaceQuery, route } from '../route';
import type { Known } from './known';

const everyMilliseconds = 2000;
const openAtFirst = 5;
const idsShown = 20;

function TaskLinks({ job, tasks, all }: { job: string; tasks: string[]; all: number }) {
  const shown = tasks.slice(0, idsShown);
  return (
    <p>Waits for {shown.map((task, index) => (
      <span key={task}>{index > 0 && ', '}<a href={jobLink(job, 'explain', { task })}>{task}</a></span>
    ))}{all > shown.length && ` and ${plural(all - shown.length, 'other')}`}.</p>
  );
}

/// The duration of a step there, if the task can run there at all.
const ifFit = (title: string, of: (one: Candidate) => number): Column<Candidate> => ({
  title, number: true, cell: (one) => (one.misfit === '' ? duration(of(one)) : ''),
});

function Candidates({ of, task }: { of: Candidate[] | null; task: string }) {
  if (of === null) return <p class="quiet">Candidates are listed when you explain this task only.</p>;
  if (of.length === 0) return null;
  return (
    <Table title={`Where ${task} could run`} rows={of} identity={(one) => one.process} empty=""
      columns={[
        { title: 'Process', cell: (one) => one.process },
        { title: 'Could', cell: (one) => (one.misfit === ''
          ? <span class="sign good">✓ yes</span> : <span class="sign bad">✕ no</span>) },
        ifFit('Wait', (one) => one.wait_seconds),
        ifFit('Transfer', (one) => one.transfer_seconds),
        ifFit('Run', (one) => one.run_seconds),
        { title: 'Why not', cell: (one) => <span class="what">{one.misfit}</span>, broad: true },
      ]} />
  );
}

function placeOf(reason: Partial<Reason>): string {
  const parts: string[] = [];
  if (reason.at !== undefined) parts.push(`at ${reason.at}`);
  if (reason.lane !== undefined) parts.push(`lane ${reason.lane}`);
  if (reason.ran_seconds !== undefined) parts.push(`for ${duration(reason.ran_seconds)}`);
  if (reason.usual_seconds !== undefined) {
    parts.push(`usually ${duration(reason.usual_seconds)}`);
  }
  const { starts } = reason;
  if (starts !== undefined) {
    parts.push(`starts in ${duration(starts.in_seconds)} (${duration(starts.least_seconds)} to ${
      duration(starts.most_seconds)}, from ${plural(starts.runs, 'run')})`);
  }
  if (reason.place_in_queue !== undefined) {
    parts.push(`now with ${plural(reason.place_in_queue, 'more free lane')}`);
  }
  for (const one of reason.given_up ?? []) {
    parts.push(`attempt ${one.attempt} given up ${placeOf(one)}`);
  }
  return parts.join(', ');
}

function ReasonCard({ job, reason, open }: { job: string; reason: Reason; open: boolean }) {
  // As it was at first: a later answer must not close a part that the user opened.
  const [openAtBirth] = useState(open);
  const place = placeOf(reason);
  const why = reason.taken === undefined ? reason.why : `on ${reason.at}: ${reason.taken}`;
  return (
    <li class="card">
      <details open={openAtBirth}>
        <summary>
          <Sign of={reason.outcome ?? reason.state} /> <b class="name">{reason.name}</b> ({reason.task})
          {why !== '' && <span class="what">: {why}</span>}
        </summary>
        <div class="card-body">
          {place !== '' && <p>{place}</p>}
          <p class="quiet">
            {reason.home !== '' && `Home ${reason.home}. `}
            {reason.failures > 0 && `Failed ${plural(reason.failures, 'time')} so far. `}
            <a href={jobLink(job, 'explain', { task: reason.task })}>This task only</a>{' · '}
            <a href={jobLink(job, 'history', { task: reason.task })}>its history</a>
          </p>
          {reason.waits_for.length > 0 && (
            <TaskLinks job={job} tasks={reason.waits_for} all={reason.waits_for_all} />
          )}
          {reason.error !== null && <Problem failure={reason.error} title="Last failure" />}
          <Candidates of={reason.candidates} task={`${reason.name} (${reason.task})`} />
        </div>
      </details>
    </li>
  );
}

function Reasons({ title, job, reasons, note, open }: {
  title: string; job: string; reasons: Reason[]; note?: string; open: number;
}) {
  if (reasons.length === 0) return null;
  const shown = reasons.slice(0, rowsMax);
  return (
    <section>
      <h2>{title}</h2>
      <ul class="cards">
        {shown.map((reason, index) => (
          <ReasonCard key={reason.task} job={job} reason={reason} open={index < open} />
        ))}
      </ul>
      {reasons.length > shown.length && (
        <p class="more">{whole(reasons.length - shown.length)} more not shown. Name a task to see it.</p>
      )}
      {note !== undefined && <p class="more">{note}</p>}
    </section>
  );
}

function Counted({ counts }: { counts: Record<string, number> }) {
  return (
    <dl class="facts">
      {Object.entries(counts).map(([name, count]) => (
        <div key={name}><dt><Sign of={name} /></dt><dd>{whole(count)}</dd></div>
      ))}
    </dl>
  );
}

function Living({ job, data, task }: { job: string; data: Explained; task: string }) {
  const tasks = data.tasks ?? [];
  const ends = data.waits_in_the_end_for ?? [];
  const silent = data.silent ?? [];
  const processes = data.processes ?? [];
  return (
    <>
      {data.counts !== undefined && <Counted counts={data.counts} />}
      {silent.length > 0 && (
        <div class="warning" role="alert"><p><span aria-hidden="true">⚠ </span>
          {plural(silent.length, 'process', 'processes')} did not answer, so its tasks are not shown:{' '}
          {silent.join(', ')}</p></div>
      )}
      <Reasons title="Blocked by" job={job} reasons={ends} open={openAtFirst}
        {...(data.waits_beyond ? { note: 'The search ended here: there are more.' } : {})} />
      <Reasons title={task === '' ? 'Tasks' : `Task ${task}`} job={job} reasons={tasks}
        open={task === '' ? (ends.length === 0 ? openAtFirst : 0) : openAtFirst} />
      {tasks.length + ends.length === 0 && <p class="quiet">No task waits for a known cause.</p>}
      {processes.length > 0 && (
        <section>
          <h2>Its processes</h2>
          <Table title="Processes of the job and what they do" titleUnseen rows={processes} empty=""
            identity={(one) => one.process}
            columns={[
              textual<BusyProcess>('Process', (one) => one.process),
              counted<BusyProcess>('Lanes', (one) => one.lanes),
              counted<BusyProcess>('Running', (one) => one.running),
              counted<BusyProcess>('Queued', (one) => one.queued),
            ]} />
        </section>
      )}
    </>
  );
}

function Over({ job, data, task }: { job: string; data: Explained; task: string }) {
  const phase = data.job?.phase;
  return (
    <>
      <p class="lead">The job is over{phase === undefined ? '' : `: ${phase.replace('_', ' ')}`}.
        {task === '' && ' Name a task to see its attempts and why it failed.'}</p>
      {data.job?.error && <Problem failure={data.job.error} title="The job’s error" />}
      {task !== '' && (
        <LineTable job={job} lines={data.lines ?? []} title={`History of ${task}`}
          empty="The journals have no such task." />
      )}
    </>
  );
}

export function JobExplain({ id, over }: Known) {
  const task = route.value.query.get('task') ?? '';
  const [typed, setTyped] = useState(task);
  useEffect(() => setTyped(task), [task]);
  const [again, setAgain] = useState(true);
  const url = address(jobPath(id, 'explain'), { task });
  const answer = useAnswer<Explained>(url,
    { everyMilliseconds: over || !again ? 0 : everyMilliseconds });
  // The answer for another task is no answer to this one.
  const data = answer.url === url ? answer.data : null;
  return (
    <>
      <form class="filters" onSubmit={(event) => {
        event.preventDefault();
        replaceQuery({ task: typed.trim() });
      }}>
        <label>Task, by name or number{' '}
          <input type="text" value={typed} spellcheck={false} placeholder="all waiting tasks"
            onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button>Explain</button>
        {task !== '' && <button type="button" onClick={() => replaceQuery({ task: '' })}>All tasks</button>}
        <button type="button" disabled={answer.waits && !again} onClick={answer.reload}>Refresh</button>
        {!over && (
          <label class="check"><input type="checkbox" checked={again}
            onChange={(event) => setAgain(event.currentTarget.checked)} /> every 2 s</label>
        )}
      </form>
      {answer.failure !== null && <Problem failure={answer.failure} title="No explanation" />}
      {data === null && answer.failure === null && <p class="quiet">Asking all processes of the job.</p>}
      {data !== null && (data.over
        ? <Over job={id} data={data} task={task} /> : <Living job={id} data={data} task={task} />)}
    </>
  );
}
