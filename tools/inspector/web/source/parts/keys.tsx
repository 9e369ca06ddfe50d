// The keyboard: what each key does on every page, and the window that `?` shows. Tables and tabs have their
// arrow keys themselves, the timeline has its own.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export const keysShown = signal(false);

const places: Record<string, string> = { c: '#/', j: '#/jobs', h: '#/history' };
const startOfChordMilliseconds = 1500;

export function startKeys(): void {
  let chord = 0;
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // `keysShown` follows the window only when its close event has come: a key right behind Escape is before that.
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.target instanceof Element && event.target.closest('input, select, textarea')) return;
    if (event.key === '?') {
      keysShown.value = true;
      event.preventDefault();
    } else if (event.key === 'g') {
      chord = performance.now();
    } else if (chord > 0) {
      const place = places[event.key];
      if (place !== undefined && performance.now() - chord < startOfChordMilliseconds) location.hash = place;
      chord = 0;
    }
  });
}

const keys: [string[], string][] = [
  [['?'], 'this list'],
  [['g', 'c'], 'Cluster'],
  [['g', 'j'], 'Jobs'],
  [['g', 'h'], 'History'],
  [['↑', '↓'], 'in a table: the link a row up or down'],
  [['←', '→'], 'on a job’s tabs: another tab'],
  [['+', '−'], 'in the timeline and the graph: zoom'],
  [['←', '→'], 'in the timeline: earlier, later; with Shift: the run before or after'],
  [['↑', '↓'], 'in the timeline: the lane above or below'],
  [['0'], 'in the timeline and the graph: all of it'],
  [['←', '→', '↑', '↓'], 'in the graph: move the picture; with Shift: to another box'],
  [['Enter'], 'in the timeline and the graph: explain what is under the cursor'],
];

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (keysShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [keysShown.value]);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => (keysShown.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {keys.map(([names, what], index) => (
          <div key={index}>
            <dt>{names.map((name) => <kbd key={name}>{name}</kbd>)}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog"><button>Close</button></form>
    </dialog>
  );
}
