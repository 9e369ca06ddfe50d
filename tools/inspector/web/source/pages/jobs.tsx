// The jobs that nodes still have a record of. The first page without a filter is the stream's, and live at
// once; others are asked for: the server filters and pages.

import { type JobsPage as Page, address, missingIn } from '../api';
import { useAnswer } from '../answer';
import { whole } from '../format';
import { JobTable } from '../parts/job_table';
import { Notices, Problem } from '../parts/signs';
import { replaceQuery, route } from '../route';
import { cluster } from '../stream';

const limit = 100;
const phases = ['starting', 'running', 'finished', 'failed', 'cancelled', 'no_quorum', 'recovering'];

export function JobsPage() {
  const { query } = route.value;
  const [name, phase] = [query.get('name') ?? '', query.get('phase') ?? ''];
  const offset = Math.max(0, Math.floor(Number(query.get('offset')) || 0));
  const asked = name !== '' || phase !== '' || offset > 0;
  const answer = useAnswer<Page>(asked ? address('api/jobs', { offset, limit, phase, name }) : null,
    { everyMilliseconds: 2000, settleMilliseconds: 200 });
  const state = cluster.value;
  const live = state === null ? [] : state.jobs.slice(0, limit);
  const all = asked ? answer.data?.total ?? 0 : state === null ? 0 : state.jobs.length + state.jobs_beyond;
  const jobs = asked ? answer.data?.jobs ?? [] : live;
  const waits = asked ? answer.data === null && answer.failure === null : state === null;
  const end = offset + jobs.length;
  return (
    <>
      <h1 tabIndex={-1}>Jobs</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Name contains{' '}
          <input type="search" value={name} spellcheck={false}
            onInput={(event) => replaceQuery({ name: event.currentTarget.value, offset: '' })} />
        </label>
        <label>Phase{' '}
          <select value={phase}
            onChange={(event) => replaceQuery({ phase: event.currentTarget.value, offset: '' })}>
            <option value="">any</option>
            {phases.map((one) => <option key={one} value={one}>{one.replace('_', ' ')}</option>)}
          </select>
        </label>
        {(name !== '' || phase !== '') && (
          <button type="button"
            onClick={() => replaceQuery({ name: '', phase: '', offset: '' })}>No filter</button>
        )}
      </form>
      {asked && answer.failure !== null && (
        <Problem failure={answer.failure} title="The jobs could not be listed" />
      )}
      <Notices notices={asked ? answer.data?.missing : state !== null ? missingIn(state) : undefined} />
      <JobTable title="Jobs" titleUnseen jobs={jobs}
        empty={waits ? 'Waiting for the node’s answer.' : asked
          ? 'No matching jobs.' : 'No jobs yet. `dag submit` starts one.'} />
      <div class="pager">
        <span>{jobs.length === 0 ? 'none' : `${whole(offset + 1)} to ${whole(end)}`} of {whole(all)}</span>
        <button type="button" disabled={offset === 0}
          onClick={() => replaceQuery({ offset: offset <= limit ? '' : `${offset - limit}` })}>Newer</button>
        <button type="button" disabled={end >= all}
          onClick={() => replaceQuery({ offset: `${end}` })}>Older</button>
      </div>
      <p class="quiet">Jobs without a record on any node: <a href="#/history">History</a>.</p>
    </>
  );
}
