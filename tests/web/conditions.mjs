// Waiting for something to become true, and saying clearly what did not: nothing here waits for a time to
// pass.

const lookEveryMilliseconds = 50;

/// DAG_PATIENCE scales all limits of waits, as in tests/support/patience.hpp.
export function patienceFactor(text) {
  if (!text) return 1;
  const factor = Number(text);
  if (Number.isFinite(factor) && factor > 0) return factor;
  throw new Error(`DAG_PATIENCE is '${text}', but must be a number above 0, such as 0.2`);
}
const factor = patienceFactor(process.env.DAG_PATIENCE);
export const patient = (milliseconds) => milliseconds * factor;

/// Asks until it holds. `look` gives what holds, or something falsy; what it throws meanwhile is "not yet".
export async function until(what, look, limitMilliseconds = 20_000) {
  const limit = patient(limitMilliseconds);
  const end = performance.now() + limit;
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
      throw new Error(`after ${limit / 1000} s it is still not so that ${what}${why}`);
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
