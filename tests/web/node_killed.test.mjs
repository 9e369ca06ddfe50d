// Nodes that are killed, or fall silent, while a page is open: another node, and the node of the page.

import { withPage } from './chromium.mjs';
import { shows, until } from './conditions.mjs';
import { Nodes } from './nodes.mjs';

export const cases = {
  async 'another node'({ browser }) {
    const nodes = await Nodes.start(3);
    try {
      await nodes.submitEndless();
      await withPage(browser, {}, async (page) => {
        await page.goto(nodes.url());
        await shows(page, 'main', /3 of 3 nodes alive/);
        await nodes.kill(2);
        await shows(page, 'tr:has(b:text-is("n2")), .warning',
          /n2[^]*(suspect|dead|left|down|no answer|gone)/, 60_000);
        await shows(page, 'main', /2 of 3 nodes alive|2 of 2 nodes alive/, 60_000);
        await shows(page, '.status', /live/);
        await nodes.startNode(2);
        await shows(page, 'main', /3 of 3 nodes alive/, 60_000);
        await shows(page, 'main', /^(?![^]*n2 is gone)/);
      });
    } finally {
      await nodes.end();
    }
  },

  async 'the one whose page it is, which comes back'({ browser }) {
    const nodes = await Nodes.start(3);
    try {
      await withPage(browser, {}, async (page) => {
        await page.goto(nodes.url(1));
        await shows(page, '.status', /live/);
        await shows(page, 'main', /3 of 3 nodes alive/);
        await nodes.kill(1);
        await shows(page, '.status', /connection lost, tries again/);
        await shows(page, 'main', /3 of 3 nodes alive/);
        await nodes.startNode(1);
        await shows(page, '.status', /live/, 60_000);
        await shows(page, 'main', /3 of \d+ nodes alive/, 60_000);
      });
    } finally {
      await nodes.end();
    }
  },

  async 'one that is silent, and who does not hear it'({ browser }) {
    const nodes = await Nodes.start(3);
    try {
      await withPage(browser, {}, async (page) => {
        const links = 'section:has(h2:text-is("Links")) tbody tr';
        await page.goto(nodes.url());
        await shows(page, links, /^n2\s+n1\s+[\d.]+ m?s\s+[\d.]+ (ms|µs)/);
        await until('each of three nodes hears two', async () => (await page.locator(links).count()) === 6);
        nodes.stop(2);
        await shows(page, links, /^n[01]\s+n2\s+⚠ (late|suspect|not heard)/, 60_000);
        nodes.goOn(2);
      });
    } finally {
      await nodes.end();
    }
  },
};
