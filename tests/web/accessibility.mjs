// axe-core, run in a page: it must find nothing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sources } from './chromium.mjs';
import { check } from './conditions.mjs';

let axe;

export async function isAccessible(page, where) {
  axe ??= readFileSync(join(sources, 'node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    () => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.map((one) => {
    const places = one.nodes.map((node) => node.html).slice(0, 3).join(' ');
    return `${one.id}: ${one.help}: ${places}`;
  });
  check(found.length === 0, `axe-core finds on ${where}: ${found.join('; ')}`);
}
