// A stream that breaks, and comes back.

import { withPage } from './chromium.mjs';
import { shows, until } from './conditions.mjs';
import { Wire } from './wire.mjs';

export const cases = {
  async 'a browser that slept for an hour'({ browser, nodes }) {
    const cluster = await nodes();
    await withPage(browser, {}, async (page) => {
      const streams = [];
      page.on('request', (request) => request.url().includes('/events') && streams.push(request.url()));
      await page.clock.install();
      await page.goto(cluster.url());
      await shows(page, '.status', /live/);
      await shows(page, 'main', /3 of 3 nodes alive/);
      // As of a lid that was closed: no timer fired meanwhile, and the wire may be long dead.
      await page.clock.fastForward('01:00:00');
      await until('it asks for what is new', () => streams.length >= 2);
      await shows(page, '.status', /live/);
      await shows(page, 'main', /3 of 3 nodes alive/);
    });
  },

  async 'a wire that is cut, and mended'({ browser, nodes }) {
    const cluster = await nodes();
    const wire = await Wire.to(cluster.ports[0]);
    try {
      await withPage(browser, {}, async (page) => {
        await page.goto(wire.url);
        await shows(page, '.status', /live/);
        await shows(page, 'main', /nodes alive/);
        wire.cut();
        await shows(page, '.status', /connection lost, tries again/);
        // Known values stay on show, with their age.
        await shows(page, 'main', /nodes alive/);
        await shows(page, '.status', /what is shown is from \d+ s ago/, 30_000);
        // A page that is opened meanwhile says so, too, and is filled when the node is there again.
        await page.evaluate(() => (location.hash = '#/history'));
        await shows(page, 'main', /The journals could not be read/);
        wire.mend();
        await shows(page, '.status', /live/, 30_000);
        await shows(page, 'main', /^(?![^]*could not be read)/);
        await page.evaluate(() => (location.hash = '#/'));
        await shows(page, 'main', /3 of 3 nodes alive/);
      });
    } finally {
      await wire.end();
    }
  },
};
