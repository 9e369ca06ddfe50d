// The frame around every page: navigation, the state of the stream, the theme.

import type { ComponentChildren } from 'preact';
import { duration } from '../format';
import { route } from '../route';
import { cluster, link, now, received } from '../stream';
import { type Choice, choice, choose } from '../theme';
import { keysShown } from './keys';

const oldAfterSeconds = 5;

function Status() {
  const state = link.value;
  const age = (now.value - received.value) / 1000;
  const words = { connecting: 'connecting', live: 'live', lost: 'connection lost, tries again' }[state];
  const sign = { connecting: '◌', live: '●', lost: '✕' }[state];
  return (
    <div class={`status status-${state}`}>
      <span role="status"><span aria-hidden="true">{sign} </span>{words}</span>
      {received.value > 0 && age > oldAfterSeconds && (
        <span class="age">
          {state === 'live' ? 'last change' : 'what is shown is from'} {duration(Math.floor(age))} ago
        </span>
      )}
    </div>
  );
}

function Place({ to, here, children }: { to: string; here: boolean; children: ComponentChildren }) {
  return <a href={to} aria-current={here ? 'page' : undefined}>{children}</a>;
}

export function Frame({ children }: { children: ComponentChildren }) {
  const { page } = route.value;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        // The address after `#` is ours: the link only moves the focus.
        event.preventDefault();
        document.getElementById('main')?.focus();
      }}>To the content</a>
      <header class="top">
        <span class="brand">libdag</span>
        <nav aria-label="Pages">
          <Place to="#/" here={page === 'cluster'}>Cluster</Place>
          <Place to="#/jobs" here={page === 'jobs' || page === 'job'}>Jobs</Place>
          <Place to="#/history" here={page === 'history'}>History</Place>
        </nav>
        <Status />
        <div class="looks">
          {cluster.value !== null && <span class="quiet">seen by {cluster.value.seen_by}</span>}
          <label>
            <span class="unseen">Theme</span>
            <select value={choice.value} onChange={(event) => choose(event.currentTarget.value as Choice)}>
              <option value="system">System theme</option>
              <option value="light">Light</option>
              <option value="dark">Dark</option>
            </select>
          </label>
          <button type="button" aria-label="Keys" onClick={() => (keysShown.value = true)}>?</button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
    </>
  );
}
