// A page's answer besides the stream: the last good answer stays on show while a newer one is fetched, and
// when that fails, together with the error.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, Refused, ask } from './api';
import { link } from './stream';

export interface Answer<Data> {
  data: Data | null;
  /// The question that `data` answers; another one than was asked last, while that is on its way.
  url: string | null;
  failure: Failure | null;
  waits: boolean;
  reload: () => void;
}

interface Options {
  /// Asks again so often; zero: never. A slow answer makes it rarer, so that a page never takes a node's
  /// whole time.
  everyMilliseconds?: number;
  /// A change of the question that comes within this time of the one before is asked once, at its end.
  settleMilliseconds?: number;
}

const shareOfTime = 5;

/// `url` null: asks nothing.
export function useAnswer<Data>(url: string | null, options: Options = {}): Answer<Data> {
  const { everyMilliseconds = 0, settleMilliseconds = 0 } = options;
  const [state, setState] = useState<{ data: Data | null; url: string | null; failure: Failure | null }>({
    data: null, url: null, failure: null,
  });
  const [waits, setWaits] = useState(false);
  const [round, setRound] = useState(0);
  const first = useRef(true);
  const reload = useCallback(() => setRound((last) => last + 1), []);

  useEffect(() => {
    if (url === null) return;
    const aborted = new AbortController();
    let timer = 0;
    const fetchOnce = async () => {
      const began = performance.now();
      // A hidden page asks once, and no more until it is looked at.
      if (everyMilliseconds === 0 || document.visibilityState === 'visible') {
        setWaits(true);
        try {
          const data = await ask<Data>(url, aborted.signal);
          if (aborted.signal.aborted) return;
          setState({ data, url, failure: null });
        } catch (thrown) {
          if (aborted.signal.aborted) return;
          const failure = thrown instanceof Refused ? thrown.failure : { code: 'page', what: String(thrown) };
          setState((last) => ({ ...last, failure }));
        }
        setWaits(false);
      }
      if (everyMilliseconds > 0) {
        const took = performance.now() - began;
        timer = window.setTimeout(fetchOnce, Math.max(everyMilliseconds, shareOfTime * took));
      }
    };
    timer = window.setTimeout(fetchOnce, first.current ? 0 : settleMilliseconds);
    first.current = false;
    return () => {
      aborted.abort();
      clearTimeout(timer);
    };
  }, [url, round, everyMilliseconds, settleMilliseconds]);
  // A node that could not be reached is asked again when it can be.
  const linked = link.value;
  useEffect(() => {
    if (linked === 'live' && state.failure?.code === 'no_answer') reload();
  }, [linked]);
  return { ...state, waits, reload };
}
