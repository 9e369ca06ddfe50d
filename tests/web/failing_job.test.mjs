// Why a job failed, and why one does not get on, is found on its page.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { withPage } from './chromium.mjs';
import { check, shows, until } from './conditions.mjs';

export const cases = {
  async 'a task that failed is shown with its error, its causes and a hint'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('failing', ['cluster_failing']);
    const state = await cluster.isOver(job);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs?name=failing`);
      await shows(page, `tr:has(a[href="#/jobs/${job}"])`, /failed/);
      await page.locator(`a[href="#/jobs/${job}"]`).click();
      await shows(page, 'h1', /failed/);
      await shows(page, '.problem', /the disk said no/);
      await shows(page, '.problem', /buy another/);
      const tasks = state.details?.tasks ?? [];
      const errors = [state.error, ...tasks.map((task) => task.error)].filter((one) => one !== null);
      const causes = errors.flatMap((error) => (error.cause ?? '').split('\n'))
        .filter((line) => line.trim() !== '');
      for (const cause of causes) {
        const texts = await page.locator('.causes li').allTextContents();
        check(texts.includes(cause.trim()), `shown is not "${cause}", but ${JSON.stringify(texts)}`);
      }
      await page.getByRole('tab', { name: 'Explain' }).click();
      await shows(page, '[role="tabpanel"]', /The job is over/);
      await page.getByLabel('Task, by name or number').fill('broken');
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      await shows(page, '[role="tabpanel"] tbody', /failed/);
      await page.getByRole('tab', { name: 'History' }).click();
      await page.getByLabel('failures only').check();
      await shows(page, '[role="tabpanel"] tbody', /failed/);
      await page.getByRole('tab', { name: 'Report' }).click();
      await shows(page, '[role="tabpanel"] tbody', /broken/);
      await page.getByRole('tab', { name: 'Graph' }).click();
      await page.locator('.graph .box.failed .mark').first().waitFor();
    });
  },

  async 'what a job waits for in the end'({ browser, nodes }) {
    const cluster = await nodes();
    const fifo = join(cluster.directory, 'gate');
    execFileSync('mkfifo', [fifo]);
    const { job } = await cluster.submit('gate', ['cluster_gate', fifo]);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/explain`);
      await shows(page, '.cards', /gate/, 60_000);
      await shows(page, '.facts', /waiting/);
      await page.goto(`${cluster.url()}#/jobs/${job}/explain?task=behind`);
      await shows(page, '.cards', /behind[^]*waits for/);
    });
  },

  async 'when a task that is queued starts, and what was given up on the lane it waits for'({ browser, nodes }) {
    const cluster = await nodes();
    const fifo = join(cluster.directory, 'gate_of_deaf');
    execFileSync('mkfifo', [fifo]);
    const { job } = await cluster.submit('telling', ['cluster_telling', fifo, 'deaf', '30']);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/explain?task=wait`);
      await until('a task in line says when it starts', async () => {
        await page.locator('.cards details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
        const cards = await page.locator('.cards').allInnerTexts();
        return /starts in .* \(.* to .*, from \d+ runs?\), now with \d+ more free lane/.test(cards.join('\n'));
      }, 60_000);
      await page.goto(`${cluster.url()}#/jobs/${job}/explain?task=deaf`);
      await shows(page, '.cards', /attempt 1 given up at n\d\/w\d+, lane \d, for /, 60_000);
    });
    await cluster.cancel(job);
  },

  async 'which jobs ran at a moment of the past'({ browser, nodes }) {
    const cluster = await nodes();
    const first = await cluster.submit('failing', ['cluster_failing']);
    await cluster.isOver(first.job);
    const second = await cluster.submit('failing', ['cluster_failing']);
    await cluster.isOver(second.job);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/history?at=nonsense`);
      const row = (job) => page.locator(`tr:has(a[href="#/jobs/${job}"])`);
      await row(first.job).waitFor();
      await row(second.job).waitFor();
      await shows(page, 'output', /any time/);
      await page.getByLabel('Ran at').focus();
      await page.keyboard.press('Home');
      await shows(page, 'output', /^20..-..-.. ..:..:..$/);
      await until('only one had begun then', async () => await page.locator('tbody tr').count() === 1);
      check(await row(second.job).count() === 0, 'the job that came later is said to have run at the beginning');
      await page.keyboard.press('ArrowRight');
      check(/[?&]at=\d/.test(page.url()), `the address does not say the moment: ${page.url()}`);
      await page.keyboard.press('End');
      await row(second.job).waitFor();
      await shows(page, 'output', /any time/);
    });
  },

  async 'unknown jobs and pages say so, with a way on'({ browser, nodes }) {
    const cluster = await nodes();
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/job4000000`);
      await shows(page, 'main', /The cluster does not know job4000000[^]*The journals have no such job/, 60_000);
      await shows(page, '.status', /live/);
      await page.goto(`${cluster.url()}#/jobs/nonsense`);
      await shows(page, 'main', /The cluster does not know nonsense/, 60_000);
      await shows(page, '.status', /live/);
      await page.goto(`${cluster.url()}#/nothing/here`);
      await shows(page, 'h1', /No such page/);
      await page.locator('main a[href="#/jobs"]').click();
      await shows(page, 'h1', /^Jobs$/);
    });
  },

  async 'what comes from jobs is text'({ browser, nodes }) {
    const cluster = await nodes();
    const name = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    await withPage(browser, {}, async (page) => {
      await page.route('**/api/history', (route) => route.fulfill({ json: {
        jobs: [{
          job: 'job9', name, end: 'failed',
          error: { code: 'task_failed', what: name, hint: name, cause: name },
        }],
        notices: [name],
      } }));
      await page.goto(`${cluster.url()}#/history`);
      await shows(page, 'main tbody', /<img src=x onerror/);
      check(await page.locator('main img, main script').count() === 0, 'a name became HTML');
    });
  },
};
