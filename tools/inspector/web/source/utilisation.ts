// Lanes busy over all lanes, for the last hour: as this page saw them, each second; and where it was not there,
// cut off or asleep, as the node did. Where neither knows there is a gap, not a line.

import { signal } from '@preact/signals';
import { ask } from './api';
import { cluster, link, now } from './stream';

export interface Sample {
  unixSeconds: number;
  busy: number | null;
  all: number | null;
}

export const keptSeconds = 3600;
const gapSeconds = 5;

export const samples = signal<Sample[]>([]);

interface Past {
  now_unix_seconds: number;
  every_seconds: number;
  unix_seconds: number[];
  lanes_busy: number[];
  lanes: number[];
}

/// What the node saw while this page did not.
async function fillIn(): Promise<void> {
  const past = await ask<Past>('api/utilisation');
  const clocksDiffer = Math.round(Date.now() / 1000 - past.now_unix_seconds);
  const slot = (unixSeconds: number) => Math.floor(unixSeconds / past.every_seconds);
  const own = samples.peek().filter((sample) => sample.busy !== null);
  const seen = new Set(own.map((sample) => slot(sample.unixSeconds)));
  const all = past.unix_seconds
    .map((seenAt, at): Sample => ({
      unixSeconds: seenAt + clocksDiffer, busy: past.lanes_busy[at] ?? null, all: past.lanes[at] ?? null }))
    .filter((sample) => !seen.has(slot(sample.unixSeconds)))
    .concat(own)
    .sort((a, b) => a.unixSeconds - b.unixSeconds);
  samples.value = all.flatMap((sample, at) => {
    const next = all[at + 1];
    if (next === undefined || next.unixSeconds - sample.unixSeconds <= 2 * past.every_seconds) return [sample];
    return [sample, { unixSeconds: sample.unixSeconds + 1, busy: null, all: null }];
  });
}

/// Takes one each second, from what was said last.
export function startUtilisation(): void {
  // Also at the beginning, and when a page that was asleep or cut off is back.
  link.subscribe((state) => {
    if (state === 'live') void fillIn().catch(() => {});
  });
  now.subscribe((time) => {
    const unixSeconds = Math.floor(time / 1000);
    const before = samples.peek();
    const last = before[before.length - 1];
    if (last !== undefined && last.unixSeconds >= unixSeconds) return;
    const seen = cluster.peek();
    const lanes = seen === null || link.peek() !== 'live'
      ? { busy: null, all: null } : { busy: seen.lanes_busy, all: seen.lanes };
    const next = before.filter((sample) => sample.unixSeconds > unixSeconds - keptSeconds);
    if (last !== undefined && unixSeconds - last.unixSeconds > gapSeconds) {
      next.push({ unixSeconds: last.unixSeconds + 1, busy: null, all: null });
    }
    next.push({ unixSeconds, ...lanes });
    samples.value = next;
  });
}

export interface Minute {
  minute: number;
  least: number;
  mean: number;
  most: number;
  lanes: number;
}

/// For the table: what each minute was like.
export function byMinute(all: Sample[]): Minute[] {
  const minutes = new Map<number, Sample[]>();
  for (const sample of all) {
    if (sample.busy === null) continue;
    const minute = Math.floor(sample.unixSeconds / 60);
    minutes.set(minute, [...(minutes.get(minute) ?? []), sample]);
  }
  return [...minutes].reverse().map(([minute, of]) => {
    const busy = of.map((sample) => sample.busy ?? 0);
    return {
      minute,
      least: Math.min(...busy),
      mean: busy.reduce((sum, one) => sum + one, 0) / busy.length,
      most: Math.max(...busy),
      lanes: Math.max(...of.map((sample) => sample.all ?? 0)),
    };
  });
}
