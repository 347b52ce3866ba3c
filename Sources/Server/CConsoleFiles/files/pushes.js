import { get } from './api.js';
import { anchor, badge, choice, empty, field, h, heading, problem, table, time } from './dom.js';
import { watch } from './live.js';
import { database, link, place } from './place.js';
import { events, recordLink, stateKinds } from './story.js';

const state = { where: 'latest', text: '', isPaused: false };
const shown = 200;

function outcomes(push) {
  if (!push.deliveries) return badge('on its way');
  if (!push.deliveries.length) return badge('in the log only');
  const counts = {};
  for (const delivery of push.deliveries) counts[delivery.state] = (counts[delivery.state] ?? 0) + 1;
  return Object.entries(counts).map(([name, count]) => badge(count > 1 ? `${name} ×${count}` : name, stateKinds[name]));
}

export function pushes(main) {
  const results = h('section', { class: 'card flush', 'aria-label': 'Pushes' });
  const news = h('p', { class: 'quiet small', role: 'status' });
  const text = h('input', { name: 'text', type: 'search', value: state.text, placeholder: 'record, subscription, user, zone' });
  const where = choice([['latest', 'everywhere'], ['database', 'this database']], state.where,
    { name: 'where', onchange: () => { state.where = where.value; begin(); } });
  const pause = h('button', { type: 'button', onclick: () => {
    state.isPaused = !state.isPaused;
    showPause();
    if (!state.isPaused) begin();
  } });
  const showPause = () => {
    pause.textContent = state.isPaused ? 'Resume' : 'Pause';
    pause.setAttribute('aria-pressed', String(state.isPaused));
  };
  showPause();
  main.append(heading('Pushes', 'Notifications as they are logged, with the state of their pushes. Select a time to see the explanation.', pause),
    h('form', { class: 'card', 'aria-label': 'Search', onsubmit: (event) => { event.preventDefault(); state.text = text.value; begin(); } },
      h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('Text', text)), field('Where', where),
        h('button', { class: 'first' }, 'Search')), news), results);

  const columns = [
    { title: 'Logged', class: 'nowrap', cell: (push) => anchor(explanation(push), time(push.logged)) },
    { title: 'Record', cell: (push) => [h('code', {}, push.recordName ?? push.zoneName), ' ', h('span', { class: 'quiet' }, push.recordType ?? '')] },
    { title: 'Event', cell: (push) => events[push.event] ?? push.event },
    { title: 'Subscription', class: 'clip', cell: (push) => h('code', {}, push.subscriptionID) },
    { title: 'Subscriber', class: 'clip', cell: (push) => push.subscriberName ?? h('code', {}, push.subscriber) },
    { title: 'Outcome', cell: outcomes },
  ];
  let rows = [];
  let next;
  let missed = 0;
  let generation = 0;
  let isAsking = false;

  function query() { return { ...(state.where === 'database' ? database() : {}), text: state.text }; }

  function draw() {
    // Who is reading with the keyboard keeps the place: the link of the same push.
    const focused = results.contains(document.activeElement)
      ? [...results.querySelectorAll('tbody tr')].indexOf(document.activeElement.closest('tr')) : -1;
    const key = drawn[focused]?.key;
    if (!rows.length && !next) {
      results.replaceChildren(state.text
        ? empty('No match', 'No push here contains this text. Clear the search to see all.')
        : empty('No pushes yet', state.where === 'latest'
          ? 'No notification was logged since the server started. When a change fires a subscription, it appears here.'
          : 'No notification was logged in this database. Save a record that matches a subscription to see one.'));
      drawn = [];
      return;
    }
    const list = table('Pushes', columns, rows);
    results.replaceChildren(list, h('div', { class: 'more' }, `${rows.length} shown`,
      next ? h('button', { type: 'button', onclick: more }, 'Show older') : null));
    drawn = rows;
    const place = drawn.findIndex((push) => push.key === key);
    if (key && place >= 0) results.querySelectorAll('tbody tr')[place].querySelector('a')?.focus();
  }
  let drawn = [];

  async function begin() {
    const own = ++generation;
    missed = 0;
    try {
      if (state.where === 'database' && place.database !== 'public' && !place.user) {
        results.replaceChildren(empty('Whose database?', 'Enter the name of an account in “User” above.'));
        return;
      }
      const page = await get('pushes', query());
      if (own !== generation) return;
      rows = page.pushes;
      next = page.continuation;
      draw();
      showNews();
    } catch (error) {
      if (own === generation) results.replaceChildren(problem(error, begin));
    }
  }
  async function more() {
    const page = await get('pushes', { ...query(), continuation: next });
    rows = rows.concat(page.pushes);
    next = page.continuation;
    state.isPaused = true;
    showPause();
    draw();
    showNews();
  }
  function showNews() {
    news.textContent = state.isPaused
      ? `Paused.${missed ? ` ${missed.toLocaleString('en')} arrived meanwhile.` : ''}`
      : 'New pushes appear here automatically.';
  }
  /** Outcomes come later than the entries, so the first page is read again while some wait. */
  async function refresh() {
    if (state.isPaused || isAsking || document.hidden) return;
    isAsking = true;
    const own = generation;
    try {
      const page = await get('pushes', query());
      if (own !== generation || state.isPaused) return;
      const known = new Set(page.pushes.map((push) => push.key));
      const changed = JSON.stringify(page.pushes) !== JSON.stringify(rows.slice(0, page.pushes.length));
      if (!changed) return;
      rows = page.pushes.concat(rows.filter((push) => !known.has(push.key))).slice(0, shown);
      next ??= page.continuation;
      draw();
    } catch { /* the next sample tries again */ } finally {
      isAsking = false;
    }
  }
  begin();
  showNews();
  let isStale = false;
  return watch((kind, data) => {
    if (kind === 'pushes') {
      isStale = true;
      if (state.isPaused) { missed += data.pushes.length + data.leftOut; showNews(); }
    } else if (kind === 'sample' && (isStale || rows.some((push) => push.deliveries?.some((delivery) => delivery.state === 'waiting')))) {
      isStale = false;
      refresh();
    }
  });
}

/** Where the explanation is: of the record's change, or of the subscription where a zone was changed. */
function explanation(push) {
  const where = { container: push.container, environment: push.environment, database: push.database, user: push.user };
  const query = { notification: push.notificationID };
  return push.recordName
    ? recordLink(push.recordName, { zoneName: push.zoneName, ownerRecordName: push.zoneOwner }, { ...query, before: push.sequence }, where)
    : link('explain', { ...query, subscriber: push.subscriber, subscriptionID: push.subscriptionID }, where);
}
