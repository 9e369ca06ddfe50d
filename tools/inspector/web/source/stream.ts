// The one stream of events this page listens to. Each event is a full state that replaces the one before, so
// a page that slept, or was cut off, is right again with the first event that comes.
//
// A stream that broke is opened again, later each time up to a limit, and at once when the browser wakes up
// or is online again. Heartbeats are comments, which a browser does not show us: so when nothing came for a
// while, the node is asked by an ordinary request whether it is there. A page that nobody has looked at for a
// minute closes its stream: it costs the node, and a browser has few connections to one host.

import { batch, effect, signal } from '@preact/signals';
import { type Cluster, type Failure, type Job, Refused, address, ask, jobPath } from './api';
import { route } from './route';

export type Link = 'connecting' | 'live' | 'lost';

const silenceMilliseconds = 20_000;
const hiddenMilliseconds = 60_000;
const pauseMilliseconds = { first: 500, most: 8_000 };
/// A clock that jumps so far between two ticks: the machine was asleep.
const asleepMilliseconds = 15_000;

export const link = signal<Link>('connecting');
export const cluster = signal<Cluster | null>(null);
/// The job whose page is open: its state, or the reason for its absence.
export const job = signal<{ id: string; state: Job | null; error: Failure | null } | null>(null);
/// When what is shown came, by the clock of this machine.
export const received = signal(0);
/// Ticks once a second, for all that shows an age.
export const now = signal(Date.now());

let source: EventSource | null = null;
/// Undefined until the page starts.
let wanted: string | null | undefined;
/// A job of which no stream is to be had: the cluster's is, without it.
let refused: string | null = null;
let pause = pauseMilliseconds.first;
let again = 0;
let closing = 0;
let asking = false;

function came(): void {
  batch(() => {
    link.value = 'live';
    received.value = Date.now();
    now.value = received.value;
  });
  pause = pauseMilliseconds.first;
}

function takeJob(id: string, data: Job | { error: Failure }): void {
  if (id !== wanted) return;
  // A job that failed has an error as well: what tells them apart is that it is a job.
  job.value = 'job' in data ? { id, state: data, error: null } : { id, state: null, error: data.error };
}

function close(): void {
  source?.close();
  source = null;
  clearTimeout(again);
}

function open(): void {
  close();
  const id = wanted === refused ? null : wanted ?? null;
  const opened = new EventSource(address('events', { job: id ?? undefined }));
  source = opened;
  opened.addEventListener('open', came);
  opened.addEventListener('cluster', (event) => {
    batch(() => {
      cluster.value = JSON.parse((event as MessageEvent<string>).data) as Cluster;
      came();
    });
  });
  opened.addEventListener('job', (event) => {
    if (id === null) return;
    batch(() => {
      takeJob(id, JSON.parse((event as MessageEvent<string>).data) as Job | { error: Failure });
      came();
    });
  });
  opened.addEventListener('error', () => {
    if (source !== opened) return;
    const wasRefused = opened.readyState === EventSource.CLOSED;
    lost();
    if (wasRefused && id !== null) void learnWhyNot(id);
  });
}

function lost(): void {
  close();
  link.value = 'lost';
  again = window.setTimeout(open, pause);
  pause = Math.min(pause * 2, pauseMilliseconds.most);
}

/// A node refuses a stream of a job whose id is none; a stream tells nobody why, so an ordinary request does.
async function learnWhyNot(id: string): Promise<void> {
  try {
    takeJob(id, await ask<Job>(jobPath(id)));
  } catch (thrown) {
    if (!(thrown instanceof Refused) || thrown.status < 400 || thrown.status >= 500 || id !== wanted) return;
    takeJob(id, { error: thrown.failure });
    refused = id;
    open();
  }
}

async function probe(): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    const state = await ask<Cluster>('api/cluster');
    batch(() => {
      cluster.value = state;
      came();
    });
  } catch {
    if (source !== null) lost();
  } finally {
    asking = false;
  }
}

function wake(): void {
  clearTimeout(closing);
  pause = pauseMilliseconds.first;
  open();
}

/// Once, when the page starts.
export function startStream(): void {
  effect(() => {
    const id = route.value.page === 'job' ? route.value.job : null;
    if (id === wanted) return;
    wanted = id;
    refused = null;
    job.value = null;
    open();
  });
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') closing = window.setTimeout(close, hiddenMilliseconds);
    else if (source === null || Date.now() - received.value > silenceMilliseconds) wake();
    else clearTimeout(closing);
  });
  setInterval(() => {
    const before = now.value;
    now.value = Date.now();
    if (now.value - before > asleepMilliseconds && document.visibilityState === 'visible') wake();
    else if (link.value !== 'live' || source === null) return;
    else if (now.value - received.value > silenceMilliseconds) void probe();
  }, 1000);
}
