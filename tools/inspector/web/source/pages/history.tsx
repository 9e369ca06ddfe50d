// Past jobs, out of the journals of the nodes.

import { type PastJob, type PastJobs } from '../api';
import { useAnswer } from '../answer';
import { duration, moment, whole } from '../format';
import { Notices, Problem, Sign } from '../parts/signs';
import { Table } from '../parts/table';
import { jobLink, replaceQuery, route } from '../route';

/// What was `over` says more than one word does, where a node said it.
function End({ job }: { job: PastJob }) {
  return (
    <>
      <Sign of={job.end} />
      {job.over !== undefined && job.over !== job.end && <span class="what"> {job.over}</span>}
      {job.error && <div class="what quiet">{job.error.what}</div>}
    </>
  );
}

export function HistoryPage() {
  const answer = useAnswer<PastJobs>('api/history');
  const name = route.value.query.get('name') ?? '';
  const jobs = (answer.data?.jobs ?? []).filter((job) => `${job.job} ${job.name}`.includes(name));
  return (
    <>
      <h1 tabIndex={-1}>History</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Job or name contains{' '}
          <input type="search" value={name} spellcheck={false}
            onInput={(event) => replaceQuery({ name: event.currentTarget.value })} />
        </label>
        <button type="button" disabled={answer.waits} onClick={answer.reload}>Refresh</button>
      </form>
      {answer.failure !== null && (
        <Problem failure={answer.failure} title="The journals could not be read" />
      )}
      <Notices notices={answer.data?.notices} />
      <Table title="Past jobs" titleUnseen rows={jobs} identity={(job) => job.job}
        empty={answer.data === null
          ? answer.failure === null ? 'Reads the journals of all nodes.' : 'Nothing could be read.'
          : name === '' ? 'No journal tells of a job.'
            : 'No job is like this.'}
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
