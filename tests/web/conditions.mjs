// Waiting for something to become true, and saying clearly what did not: nothing here waits for a time to
// pass.

const lookEveryMilliseconds = 50;

/// Asks until it holds. `look` gives what holds, or something falsy; what it throws meanwhile is "not yet".
export async function until(what, look, limitMilliseconds = 20_000) {
  const end = performance.now() + limitMilliseconds;
  let last;
  for (;;) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (thrown) {
      last = thrown;
    }
    if (performance.now() > end) {
      const why = last === undefined ? '' : `; the last look failed: ${last.message}`;
      throw new Error(`after ${limitMilliseconds / 1000} s it is still not so that ${what}${why}`);
    }
    await new Promise((done) => setTimeout(done, lookEveryMilliseconds));
  }
}

/// Until the text of one of the elements matches; gives the match. A failure says what stood there instead.
export async function shows(page, selector, pattern, limitMilliseconds = 20_000) {
  let texts = [];
  try {
    return await until(`${selector} shows ${pattern}`, async () => {
      texts = await page.locator(selector).allInnerTexts();
      return texts.map((text) => text.match(pattern)).find((match) => match !== null);
    }, limitMilliseconds);
  } catch (thrown) {
    throw new Error(`${thrown.message}; it shows ${JSON.stringify(texts.join(' | ').slice(0, 2000))}`);
  }
}

export function check(holds, what) {
  if (!holds) throw new Error(what);
}
