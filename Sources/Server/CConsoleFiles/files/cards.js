import { get } from './api.js';
import { h, number } from './dom.js';

/**
 * A table as a part of the overview. It asks again when the last answer is some seconds old.
 *
 * rows(answer) returns the rows as lists of cells; null hides the card for good.
 */
function tableCard(title, columns, path, rows) {
  const card = h('section', { class: 'card', hidden: true });
  let asked = 0;

  function show(lines) {
    card.hidden = false;
    card.replaceChildren(h('h2', {}, title),
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
        h('table', {},
          h('thead', {}, h('tr', {}, columns.map((column) => h('th', { scope: 'col' }, column)))),
          h('tbody', {}, lines.map((cells) =>
            h('tr', {}, cells.map((cell) => h('td', {}, cell))))))));
  }

  async function refresh() {
    if (Date.now() - asked < 5000) return;
    asked = Date.now();
    try {
      const lines = rows(await get(path));
      if (lines) show(lines); else asked = Infinity;
    } catch {
      // The page already says that the server cannot be reached. The next answer replaces this one.
    }
  }
  return { card, refresh };
}

/** The servers that share the store; none where one has the store alone. */
export function serversCard() {
  return tableCard('Servers on this store', ['Server', 'Alive for', 'Databases', 'Wake-ups'], 'servers',
    (answer) => (answer.isShared ? answer.servers.map((server) => [
      h('code', {}, server.description || server.id),
      server.secondsLeft > 0 ? `${server.secondsLeft.toFixed(1)} s` : 'overdue',
      number(server.leasedDatabases), number(server.pendingWakeUps)]) : null));
}

/** What the server does by itself. */
export function backgroundCard() {
  const time = (value) => (value ? new Date(value).toLocaleTimeString('en-GB') : 'not yet');
  return tableCard('Background work', ['Job', 'When', 'Runs', 'Last run', 'Last failure'], 'background',
    (answer) => answer.jobs.map((job) => [
      `${job.name} (${job.owner})`, job.trigger, number(job.runs), time(job.lastRun),
      job.failure ? `${time(job.lastFailure)}: ${job.failure}` : 'none']));
}
