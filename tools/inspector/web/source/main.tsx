// Puts the page together, and starts what runs beside it: the stream, the keys, the theme.

import { effect } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import './styles/app.css';
import { startGone } from './gone';
import { ClusterPage } from './pages/cluster';
import { HistoryPage } from './pages/history';
import { JobPage } from './pages/job';
import { JobsPage } from './pages/jobs';
import { UnknownPage } from './pages/unknown';
import { Frame } from './parts/frame';
import { Keys, startKeys } from './parts/keys';
import { type Route, route } from './route';
import { startStream } from './stream';
import { startTheme } from './theme';
import { startUtilisation } from './utilisation';

function pageOf(at: Route) {
  switch (at.page) {
    case 'cluster': return <ClusterPage />;
    case 'jobs': return <JobsPage />;
    case 'job': return <JobPage key={at.job} id={at.job} tab={at.tab} />;
    case 'history': return <HistoryPage />;
    case 'unknown': return <UnknownPage path={at.path} />;
  }
}

const titles = { cluster: 'Cluster', jobs: 'Jobs', job: 'Job', history: 'History', unknown: 'No such page' };
const titleOf = (at: Route): string =>
  `${at.page === 'job' ? `${at.job} ${at.tab}` : titles[at.page]} · libdag`;
const placeOf = (at: Route): string => `${at.page} ${at.page === 'job' ? at.job : ''}`;

function App() {
  const place = placeOf(route.value);
  const first = useRef(true);
  useEffect(() => {
    // Users of screen readers or keys are on the new page, not where the link was.
    if (!first.current) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [place]);
  return (
    <>
      <Frame>{pageOf(route.value)}</Frame>
      <Keys />
    </>
  );
}

startTheme();
startKeys();
startStream();
startGone();
startUtilisation();
effect(() => {
  document.title = titleOf(route.value);
});
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
