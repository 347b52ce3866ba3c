import { backgroundCard, serversCard } from './cards.js';
import { chart } from './chart.js';
import { bytes, h, heading, number } from './dom.js';
import { connected, rates, samples, seconds, watch } from './live.js';

const rate = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : Number(value.toFixed(1)).toString());
const milliseconds = (value) => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Number(value.toFixed(1))} ms`);
const whole = (value) => Number(value.toFixed(1)).toLocaleString('en');

/** The mean of the last seconds. */
function recent(values, count = 5) {
  const last = values.slice(-count).filter((value) => value !== null);
  return last.length ? last.reduce((sum, value) => sum + value, 0) / last.length : 0;
}

function tile(label, figure, note) {
  return h('div', { class: 'card tile' },
    h('div', { class: 'label' }, label), h('div', { class: 'figure' }, figure), h('div', { class: 'note' }, note));
}

/** The width of a chart: charts stand in one column or in two. */
function chartWidth() {
  const space = document.getElementById('main').clientWidth - (innerWidth > 860 ? 48 : 32);
  return Math.max(240, Math.floor((space >= 896 ? (Math.min(space, 1312) - 16) / 2 : space) - 34));
}

/** The seconds that charts show: more as the minutes pass. */
function span() { return Math.min(seconds, Math.max(60, Math.ceil((samples.length - 1) / 60) * 60)); }

function graph(title, series, format) {
  return h('section', { class: 'card chart' }, h('h2', {}, title),
    chart(title, series.map((line) => ({ ...line, values: line.values.slice(-span() - 1) })),
      { seconds: span(), width: chartWidth(), format }),
    h('div', { class: 'legend' }, series.map((line, place) =>
      h('span', {}, h('i', { class: `s${place + 1}` }), line.name))));
}

export function overview(main) {
  const state = h('span', { class: 'badge' }, 'Connecting…');
  const tiles = h('div', { class: 'tiles' });
  const errors = h('section', { class: 'card' });
  const charts = h('div', { class: 'charts' });
  const servers = serversCard();
  const background = backgroundCard();
  main.append(heading('Overview', 'The server’s work now and in the last five minutes.', state),
    tiles, charts, servers.card, background.card);

  function update() {
    state.className = connected() ? 'badge good' : 'badge warn';
    state.textContent = connected() ? 'Live' : 'Waiting for the server';
    const now = samples.at(-1);
    if (!now) return;
    servers.refresh();
    background.refresh();
    const changes = rates((sample) => sample.changes.dispatched);
    const lookedAt = rates((sample) => sample.matching.candidates);
    const fired = rates((sample) => sample.matching.fired);
    const logged = rates((sample) => sample.notifications.logged);
    const delivered = rates((sample) => sample.pushes.delivered);
    const served = rates((sample) => sample.requests.served ?? 0);
    const failed = rates((sample) => sample.requests.failed + sample.requests.failedItems);
    const lost = rates((sample) => sample.pushes.abandoned + sample.pushes.expired + sample.pushes.refused);
    const median = samples.map((sample) => (sample.delay ? sample.delay.median * 1000 : null));
    const p99 = samples.map((sample) => (sample.delay ? sample.delay.p99 * 1000 : null));
    tiles.replaceChildren(
      tile('Requests a second', rate(recent(served)), `${number(now.requests.underWay)} under way`),
      tile('Changes a second', rate(recent(changes)), `${number(now.changes.dispatched)} since the start`),
      tile('Notifications a second', rate(recent(logged)), `${number(now.notifications.logged)} since the start`),
      tile('Pushes a second', rate(recent(delivered)), `${number(now.pushes.delivered)} delivered since the start`),
      tile('Commit to notification', now.delay ? milliseconds(now.delay.median * 1000) : '–',
        now.delay ? `99 of 100 within ${milliseconds(now.delay.p99 * 1000)}` : 'nothing in the last 10 seconds'),
      tile('Waiting', number(now.changes.waiting + now.pushes.waiting),
        `${number(now.changes.waiting)} changes, ${number(now.pushes.waiting)} pushes`),
      tile('Failures a second', rate(recent(failed)),
        `${number(now.requests.failed + now.requests.failedItems)} since the start`),
      tile('Tested a second', rate(recent(lookedAt)),
        `subscriptions; ${bytes(now.indexes.bytes)} in memory`));
    charts.replaceChildren(
      graph('Rates a second', [
        { name: 'Changes', values: changes }, { name: 'Notifications', values: logged },
        { name: 'Pushes delivered', values: delivered }], rate),
      graph('Matching a second', [
        { name: 'Subscriptions tested', values: lookedAt },
        { name: 'Tested and fired', values: fired }], rate),
      graph('From commit to notification', [
        { name: 'Median', values: median }, { name: '99th percentile', values: p99 }], milliseconds),
      graph('Waiting', [
        { name: 'Changes', values: samples.map((sample) => sample.changes.waiting) },
        { name: 'Pushes', values: samples.map((sample) => sample.pushes.waiting) },
        { name: 'Pushes under way', values: samples.map((sample) => sample.pushes.underWay) }], whole),
      graph('Failures a second', [
        { name: 'Requests and items', values: failed }, { name: 'Pushes given up', values: lost }], rate),
      errors);
    const codes = Object.entries(now.requests.errors).sort((one, other) => other[1] - one[1]);
    errors.replaceChildren(h('h2', {}, 'Failures since the start'),
      codes.length
        ? h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Failures since the start' },
          h('table', {},
            h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Code'), h('th', { scope: 'col' }, 'Requests and items'))),
            h('tbody', {}, codes.map(([code, count]) =>
              h('tr', {}, h('td', {}, h('code', {}, code)), h('td', {}, number(count)))))))
        : h('p', { class: 'quiet' }, 'No request has failed.'));
  }
  update();
  return watch((kind) => { if (kind !== 'pushes') update(); });
}
