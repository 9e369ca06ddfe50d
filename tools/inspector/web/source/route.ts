// Where the page is: all of it stands behind the `#`, so that a link shows the same to somebody else, and the
// browser's own back button works.

import { signal } from '@preact/signals';

export const jobTabs = ['overview', 'graph', 'timeline', 'explain', 'report', 'logs', 'history'] as const;
export type JobTab = (typeof jobTabs)[number];

interface Query {
  query: URLSearchParams;
}
export type Route =
  | ({ page: 'cluster' } & Query)
  | ({ page: 'jobs' } & Query)
  | ({ page: 'job'; job: string; tab: JobTab } & Query)
  | ({ page: 'history' } & Query)
  | ({ page: 'unknown'; path: string } & Query);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const query = new URLSearchParams(search);
  const parts = path.split('/').filter((part) => part !== '').map(decoded);
  const [first, job, tab = 'overview'] = parts;
  if (first === undefined) return { page: 'cluster', query };
  if (first === 'history' && parts.length === 1) return { page: 'history', query };
  if (first === 'jobs' && job === undefined) return { page: 'jobs', query };
  if (first === 'jobs' && job !== undefined && parts.length <= 3 && jobTabs.includes(tab as JobTab)) {
    return { page: 'job', job, tab: tab as JobTab, query };
  }
  return { page: 'unknown', path: hash, query };
}

export const route = signal<Route>(parse(location.hash));
addEventListener('hashchange', () => (route.value = parse(location.hash)));

function withQuery(path: string, query: Record<string, string>): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  return kept.length === 0 ? path : `${path}?${new URLSearchParams(kept).toString()}`;
}

export function jobLink(job: string, tab: JobTab = 'overview', query: Record<string, string> = {}): string {
  const path = `#/jobs/${encodeURIComponent(job)}`;
  return withQuery(tab === 'overview' ? path : `${path}/${tab}`, query);
}

/// For what is typed: the address follows, without an entry of the browser's history for each letter.
export function replaceQuery(changes: Record<string, string>): void {
  const [path = ''] = location.hash.split('?', 1);
  const query = { ...Object.fromEntries(route.value.query), ...changes };
  history.replaceState(null, '', withQuery(path === '' ? '#/' : path, query));
  route.value = parse(location.hash);
}
