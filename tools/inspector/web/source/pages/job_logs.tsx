// Logs of a job's tasks and its processes' output: the newest lines, asked for again while it runs.

import { type LogLines, address, jobPath } from '../api';
import { useAnswer } from '../answer';
import { plural } from '../format';
import { LineTable } from '../parts/line_table';
import { Notices, Problem } from '../parts/signs';
import { replaceQuery, route } from '../route';
import type { Known } from './known';

const everyMilliseconds = 1500;

export function JobLogs({ id, over }: Known) {
  const task = route.value.query.get('task') ?? '';
  const { data, failure } = useAnswer<LogLines>(address(jobPath(id, 'logs'), { task, tail: 200 }),
    { everyMilliseconds: over ? 0 : everyMilliseconds, settleMilliseconds: 200 });
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Task, by name or number{' '}
          <input type="search" value={task} spellcheck={false} placeholder="all"
            onInput={(event) => replaceQuery({ task: event.currentTarget.value.trim() })} />
        </label>
        {data !== null && data.older > 0 && (
          <span class="quiet">{plural(data.older, 'older line')}: <code>dag logs {id}</code> has all</span>
        )}
      </form>
      {failure !== null && <Problem failure={failure} title="No log" />}
      <Notices notices={data?.notices} />
      <LineTable job={id} title={`Log of ${id}`} empty={data === null ? '' : 'No log lines.'}
        lines={(data?.lines ?? []).map((line) => ({
          ...line, time: line.time ?? '', node: '', kind: '', text: line.text ?? `--- ${line.gap} ---`,
        }))} />
    </>
  );
}
