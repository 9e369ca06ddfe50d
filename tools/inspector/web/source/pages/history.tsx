// Past jobs, out of the journals of the nodes.

import { type PastJob, type PastJobs } from '../api';
import { useAnswer } from '../answer';
import { duration, moment, whole } from '../format';
import { Notices, Problem, Sign } from '../parts/signs';
import { Table } from '../parts/table';
import { jobLink, replaceQuery, route } from '../route';

/// `over` says more than one word, where a node reported it.
function End({ job }: { job: PastJob }) {
  return (
    <>
      <Sign of={job.end} />
      {job.over !== undefined && job.over !== job.end && <span class="what"> {job.over}</span>}
      {job.error && <div class="what quiet">{job.error.what}</div>}
    </>
  );
}

/// The latest moment that a Date can hold.
const latest = 8.64e15;
const began = (job: PastJob): number => Date.parse(job.began ?? '');
/// A job that is not over, or whose end no node saw, may run until now.
const ended = (job: PastJob): number => (job.seconds === undefined ? Date.now() : began(job) + job.seconds * 1000);

export function HistoryPage() {
  const answer = useAnswer<PastJobs>('api/history');
  const { query } = route.value;
  const name = query.get('name') ?? '';
  const asked = Number(query.get('at'));
  const at = Math.abs(asked) <= latest ? asked : 0;
  const known = (answer.data?.jobs ?? []).filter((job) => job.began !== undefined);
  const first = Math.floor(Math.min(...known.map(began)));
  const last = Math.ceil(Math.max(...known.map(ended)));
  const when = at === 0 ? 'any time' : moment(new Date(at).toISOString()).slice(0, 19);
  const jobs = (answer.data?.jobs ?? []).filter((job) => `${job.job} ${job.name}`.includes(name)
    && (at === 0 || (began(job) <= at && at <= ended(job))));
  return (
    <>
      <h1 tabIndex={-1}>History</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Job or name contains{' '}
          <input type="search" value={name} spellcheck={false}
            onInput={(event) => replaceQuery({ name: event.currentTarget.value })} />
        </label>
        {known.length > 0 && (
          <label class="scrub">Ran at{' '}
            <input type="range" min={first} max={last} step={(last - first) / 1000} value={at || last}
              aria-valuetext={when}
              onInput={({ currentTarget: { valueAsNumber: to } }) =>
                replaceQuery({ at: to < last ? `${to}` : '' })} />
            <output>{when}</output>
          </label>
        )}
        <button type="button" disabled={answer.waits} onClick={answer.reload}>Refresh</button>
      </form>
      {answer.failure !== null && (
        <Problem failure={answer.failure} title="The journals could not be read" />
      )}
      <Notices notices={answer.data?.notices} />
      <Table title="Past jobs" titleUnseen rows={jobs} identity={(job) => job.job}
        empty={answer.data === null
          ? answer.failure === null ? 'Reading the journals of all nodes.' : 'Nothing could be read.'
          : name === '' && at === 0 ? 'The journals have no jobs.'
            : 'No matching jobs.'}
        how="A filter finds them; `dag history` lists all."
        columns={[
          { title: 'Job', cell: (job) => <a href={jobLink(job.job)}>{job.job}</a>, by: (job) => job.job },
          { title: 'Name', cell: (job) => <span class="name">{job.name}</span>, by: (job) => job.name },
          { title: 'Began (UTC)', by: (job) => job.began ?? '', cell: (job) => (job.began === undefined
            ? '–' : <time dateTime={job.began}>{moment(job.began).slice(0, 19)}</time>) },
          { title: 'Took', number: true, by: (job) => job.seconds ?? -1,
              cell: (job) => (job.seconds === undefined ? '–' : duration(job.seconds)) },
          { title: 'Tasks', number: true, by: (job) => job.tasks_submitted ?? -1,
            cell: (job) => (job.tasks_submitted === undefined ? '–' : whole(job.tasks_submitted)) },
          { title: 'End', cell: (job) => <End job={job} />, by: (job) => job.end, broad: true },
        ]} />
    </>
  );
}
