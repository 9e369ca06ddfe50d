// Where a job's time went, as far as journals tell.

import { type Report, type ReportClass, type ReportLane, type Straggler, jobPath } from '../api';
import { useAnswer } from '../answer';
import { duration, percent, plural, short, whole } from '../format';
import { Facts, Failures, Notices, Problem, Share, TaskLink } from '../parts/signs';
import { Table, counted, textual, timed } from '../parts/table';
import type { Known } from './known';

function Waits({ report: { waiting, schedule, lanes } }: { report: Report }) {
  if (waiting === null) return null;
  const rows: [string, number][] = [
    ['dependencies', waiting.dependencies_seconds], ['no free lane', waiting.resources_seconds],
    ['lane free elsewhere', waiting.queue_seconds],
    ['transfer', waiting.transfer_seconds],
    ['retries', waiting.retry_seconds],
    ['dispatch', waiting.other_seconds],
  ];
  const all = rows.reduce((sum, [, one]) => sum + one, 0);
  return (
    <section>
      <h2>Waiting time by cause</h2>
      <Table title="Waiting time by cause" titleUnseen rows={rows} empty="" identity={([cause]) => cause}
        columns={[
          textual<[string, number]>('Cause', ([cause]) => cause),
          { title: 'All tasks together', broad: true, by: ([, one]) => one, cell: ([, one]) => (
            <Share part={one} all={all} text={`${duration(one)} (${all > 0 ? percent(one / all) : '–'})`} />
          ) },
        ]} />
      <p>
        Idle lane time: {duration(waiting.idle_seconds)}.
        Tasks were ready during {duration(waiting.idle_while_ready_seconds)} of it.
        Spread over nodes: {duration(waiting.idle_scattered_seconds)}.
        {schedule !== null && ` Best schedule (estimate): ${duration(schedule.seconds)} on ${
          plural(lanes.length, 'lane')}, ${duration(schedule.with_one_more_lane_seconds)} on ${lanes.length + 1}.`}
      </p>
    </section>
  );
}

function Shown({ id, report }: { id: string; report: Report }) {
  const longest = Math.max(0, ...report.classes.map((one) => one.total_seconds));
  const share = (seconds: number, all: number) => (all > 0 ? percent(seconds / all) : '–');
  return (
    <>
      <Notices notices={report.notices} />
      <Facts of={[
        ['Span', duration(report.span_seconds)],
        ['Critical path', report.critical_path ? duration(report.critical_path.seconds) : '–'],
        ['Delay, median', duration(report.delays.median_seconds)],
        ['Delay, p99', duration(report.delays.p99_seconds)],
        ['Busy, all lanes', duration(report.busy_seconds)],
        ['Run again', duration(report.again_seconds)], ['Tasks', whole(report.tasks)],
        ['Runs', whole(report.runs)],
        ['Settled', whole(report.settled)], ['Retries', whole(report.retries)],
        ['Crashes', whole(report.crashes)],
        ['Losses', whole(report.losses)],
      ]} />
      <Waits report={report} />
      <section>
        <h2>By name, longest first</h2>
        <Table title="Tasks by name" titleUnseen
          rows={[...report.classes].sort((a, b) => b.total_seconds - a.total_seconds)}
          empty="Nothing ran." identity={(one) => one.name} how="`dag report --json` has all."
          columns={[
            { title: 'Name', cell: (one) => <span class="name">{one.name}</span>, by: (one) => one.name },
            { title: 'Total', broad: true, by: (one) => one.total_seconds, cell: (one) => (
              <Share part={one.total_seconds} all={longest}
                text={`${duration(one.total_seconds)} (${share(one.total_seconds, report.busy_seconds)})`} />
            ) },
            counted<ReportClass>('Runs', (one) => one.runs),
            { title: 'Failed', number: true, by: (one) => one.failed,
              cell: (one) => <Failures count={one.failed} /> },
            counted<ReportClass>('Tasks', (one) => one.tasks),
            timed<ReportClass>('Median', (one) => one.median_seconds),
            timed<ReportClass>('p99', (one) => one.p99_seconds),
            timed<ReportClass>('Longest', (one) => one.longest_seconds),
          ]} />
      </section>
      <section>
        <h2>Stragglers</h2>
        <Table title="Stragglers" titleUnseen rows={report.stragglers} beyond={report.stragglers_beyond}
          empty="None: no run took much longer than the median of its name." identity={(one) => `${one.task} ${one.lane}`}
          how="`dag report --json` has all."
          columns={[
            { title: 'Task', by: (one) => one.name, cell: (one) => (
              <TaskLink job={id} task={one.task} name={one.name} />
            ) },
            textual<Straggler>('Lane', (one) => one.lane),
            timed<Straggler>('Ran', (one) => one.ran_seconds),
            timed<Straggler>('Median', (one) => one.median_seconds),
            { title: 'Times as long', number: true, by: (one) => one.ran_seconds / one.median_seconds,
              cell: (one) => (one.median_seconds > 0 ? short(one.ran_seconds / one.median_seconds) : '–') },
          ]} />
      </section>
      <section>
        <h2>Lanes</h2>
        <Table title="Lanes" titleUnseen rows={report.lanes} empty="None." identity={(lane) => lane.lane}
          how="`dag report --json` has all."
          columns={[
            textual<ReportLane>('Lane', (lane) => lane.lane),
            { title: 'Busy', broad: true, by: (lane) => lane.busy_seconds, cell: (lane) => (
              <Share part={lane.busy_seconds} all={report.span_seconds}
                text={`${duration(lane.busy_seconds)} (${share(lane.busy_seconds, report.span_seconds)})`} />
            ) },
            counted<ReportLane>('Runs', (lane) => lane.runs),
          ]} />
      </section>
    </>
  );
}

export function JobReport({ id, over }: Known) {
  const answer = useAnswer<Report>(jobPath(id, 'report'));
  return (
    <>
      <div class="filters">
        <button type="button" disabled={answer.waits} onClick={answer.reload}>Refresh</button>
        {!over && <span class="quiet">The job is not over. Refresh to update the report.</span>}
      </div>
      {answer.failure !== null && <Problem failure={answer.failure} title="No report" />}
      {answer.data === null && answer.failure === null && (
        <p class="quiet">Reading the journals of all nodes.</p>
      )}
      {answer.data !== null && <Shown id={id} report={answer.data} />}
    </>
  );
}
