// The table of jobs that the cluster's page and the jobs' page share.

import type { ComponentChildren } from 'preact';
import { type JobRow, isOver } from '../api';
import { duration, whole } from '../format';
import { jobLink } from '../route';
import { link, now, received } from '../stream';
import { Failures, Progress, Sign } from './signs';
import { type Column, Table } from './table';

const ageOf = (job: JobRow, later: number): number => job.age_seconds + (isOver(job.phase) ? 0 : later);

interface Properties {
  title: string;
  titleUnseen?: boolean;
  jobs: JobRow[];
  empty: ComponentChildren;
  beyond?: number;
  how?: ComponentChildren;
}

export function JobTable(properties: Properties) {
  // While all is well, no news means that nothing changed, except that everything grew older.
  const later = link.value === 'live' ? Math.max(0, Math.floor((now.value - received.value) / 1000)) : 0;
  const columns: Column<JobRow>[] = [
    { title: 'Job', cell: (job) => <a href={jobLink(job.job)}>{job.job}</a>, by: (job) => job.job },
    { title: 'Name', cell: (job) => <span class="name">{job.name}</span>, by: (job) => job.name },
    { title: 'Phase', cell: (job) => <Sign of={job.phase} />, by: (job) => job.phase },
    { title: 'Progress', cell: (job) => <Progress counts={job.counts} />, broad: true },
    { title: 'Failed', number: true, by: (job) => job.counts.failed,
      cell: (job) => <Failures count={job.counts.failed} /> },
    { title: 'Processes', number: true, by: (job) => job.processes ?? 0,
        cell: (job) => (job.processes === undefined ? '–' : whole(job.processes)) },
    { title: 'Leader', cell: (job) => job.leader ?? '–', by: (job) => job.leader ?? '' },
    { title: 'Age', number: true, by: (job) => job.age_seconds,
      cell: (job) => duration(ageOf(job, later)) },
  ];
  return <Table {...properties} rows={properties.jobs} columns={columns} identity={(job) => job.job} />;
}
