// The text for the thing under the cursor, and the cursor's next place: the same for pointer and keys.

import type { Slice, Timeline } from '../api';
import { duration, percent } from '../format';
import type { Place } from './picture';

export interface Found {
  lane: string;
  what: string;
  name: string | null;
  task: string | null;
  when: string;
}

function columnOf(timeline: Timeline, at: number): number {
  const share = (at - timeline.from) / (timeline.to - timeline.from || 1);
  return Math.min(timeline.columns - 1, Math.max(0, Math.floor(share * timeline.columns)));
}

/// `near` seconds beside it still count: the shortest slice is drawn a pixel wide.
function sliceAt(slices: Slice[], place: Place, near: number): Slice | null {
  let best: Slice | null = null;
  let bestDistance = near;
  for (const slice of slices) {
    if (slice.lane !== place.lane) continue;
    const distance = Math.max(slice.begin - place.at, place.at - slice.begin - slice.seconds, 0);
    if (distance > bestDistance || (best !== null && distance === bestDistance)) continue;
    best = slice;
    bestDistance = distance;
  }
  return best;
}

export function found(timeline: Timeline, place: Place, near: number): Found | null {
  const lane = timeline.lanes[place.lane];
  if (lane === undefined) return null;
  const at = `at ${duration(place.at)}`;
  if (timeline.slices !== null) {
    const slice = sliceAt(timeline.slices, place, near);
    if (slice === null) return { lane: lane.lane, what: 'nothing runs', name: null, task: null, when: at };
    return {
      lane: lane.lane,
      what: `${slice.outcome}, took ${duration(slice.seconds)}`,
      name: timeline.names[slice.name] ?? null,
      task: slice.task,
      when: `from ${duration(slice.begin)}`,
    };
  }
  const column = columnOf(timeline, place.at);
  const busy = lane.busy[column] ?? 0;
  const name = timeline.names[lane.name[column] ?? -1] ?? null;
  if (busy === 0) return { lane: lane.lane, what: 'nothing runs', name: null, task: null, when: at };
  return { lane: lane.lane, what: `busy ${percent(busy)}, mostly this`, name, task: null, when: at };
}

/// The next or the last thing that runs on this lane, or where it is now when there is none.
export function step(timeline: Timeline, place: Place, later: boolean): Place {
  if (timeline.slices !== null) {
    let best: number | null = null;
    for (const slice of timeline.slices) {
      const middle = slice.begin + slice.seconds / 2;
      if (slice.lane !== place.lane) continue;
      if (later ? middle > place.at && slice.begin > place.at : slice.begin + slice.seconds < place.at) {
        if (best === null || (later ? middle < best : middle > best)) best = middle;
      }
    }
    return best === null ? place : { ...place, at: best };
  }
  const lane = timeline.lanes[place.lane];
  if (lane === undefined) return place;
  const width = (timeline.to - timeline.from) / Math.max(1, timeline.columns);
  const by = later ? 1 : -1;
  const here = columnOf(timeline, place.at);
  for (let column = here + by; column >= 0 && column < lane.busy.length; column += by) {
    const changes = lane.name[column] !== lane.name[column - by];
    const middle = timeline.from + (column + 0.5) * width;
    if (changes && (lane.busy[column] ?? 0) > 0) return { ...place, at: middle };
  }
  return place;
}
