// The browser that the tests drive, and pages in it that remember what went wrong in them.

import { accessSync, constants, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { patient } from './conditions.mjs';

export const sources = fileURLToPath(new URL('../../tools/inspector/web/', import.meta.url));
const modules = join(sources, 'node_modules');

export const modulesAreHere = () =>
  ['playwright-core', 'axe-core', 'esbuild'].every((one) => existsSync(join(modules, one)));

function runs(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/// Null: there is none.
export function chromiumProgram() {
  const told = process.env.DAG_CHROMIUM;
  if (told) return runs(told) ? told : null;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      if (folder !== '' && runs(join(folder, name))) return join(folder, name);
    }
  }
  return null;
}

export async function startBrowser() {
  const require = createRequire(join(sources, 'package.json'));
  const { chromium } = require('playwright-core');
  return chromium.launch({
    executablePath: chromiumProgram(),
    args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
}

/// Runs `work` with a page of its own. Whatever the page's own code throws, or a policy forbids it, is a
/// failure.
export async function withPage(browser, options, work) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patient(20_000));
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) wrong.push(message.text());
  });
  try {
    await work(page);
    if (wrong.length > 0) throw new Error(`the page itself failed: ${wrong.join('; ')}`);
  } finally {
    await context.close();
  }
}
