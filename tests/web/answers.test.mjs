// Pages of answers that three nodes of a test do not give: they are put in the way of the real ones.

import { withPage } from './chromium.mjs';
import { check, shows, until } from './conditions.mjs';

const rowsMax = 200;

export const cases = {
  async 'a cluster of a thousand nodes: the first of them, and how many more'({ browser, nodes }) {
    const cluster = await nodes();
    const state = await cluster.ask('api/cluster');
    check(state.nodes_beyond === 0, 'three nodes are all told');
    /// The rows that an event has of so many nodes and jobs, from one of them on.
    const told = (from) => ({
      ...state,
      nodes: Array.from({ length: rowsMax }, (_one, at) => ({ ...state.nodes[0], node: `n${from + at}` })),
      nodes_beyond: 1000 - rowsMax, nodes_alive: 997, lanes: 4000, lanes_busy: 1234,
      jobs: [], jobs_beyond: 40, jobs_open: 40,
      missing: ['n999: silent'], missing_beyond: 7,
    });
    let events = 0;
    await withPage(browser, {}, async (page) => {
      await page.route('**/events*', (route) => route.fulfill({
        contentType: 'text/event-stream',
        body: `event: cluster\ndata: ${JSON.stringify(told(events++))}\n\n`,
      }));
      await page.goto(cluster.url());
      await shows(page, '.lead', /997 of 1,000 nodes alive, 1,234 of 4,000 lanes busy, 40 jobs not over/);
      const tables = page.locator('section');
      await shows(page, 'section:has(h2:text-is("Nodes")) .more', /^800 more not shown/);
      await shows(page, 'section:has(h2:text-is("Running jobs")) .more', /^40 more not shown/);
      await shows(page, '.warning li', /^7 more$/);
      check(await tables.first().locator('tbody tr').count() === rowsMax, 'a row is missing');
      // Others are among the first now: nobody is gone.
      await until('two more events came', () => events > 2);
      await shows(page, 'tbody', /n201\b/);
      check(!/is gone/.test(await page.locator('main').innerText()), 'a node is said to be gone');
    });
  },

  async 'a task that was dispatched, and waits there'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('failing', ['cluster_failing']);
    await cluster.isOver(job);
    const reason = {
      task: '1', name: 'late', state: 'lent', why: 'dispatched to n1/w1', home: 'n0/w1', failures: 0,
      waits_for: [], waits_for_all: 0, candidates: [], error: null, at: 'n1/w1',
    };
    await withPage(browser, {}, async (page) => {
      await page.route(`**/api/jobs/${job}/explain*`, (route) => route.fulfill({ json: {
        counts: { waiting: 1, held: 0, ready: 0, running: 0, lent: 2, ended: 0 },
        tasks: [
          { ...reason, taken: 'queued for a lane' },
          { ...reason, task: '2', name: 'busy', lane: 3, ran_seconds: 5 },
          { ...reason, task: '3', name: 'parent', state: 'waiting', why: 'becomes child (4)', waits_for: ['4'], waits_for_all: 1 },
        ],
      } }));
      await page.goto(`${cluster.url()}#/jobs/${job}/explain`);
      await shows(page, '.cards', /dispatched late \(1\): on n1\/w1: queued for a lane/);
      await shows(page, '.cards', /dispatched busy \(2\): dispatched to n1\/w1\s+at n1\/w1, lane 3, for 5 s/);
      await shows(page, '.cards', /waiting parent \(3\): becomes child/);
      await shows(page, '.facts', /dispatched\s+2/);
      check(!/\blent\b/.test(await page.locator('main').innerText()), 'a word of ours is shown');
    });
  },
};
