// The event stream, one for the whole console: samples of the last minutes, and pushes as they come.

export const seconds = 300;
export const samples = [];
const watchers = new Set();
let isConnected = false;

function notify(kind, data) { for (const watcher of watchers) watcher(kind, data); }

export function connected() { return isConnected; }

/** Calls back with ('sample' | 'pushes' | 'connection', data) until the answered function is called. */
export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function start() {
  const source = new EventSource('/admin/v1/events');
  source.addEventListener('open', () => { isConnected = true; notify('connection', true); });
  source.addEventListener('error', () => { isConnected = false; notify('connection', false); });
  source.addEventListener('sample', (event) => {
    const sample = JSON.parse(event.data);
    const last = samples.at(-1);
    // A server that was started anew counts from zero.
    if (last && sample.requests.served < last.requests.served) samples.length = 0;
    samples.push(sample);
    if (samples.length > seconds + 1) samples.shift();
    notify('sample', sample);
  });
  source.addEventListener('pushes', (event) => notify('pushes', JSON.parse(event.data)));
}

/** What a count rose by each second. */
export function rates(value) {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index];
    const passed = (sample.time - before.time) / 1000;
    return passed > 0 ? Math.max(0, (value(sample) - value(before)) / passed) : null;
  });
}
