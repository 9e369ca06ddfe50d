// A job of a hundred thousand tasks: its page can be used within two seconds of being opened.

import { withPage } from './chromium.mjs';
import { check, shows } from './conditions.mjs';

const tasks = 100_000;
const usableMilliseconds = 2_000;
/// Another program may have the machine while one is measured: the quickest counts.
const tries = 3;

export const cases = {
  async 'its page can be used within two seconds'({ browser, nodes }) {
    const cluster = await nodes();
    await cluster.cancelAll();
    const { job } = await cluster.submit('layers', ['cluster_layers', `${tasks}`, '20']);
    const took = [];
    const measure = async () => {
      await withPage(browser, {}, async (page) => {
        const began = performance.now();
        await page.goto(`${cluster.url()}#/jobs/${job}`);
        await shows(page, '.big-progress', /of 100,000/);
        await page.getByRole('tab', { name: 'Explain' }).click();
        await shows(page, '[role="tab"][aria-selected="true"]', /Explain/);
        took.push(Math.round(performance.now() - began));
      });
    };
    for (let time = 0; time < tries; ++time) await measure();
    await cluster.isOver(job, 180_000);
    for (let time = 0; time < tries; ++time) await measure();
    console.log(`        usable after ${took.join(', ')} ms`);
    const best = (times) => Math.min(...times);
    const [early, late] = [took.slice(0, tries), took.slice(tries)];
    check(best(early) < usableMilliseconds, `while it runs it takes ${early} ms`);
    check(best(late) < usableMilliseconds, `when it is over it takes ${late} ms`);
  },

  async 'its timeline, report and history are summed up and paged'({ browser, nodes }) {
    const cluster = await nodes();
    const [{ job }] = (await cluster.ask('api/jobs?name=layers')).jobs;
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/timeline`);
      await shows(page, '.filters', /100,000 runs, summed up/, 120_000);
      await page.evaluate((to) => (location.hash = to), `#/jobs/${job}/report`);
      await shows(page, '[role="tabpanel"] .facts', /Critical path\s*\d.*100,000/s, 120_000);
      await page.evaluate((to) => (location.hash = to), `#/jobs/${job}/history`);
      await shows(page, '.pager', /lines 1 to 200/, 120_000);
      await page.getByRole('button', { name: 'More' }).click();
      await shows(page, '.pager', /lines 201 to 400/, 120_000);
      check(await page.locator('tbody tr').count() <= 200, 'more than 200 rows are shown');
      await page.getByRole('button', { name: 'Before' }).click();
      await shows(page, '.pager', /lines 1 to 200/, 120_000);
    });
  },
};
