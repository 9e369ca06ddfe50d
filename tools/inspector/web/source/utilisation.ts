// Lanes busy over all lanes, for the last hour: as the node of this page has measured it. Where it knows nothing there is a
// gap, not a line.

import { signal } from '@preact/signals';
import { ask } from './api';
import { link, now } from './stream';

export interface Sample {
  unixSeconds: number;
  busy: number | null;
  all: number | null;
}

export const keptSeconds = 3600;
const askEverySeconds = 5;

export const samples = signal<Sample[]>([]);

interface Past {
  now_unix_seconds: number;
  every_seconds: number;
  unix_seconds: number[];
  lanes_busy: number[];
  lanes: number[];
}

async function refresh(): Promise<void> {
  const past = await ask<Past>('api/utilisation');
  const clocksDiffer = Math.round(Date.now() / 1000 - past.now_unix_seconds);
  samples.value = past.unix_seconds.flatMap((seenAt, at): Sample[] => {
    const unixSeconds = seenAt + clocksDiffer;
    const sample = { unixSeconds, busy: past.lanes_busy[at] ?? null, all: past.lanes[at] ?? null };
    const next = past.unix_seconds[at + 1];
    return next === undefined || next - seenAt <= 2 * past.every_seconds
      ? [sample] : [sample, { unixSeconds: unixSeconds + 1, busy: null, all: null }];
  });
}

/// Asks again while the stream is there; also at the beginning, and when a page that was cut off is back.
export function startUtilisation(): void {
  let askAt = 0;
  link.subscribe(() => { askAt = 0; });
  now.subscribe((time) => {
    if (link.peek() !== 'live' || time < askAt) return;
    askAt = time + askEverySeconds * 1000;
    void refresh().catch(() => {});
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
