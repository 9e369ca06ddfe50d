// Nodes that this page has seen and that are listed no more. A node that died is soon forgotten by the
// others, as it should be; a person who watches must still be told, or would have to count rows.

import { signal } from '@preact/signals';
import { cluster } from './stream';

const toldMilliseconds = 600_000;

/// Each with when it was missed first, by the clock of this machine.
export const gone = signal<ReadonlyMap<string, number>>(new Map());

export function startGone(): void {
  let before: string[] = [];
  cluster.subscribe((state) => {
    if (state === null) return;
    const time = Date.now();
    const here = state.nodes.map((node) => node.node);
    const next = new Map<string, number>();
    // With more nodes than rows, a node without a row may be there.
    for (const node of [...gone.peek().keys(), ...(state.nodes_beyond > 0 ? [] : before)]) {
      const since = gone.peek().get(node) ?? time;
      if (!here.includes(node) && time - since < toldMilliseconds) next.set(node, since);
    }
    before = here;
    if (next.size > 0 || gone.peek().size > 0) gone.value = next;
  });
}
