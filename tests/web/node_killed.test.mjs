// Nodes that are killed while somebody watches: another one, and the one whose page it is.

import { withPage } from './chromium.mjs';
import { shows } from './conditions.mjs';
import { Nodes, trainWords } from './nodes.mjs';

export const cases = {
  async 'another node'({ browser }) {
    const nodes = await Nodes.start(3);
    try {
      await nodes.submit('train_gpt', trainWords(100_000));
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
};
