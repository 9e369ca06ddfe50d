// Changes in the cluster show on the page by themselves.

import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { withPage } from './chromium.mjs';
import { check, shows, until } from './conditions.mjs';
import { trainWords } from './nodes.mjs';

const ended = (text) => Number(text.replace(/,/g, ''));

async function grows(page, selector, times) {
  let last = -1;
  for (let time = 0; time < times; ++time) {
    last = await until(`${selector} shows more than ${last} tasks ended`, async () => {
      const match = (await page.locator(selector).first().innerText()).match(/([\d,]+) of [\d,]+/);
      const now = match === null ? -1 : ended(match[1]);
      return now > last && now;
    }, 60_000);
  }
}

export const cases = {
  async 'a training gets on while one watches'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('train_gpt', trainWords(100_000));
    await withPage(browser, {}, async (page) => {
      const streams = [];
      page.on('request', (request) => request.url().includes('/events') && streams.push(request.url()));
      await page.goto(cluster.url());
      await shows(page, '.status', /live/);
      await shows(page, 'main', /3 of 3 nodes alive/);
      await page.evaluate(() => (globalThis.sameDocument = true));
      await grows(page, `tr:has(a[href="#/jobs/${job}"]) .progress`, 3);
      await page.locator(`tr:has(a[href="#/jobs/${job}"]) a`).first().click();
      await shows(page, 'h1', /train_gpt/);
      await grows(page, '.big-progress', 3);
      await shows(page, '.facts', /tasks\/s/);
      await shows(page, 'section:has(h2:text-is("Processes"))', /up/);
      await shows(page, 'section:has(h2:text-is("Stages")) tbody', /\d/);
      check(await page.evaluate(() => globalThis.sameDocument === true), 'the page was loaded anew');
      check(streams.length === 2, `one stream per page was expected, not ${streams.join(', ')}`);
    });
  },

  async 'another node shows the same job'({ browser, nodes }) {
    const cluster = await nodes();
    const { jobs } = await cluster.ask('api/jobs?name=train_gpt');
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url(1)}#/jobs?name=train_gpt`);
      await grows(page, `tr:has(a[href="#/jobs/${jobs[0].job}"]) .progress`, 2);
      await shows(page, '.looks', /seen by n1/);
    });
  },

  async 'utilisation is drawn, and stands in a table'({ browser, nodes }) {
    const cluster = await nodes();
    await withPage(browser, {}, async (page) => {
      await page.goto(cluster.url());
      await shows(page, 'figcaption', /\d+ of \d+ lanes busy now/);
      await page.locator('figure summary').click();
      await shows(page, 'figure tbody', /\d\d:\d\d/);
      check(await page.locator('figure canvas').count() === 1, 'there is no picture');
    });
  },

  async 'a page that is opened gets what the node saw before'({ browser, nodes }) {
    const cluster = await nodes();
    let past = { unix_seconds: [] };
    await until('the node has seen something', async () => {
      past = await cluster.ask('api/utilisation');
      return past.unix_seconds.length >= 2;
    }, 60_000);
    check(past.lanes.at(-1) >= 3, JSON.stringify(past));
    // As if that had been a while ago: the page has not seen it.
    const longAgo = past.unix_seconds.map((at) => at - 600);
    await withPage(browser, {}, async (page) => {
      await page.route('**/api/utilisation', (route) =>
        route.fulfill({ json: { ...past, unix_seconds: longAgo, lanes: past.lanes.map(() => 77) } }));
      await page.goto(cluster.url());
      await page.locator('figure summary').click();
      await shows(page, 'figure tbody', /\d\d:\d\d[^\n]*\b77\b/);
    });
  },

  async 'what a job says comes by itself, and of one task alone'({ browser, nodes }) {
    const cluster = await nodes();
    const gate = join(cluster.directory, 'gate-of-talking');
    execFileSync('mkfifo', [gate]);
    const { job } = await cluster.submit('talking', ['cluster_talking', '/dev/null', '20', gate]);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/logs`);
      await shows(page, 'tbody', /line 9\b/, 60_000);
      check(!/line 1\d/.test(await page.locator('tbody').innerText()), 'the second half waits for its gate');
      await (await open(gate, 'w')).close();
      await shows(page, 'tbody', /line 19\b/, 60_000);
      await page.getByLabel('Task, by name or number').fill('no-such-task');
      await shows(page, 'tbody', /No log lines/);
      const { lines: said } = await cluster.ask(`api/jobs/${job}/logs?tail=2`);
      check(said.length === 2 && said.every((line) => line.place.startsWith('n')), JSON.stringify(said));
    });
    await cluster.cancel(job);
  },

  async 'the timeline of a job that runs'({ browser, nodes }) {
    const cluster = await nodes();
    const { jobs } = await cluster.ask('api/jobs?name=train_gpt');
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${jobs[0].job}/timeline`);
      await shows(page, '.filters', /[\d,]+ runs?/, 60_000);
      await shows(page, '.legend', /\S/);
      await page.locator('summary:has-text("As tables")').click();
      await shows(page, '.table', /n\d+\/w\d+/);
      const before = await page.locator('.filters .quiet').innerText();
      await page.getByRole('button', { name: 'Closer' }).click();
      await until('closer shows less',
        async () => (await page.locator('.filters .quiet').innerText()) !== before);
      await page.getByRole('button', { name: 'Whole job' }).click();
      await shows(page, '.filters .quiet', /^0 s to /);
    });
    await cluster.cancel(jobs[0].job);  // The job would take cores from all tests that follow.
  },

  async 'the graph of a job that runs gets on by itself'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('train_gpt', trainWords(1000));
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/graph`);
      await shows(page, '.graph', /\S/, 60_000);
      await page.locator('summary:has-text("As a table")').click();
      const finished = () => page.locator('tbody tr').evaluateAll(
        (all) => all.reduce((sum, row) => sum + Number(row.cells[2].innerText.replace(/[^\d]/g, '')), 0));
      let before = await finished();
      for (let time = 0; time < 2; ++time) {
        await until(`more than ${before} tasks are finished in the picture`, async () => {
          const now = await finished();
          return now > before && ((before = now), true);
        }, 60_000);
      }
    });
    await cluster.cancel(job);
  },

  async 'the graph of a job, and the same as a table'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('train_gpt', trainWords(2));
    await cluster.isOver(job);
    const { nodes: boxes, edges, tasks } = await cluster.ask(`api/jobs/${job}/graph`);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}`);
      await page.getByRole('tab', { name: 'Graph' }).click();
      await until(`${boxes.length} boxes are drawn`,
        async () => await page.locator('.graph .box').count() === boxes.length, 60_000);
      check(await page.locator('.graph .edge').count() === edges.length, 'not each edge is drawn');
      await page.locator('summary:has-text("As a table")').click();
      const rows = await page.locator('tbody tr').evaluateAll(
        (all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.replace(/[^\d]/g, ''))));
      const sum = (column) => rows.reduce((last, row) => last + Number(row[column]), 0);
      check(sum(1) === tasks, `the table has ${sum(1)} tasks, the job ${tasks}`);
      const ends = sum(2) + sum(3) + sum(4) + sum(5);
      check(ends === tasks, `finished, failed, left out and open are ${ends} of ${tasks}`);
      const single = boxes.findIndex((box) => box.task !== null);
      await page.locator('.graph .box').nth(single).click();
      await until('a click explains the task',
        () => page.url().endsWith(`explain?task=${encodeURIComponent(boxes[single].task)}`));
    });
  },
};
