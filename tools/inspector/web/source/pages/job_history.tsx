// All that happened to a job, line by line, as journals have it; a page of lines at a time, filtered by the
// server.

import { useEffect, useState } from 'preact/hooks';
import { type Lines, address, jobPath } from '../api';
import { useAnswer } from '../answer';
import { whole } from '../format';
import { LineTable } from '../parts/line_table';
import { Notices, Problem } from '../parts/signs';
import { replaceQuery, route } from '../route';
import type { Known } from './known';

const limit = 200;

export function JobHistory({ id }: Known) {
  const { query } = route.value;
  const [task, failed] = [query.get('task') ?? '', query.get('failed') === '1'];
  // Where the pages before began: the server knows only what comes next.
  const [pages, setPages] = useState<number[]>([0]);
  useEffect(() => setPages([0]), [task, failed]);
  const after = pages[pages.length - 1] ?? 0;
  const url = address(jobPath(id, 'history'), { task, failed, after, limit });
  const answer = useAnswer<Lines>(url, { settleMilliseconds: 200 });
  const { data } = answer;
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Task, by name or number{' '}
          <input type="search" value={task} spellcheck={false} placeholder="all"
            onInput={(event) => replaceQuery({ task: event.currentTarget.value.trim() })} />
        </label>
        <label class="check"><input type="checkbox" checked={failed}
          onChange={(event) => replaceQuery({ failed: event.currentTarget.checked ? '1' : '' })} />
          {' '}failures only</label>
        <button type="button" disabled={answer.waits} onClick={answer.reload}>Refresh</button>
      </form>
      {answer.failure !== null && <Problem failure={answer.failure} title="No history" />}
      <Notices notices={data?.notices} />
      <LineTable job={id} lines={data?.lines ?? []} title={`History of ${id}`}
        empty={data === null
          ? (answer.failure === null ? 'Reading the journals of all nodes.' : 'Nothing could be read.')
          : 'No matching lines.'} />
      <div class="pager">
        {data !== null && answer.url === url && data.lines.length > 0 && (
          <span>lines {whole(after + 1)} to {whole(after + data.lines.length)}
            {data.next === null && ', the last'}</span>
        )}
        <button type="button" disabled={pages.length < 2}
          onClick={() => setPages(pages.slice(0, -1))}>Before</button>
        <button type="button" disabled={data === null || data.next === null || answer.url !== url}
          onClick={() => data?.next != null && setPages([...pages, data.next])}>More</button>
      </div>
    </>
  );
}
