// Lines of journals: what happened, when and where.

import type { ComponentChildren } from 'preact';
import type { Line } from '../api';
import { moment } from '../format';
import { TaskLink } from './signs';
import { Table } from './table';

export function LineTable({ job, lines, title, empty }: {
  job: string; lines: Line[]; title: string; empty: ComponentChildren;
}) {
  return (
    <Table title={title} titleUnseen rows={lines.map((line, index) => ({ ...line, index }))} empty={empty}
      identity={(line) => `${line.index}`}
      columns={[
        { title: 'Time (UTC)', cell: (line) => <time dateTime={line.time}>{moment(line.time)}</time> },
        { title: 'Place', cell: (line) => line.place || line.node },
        { title: 'Task', cell: (line) => (line.task === undefined
          ? '' : <TaskLink job={job} task={line.task} name={line.name ?? ''} />) },
        { title: 'What', cell: (line) => <span class="what">{line.text}</span>, broad: true },
      ]} />
  );
}
