// All of it by keys, and where they are is always seen.

import { withPage } from './chromium.mjs';
import { check, patient, shows, until } from './conditions.mjs';

const stopsMax = 60;

const focused = (page) => page.evaluate(() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  return {
    text: (element.innerText ?? '').trim().slice(0, 60),
    name: `${element.tagName.toLowerCase()}#${element.id}.${element.className}`,
    seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
  };
});

/// Presses Tab until what has the focus matches.
async function tabTo(page, selector) {
  for (let stop = 0; stop < stopsMax; ++stop) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    check(at.name.startsWith('body') || at.seen, `the focus on ${at.name} "${at.text}" is not seen`);
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
  }
  throw new Error(`Tab does not come to ${selector}`);
}

export const cases = {
  async 'pages, tables, tabs and the list of keys'({ browser, nodes }) {
    const cluster = await nodes();
    const names = ['hello', 'hello'];
    for (const name of names) await cluster.isOver((await cluster.submit(name, ['hello'])).job);
    await withPage(browser, {}, async (page) => {
      await page.goto(cluster.url());
      await shows(page, '.status', /live/);
      await page.keyboard.press('Tab');
      check((await focused(page)).text === 'To the content', 'the first stop is not the skip link');
      await page.keyboard.press('Enter');
      check((await focused(page)).name.startsWith('main'), 'the skip link does not lead to the content');

      await page.keyboard.press('g');
      await page.keyboard.press('j');
      await shows(page, 'h1', /^Jobs$/);
      await until('the heading of the new page has the focus',
        async () => (await focused(page)).name.startsWith('h1'));
      await tabTo(page, 'tbody a');
      const first = (await focused(page)).text;
      await page.keyboard.press('ArrowDown');
      const second = (await focused(page)).text;
      check(first !== second && second.startsWith('job'), `arrow down went from ${first} to ${second}`);
      await page.keyboard.press('ArrowUp');
      check((await focused(page)).text === first, 'arrow up does not go back');
      await page.keyboard.press('Enter');
      await shows(page, 'h1', new RegExp(`^${first} `));

      await tabTo(page, '[role="tab"]');
      await page.keyboard.press('ArrowRight');
      await until('the next tab is open', () => page.url().endsWith('/graph'));
      check((await focused(page)).text === 'Graph', 'the focus is not on the tab that was opened');
      await page.keyboard.press('End');
      await until('the last tab is open', () => page.url().endsWith('/history'));
      await page.keyboard.press('ArrowRight');
      await until('behind the last tab comes the first', () => !page.url().includes('/history'));

      await page.keyboard.press('?');
      await shows(page, 'dialog[open]', /Keys/);
      await page.keyboard.press('Escape');
      await until('Escape closes the list of keys',
        async () => await page.locator('dialog[open]').count() === 0);
      await page.keyboard.press('g');
      await page.keyboard.press('h');
      await shows(page, 'h1', /^History$/);
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      await shows(page, 'h1', /^Cluster$/);
    });
  },

  async 'the timeline'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('mixture', ['cluster_mixture', '40', '200']);
    await cluster.isOver(job);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/timeline`);
      const window = () => page.locator('.filters .quiet').innerText();
      await shows(page, '.filters', /runs?/, 60_000);
      await tabTo(page, '.lanes');
      await shows(page, '.tip', /n\d+\/w\d+/);
      const whole = await window();
      await page.keyboard.press('+');
      await until('plus shows less', async () => (await window()) !== whole);
      const closer = await window();
      await page.keyboard.press('ArrowRight');
      await until('right is later', async () => (await window()) !== closer);
      await page.keyboard.press('0');
      await shows(page, '.filters .quiet', /^0 s to /);
      await page.keyboard.press('Shift+ArrowRight');
      await page.keyboard.press('Shift+ArrowLeft');
      await page.keyboard.press('ArrowDown');
      // The object under the cursor is read out for people who do not see it.
      await until('the place is read out', async () => /n\d+\/w\d+/.test(
        await page.locator('.lanes [role="status"]').textContent()));
    });
  },

  async 'the graph'({ browser, nodes }) {
    const cluster = await nodes();
    const { job } = await cluster.submit('mixture', ['cluster_mixture', '10', '5']);
    await cluster.isOver(job);
    await withPage(browser, {}, async (page) => {
      await page.goto(`${cluster.url()}#/jobs/${job}/graph`);
      await page.locator('.graph .box').first().waitFor({ timeout: patient(60_000) });
      await tabTo(page, '.graph');
      const read = () => page.locator('.graph [role="status"]').textContent();
      await until('the first box is read out', async () => /: \d+ of \d+ tasks? finished/.test(await read()));
      const first = await read();
      for (const key of ['Shift+ArrowRight', 'Shift+ArrowDown']) await page.keyboard.press(key);
      await until('the cursor is on another box', async () => (await read()) !== first);
      const seen = () => page.locator('.graph svg').getAttribute('viewBox');
      await page.keyboard.press('0');
      const whole = await seen();
      for (let time = 0; time < 4; ++time) await page.keyboard.press('+');
      await until('plus shows less', async () => (await seen()) !== whole);
      const closer = await seen();
      await page.keyboard.press('ArrowRight');
      await until('right is another part', async () => (await seen()) !== closer);
      await page.keyboard.press('0');
      await until('zero shows all', async () => (await seen()) === whole);
      await page.keyboard.press('Enter');
      await until('Enter explains the box', () => page.url().includes(`/${job}/explain?task=`));
      await shows(page, '[role="tabpanel"] tbody', /\S/, 60_000);
    });
  },
};
