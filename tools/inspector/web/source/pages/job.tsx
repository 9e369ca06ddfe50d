// A job: its heading and its tabs. Its data comes with the stream. When the cluster no longer has the job's
// record, the data comes from journals, and the stream's refusal is nothing to worry about.

import { isOver } from '../api';
import { whole } from '../format';
import { Sign } from '../parts/signs';
import { Tabs } from '../parts/tabs';
import { type JobTab } from '../route';
import { job as streamed } from '../stream';
import { JobExplain } from './job_explain';
import { JobGraph } from './job_graph';
import { JobHistory } from './job_history';
import { JobLogs } from './job_logs';
import { JobOverview } from './job_overview';
import { JobReport } from './job_report';
import { JobTimeline } from './job_timeline';
import type { Known } from './known';

export function JobPage({ id, tab }: { id: string; tab: JobTab }) {
  const latest = streamed.value;
  const state = latest?.id === id ? latest.state : null;
  const failure = latest?.id === id ? latest.error : null;
  const known: Known = {
    id, state, failure, over: state === null ? failure !== null : isOver(state.phase),
  };
  const panel = {
    overview: () => <JobOverview {...known} />,
    graph: () => <JobGraph {...known} />,
    timeline: () => <JobTimeline {...known} />,
    explain: () => <JobExplain {...known} />,
    report: () => <JobReport {...known} />,
    logs: () => <JobLogs {...known} />,
    history: () => <JobHistory {...known} />,
  }[tab]();
  return (
    <>
      <h1 tabIndex={-1}>
        <span class="quiet">{id}</span> {state !== null && <span class="name">{state.name}</span>}
        {' '}{state !== null && <Sign of={state.phase} />}
        {state?.phase === 'finished' && state.counts.tolerated > 0
          && <span class="quiet"> {whole(state.counts.tolerated)} tolerated failures</span>}
      </h1>
      <Tabs job={id} open={tab} />
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0} key={`${id} ${tab}`}>
        {panel}
      </div>
    </>
  );
}
