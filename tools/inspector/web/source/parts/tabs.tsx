// Tabs as ARIA knows them: one stop of the tab key, arrow keys between them. Which one is open stands in the
// address.

import { useRef } from 'preact/hooks';
import { type JobTab, jobLink, jobTabs } from '../route';

const titles: Record<JobTab, string> = {
  overview: 'Overview', graph: 'Graph', timeline: 'Timeline', explain: 'Explain', report: 'Report', logs: 'Logs',
  history: 'History',
};

export function Tabs({ job, open }: { job: string; open: JobTab }) {
  const list = useRef<HTMLDivElement>(null);
  const go = (to: JobTab) => {
    location.hash = jobLink(job, to);
    list.current?.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const at = jobTabs.indexOf(open);
    const to = {
      ArrowRight: (at + 1) % jobTabs.length,
      ArrowLeft: (at + jobTabs.length - 1) % jobTabs.length,
      Home: 0,
      End: jobTabs.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(jobTabs[to] as JobTab);
  };
  return (
    <div class="tabs" role="tablist" aria-label={`Views of ${job}`} ref={list} onKeyDown={onKey}>
      {jobTabs.map((tab) => (
        <button key={tab} type="button" role="tab" id={`tab-${tab}`} aria-selected={tab === open}
          aria-controls={tab === open ? 'tab-panel' : undefined} tabIndex={tab === open ? 0 : -1}
          onClick={() => go(tab)}>
          {titles[tab]}
        </button>
      ))}
    </div>
  );
}
