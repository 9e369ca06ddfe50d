// Small things that say how something is: each by a shape and a word, and by colour only besides.

import type { ComponentChildren } from 'preact';
import type { Counts, Failure } from '../api';
import { percent, whole } from '../format';
import { jobLink } from '../route';

const signs: Record<string, [string, string]> = {
  starting: ['◌', 'quiet'],
  waiting: ['◌', 'quiet'],
  held: ['◌', 'quiet'],
  ready: ['◔', 'busy'],
  running: ['▶', 'busy'],
  lent: ['▷', 'busy'],
  finished: ['✓', 'good'],
  alive: ['●', 'good'],
  up: ['●', 'good'],
  failed: ['✕', 'bad'],
  down: ['✕', 'bad'],
  dead: ['✕', 'bad'],
  left: ['✕', 'bad'],
  ended: ['■', 'quiet'],
  cancelled: ['⊘', 'quiet'],
  skipped: ['⊘', 'quiet'],
  stopped: ['⊘', 'quiet'],
  suspect: ['◐', 'worse'],
  no_quorum: ['⚠', 'worse'],
  recovering: ['◌', 'worse'],
  'not over': ['▶', 'busy'],
};

export function Sign({ of }: { of: string }) {
  const [shape, mood] = signs[of] ?? ['•', 'quiet'];
  // A process has it, this one or another, which runs it or has it wait for a lane.
  const word = of === 'lent' ? 'dispatched' : of.replace(/_/g, ' ');
  return <span class={`sign ${mood}`}><span aria-hidden="true">{shape}</span> {word}</span>;
}

export function Warning({ children }: { children: ComponentChildren }) {
  return <span class="sign worse"><span aria-hidden="true">⚠</span> {children}</span>;
}

export function Failures({ count }: { count: number }) {
  return count > 0 ? <span class="sign bad">✕ {whole(count)}</span> : <>0</>;
}

export function TaskLink({ job, task, name }: { job: string; task: string; name: string }) {
  const to = jobLink(job, 'explain', { task });
  // Journals know some tasks by their number only.
  if (name === '') return <a href={to}>{task}</a>;
  return <a href={to}><span class="name">{name}</span> ({task})</a>;
}

export function Share({ part, all, text }: { part: number; all: number; text: ComponentChildren }) {
  return (
    <span class="share">
      <span class="bar" aria-hidden="true">
        <i class="bar-busy" style={{ width: `${all > 0 ? Math.min(100, (100 * part) / all) : 0}%` }} />
      </span>
      <span>{text}</span>
    </span>
  );
}

export const total = (counts: Counts): number =>
  counts.open + counts.finished + counts.failed + counts.skipped + counts.cancelled;

export function Progress({ counts }: { counts: Counts }) {
  const all = total(counts);
  const ended = all - counts.open;
  const parts: [string, number][] = [
    ['finished', counts.finished], ['failed', counts.failed], ['left-out', counts.skipped + counts.cancelled],
  ];
  return (
    <span class="share progress">
      <span class="bar" aria-hidden="true">
        {parts.map(([name, count]) => count > 0 && (
          // A failure among a hundred thousand must be seen: nothing that is there is thinner than that.
          <i key={name} class={`bar-${name}`} style={{ width: `max(3px, ${(100 * count) / all}%)` }} />
        ))}
      </span>
      <span>{all === 0 ? 'no tasks' : `${whole(ended)} of ${whole(all)} (${percent(ended / all)})`}</span>
    </span>
  );
}

export function Problem({ failure, title }: { failure: Failure; title?: string }) {
  const causes = (failure.cause ?? '').split('\n').map((line) => line.trim()).filter((line) => line !== '');
  return (
    <div class="problem">
      {title !== undefined && <p class="problem-title"><span aria-hidden="true">✕ </span>{title}</p>}
      <p class="problem-what">{failure.what}
        {' '}<code>{failure.code}{failure.number === undefined ? '' : ` ${failure.number}`}</code></p>
      {causes.length > 0 && (
        <ol class="causes" aria-label="Causes, each that of the one before">
          {causes.map((cause, index) => <li key={index}>{cause}</li>)}
        </ol>
      )}
      {failure.hint !== undefined && failure.hint !== '' && <p class="hint"><b>Hint:</b> {failure.hint}</p>}
    </div>
  );
}

export function Notices({ notices }: { notices: string[] | undefined }) {
  if (notices === undefined || notices.length === 0) return null;
  return (
    <ul class="notices" aria-label="Notices">
      {notices.map((notice, index) => <li key={index}><span aria-hidden="true">⚠ </span>{notice}</li>)}
    </ul>
  );
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
