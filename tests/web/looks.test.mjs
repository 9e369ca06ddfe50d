// Every page in both themes: axe-core finds nothing, nothing scrolls sideways on a narrow screen, and
// pictures are taken of it when DAG_SCREENSHOTS names a folder.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAccessible } from './accessibility.mjs';
import { withPage } from './chromium.mjs';
import { check, shows, until } from './conditions.mjs';
import { trainWords } from './nodes.mjs';

const pictures = fileURLToPath(new URL('../../tools/inspector/docs/', import.meta.url));
/// Another state of a view that has one, or none to show.
const hasNoPicture = ['graph_failed', 'history', 'unknown'];

/// Pictures are of a training; browsers that only look get the cores to themselves.
const pictured = Boolean(process.env.DAG_SCREENSHOTS);
const runs = pictured ? 'train_gpt' : 'ledger';

/// To the second.
const shownAs = (moment) => new Date(moment).toISOString().replace('T', ' ').slice(0, 19);

/// The address and what must stand there before it is looked at. Each view is in one of them.
async function places(cluster) {
  const rows = async (name) => (await cluster.ask(`api/jobs?limit=1000&name=${name}`)).jobs;
  const running = (await rows(runs)).find((one) => one.phase === 'running') ??
    await (pictured ? cluster.submit(runs, trainWords(100_000)) : cluster.submitEndless());
  const failed = (await rows('failing'))[0] ?? await cluster.submit('failing', ['cluster_failing']);
  await cluster.isOver(failed.job);
  const talked = (await rows('talking'))[0] ??
    await cluster.submit('talking', ['cluster_talking', '/dev/null', '8']);
  const past = await until('a journal tells when it began', async () =>
    (await cluster.ask('api/history')).jobs.find((one) => one.job === failed.job && one.began));
  const [job, bad] = [`#/jobs/${running.job}`, `#/jobs/${failed.job}`];
  return {
    cluster: ['#/', 'tbody', /alive/],
    jobs: ['#/jobs', 'tbody', new RegExp(runs)],
    job: [job, '.facts', /tasks\/s/],
    job_failed: [bad, '.problem', /the disk said no/],
    graph: [`${job}/graph`, '.filters', /tasks/],
    graph_failed: [`${bad}/graph`, '.legend', /critical/],
    timeline: [`${job}/timeline`, '.filters', /runs/],
    explain: [`${job}/explain`, '.facts', /running/],
    report: [`${job}/report`, 'tbody', /\d/],
    logs: [`#/jobs/${talked.job}/logs`, 'tbody', /line \d/],
    job_history: [`${bad}/history?task=broken`, 'tbody', /the disk said no/],
    history: ['#/history', 'tbody', /failing/],
    // The bar stands where that job began.
    history_at: [`#/history?at=${Date.parse(past.began)}`, '.scrub output', new RegExp(shownAs(past.began))],
    unknown: ['#/nothing', 'h1', /No such page/],
  };
}

async function lookAtAll({ browser, nodes }, scheme, width) {
  const cluster = await nodes();
  const folder = process.env.DAG_SCREENSHOTS;
  if (folder) mkdirSync(folder, { recursive: true });
  const all = await places(cluster);
  const screen = { colorScheme: scheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' };
  await withPage(browser, screen, async (page) => {
    await page.goto(cluster.url());
    await shows(page, '.status', /live/);
    for (const [name, [hash, selector, pattern]] of Object.entries(all)) {
      await page.evaluate((to) => (location.hash = to), hash);
      await shows(page, selector, pattern, 60_000);
      const shown = await page.evaluate(() => document.documentElement.scrollWidth);
      check(shown <= width, `${name} is ${shown} pixels wide on a screen of ${width}`);
      await isAccessible(page, `${name}, ${scheme}, ${width} pixels wide`);
      const file = `${name}-${scheme}${width < 600 ? '-narrow' : ''}.png`;
      if (folder) await page.screenshot({ path: join(folder, file) });
    }
  });
}

export const cases = {
  'light': (tools) => lookAtAll(tools, 'light', 1280),
  'dark': (tools) => lookAtAll(tools, 'dark', 1280),
  'a narrow screen': (tools) => lookAtAll(tools, 'light', 360),

  async 'each view has a picture in both themes'({ nodes }) {
    for (const name of Object.keys(await places(await nodes()))) {
      if (hasNoPicture.includes(name)) continue;
      for (const scheme of ['light', 'dark']) {
        const file = join(pictures, `${name}-${scheme}.png`);
        check(existsSync(file), `there is no ${file}: make it with DAG_SCREENSHOTS`);
      }
    }
  },

  async 'a theme that was chosen stays'({ browser, nodes }) {
    const cluster = await nodes();
    await withPage(browser, { colorScheme: 'light' }, async (page) => {
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.goto(cluster.url());
      await shows(page, '.status', /live/);
      const light = await ground();
      await page.getByLabel('Theme').selectOption('dark');
      await until('the page is dark', async () => (await ground()) !== light);
      const dark = await ground();
      await page.reload();
      await until('it is dark after it was loaded anew', async () => (await ground()) === dark);
      await page.getByLabel('Theme').selectOption('system');
      await until('it is as the system has it', async () => (await ground()) === light);
      await page.emulateMedia({ colorScheme: 'dark' });
      await until('it follows the system', async () => (await ground()) === dark);
    });
  },
};
