import { get } from './api.js';
import { h, number } from './dom.js';

/** The servers that share the store, as a part of the overview; none where one has the store alone. */
export function serversCard() {
  const card = h('section', { class: 'card', hidden: true });
  let asked = 0;

  function show(servers) {
    const cells = (server) => [
      h('code', {}, server.description || server.id),
      server.secondsLeft > 0 ? `${server.secondsLeft.toFixed(1)} s` : 'overdue',
      number(server.leasedDatabases), number(server.pendingWakeUps)];
    card.hidden = false;
    card.replaceChildren(h('h2', {}, 'Servers on this store'),
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Servers on this store' },
        h('table', {},
          h('thead', {}, h('tr', {}, ['Server', 'Alive for', 'Databases', 'Wake-ups'].map((title) =>
            h('th', { scope: 'col' }, title)))),
          h('tbody', {}, servers.map((server) =>
            h('tr', {}, cells(server).map((cell) => h('td', {}, cell))))))));
  }

  /** Asks again when the last answer is some seconds old. */
  async function refresh() {
    if (Date.now() - asked < 5000) return;
    asked = Date.now();
    try {
      const answer = await get('servers');
      if (answer.isShared) show(answer.servers); else asked = Infinity;
    } catch {
      // The page already says that the server cannot be reached. The next answer replaces this one.
    }
  }
  return { card, refresh };
}
