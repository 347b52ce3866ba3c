// Why a push came, or did not: of a record's latest changes, or of a subscription.

import { get } from './api.js';
import { anchor, badge, count, definitions, empty, field, h, heading, nameTable, number, person, problem, time, toast } from './dom.js';
import { database, link, place } from './place.js';
import { changeCard, firingCard } from './story.js';

const names = ['recordName', 'zone', 'zoneOwner', 'subscriber', 'subscriptionID', 'before', 'notification'];
const page = 10;

function copyButton() {
  return h('button', { type: 'button', onclick: async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      toast('The link was copied.');
    } catch {
      toast('The browser does not let the link be copied. It is the address of this page.');
    }
  } }, 'Copy link');
}

function askForm(asked) {
  const control = (name, placeholder) => h('input', { name, value: asked[name] ?? '', size: 14, placeholder, spellcheck: 'false', autocomplete: 'off' });
  const controls = {
    recordName: control('recordName', 'its name'), zone: control('zone', '_defaultZone'),
    subscriber: control('subscriber', 'all users'), subscriptionID: control('subscriptionID', 'all'),
  };
  return h('form', { class: 'card', 'aria-label': 'What to explain', onsubmit: (event) => {
    event.preventDefault();
    const query = Object.fromEntries(Object.entries(controls).map(([name, item]) => [name, item.value.trim()]));
    if (query.zone === '_defaultZone') query.zone = '';
    if (query.zone && asked.zoneOwner && query.zone === asked.zone) query.zoneOwner = asked.zoneOwner;
    location.hash = link('explain', query);
  } },
  h('div', { class: 'bar' },
    h('div', { class: 'grow' }, field('Record', controls.recordName)), field('Zone', controls.zone),
    field('Subscriptions of', controls.subscriber), field('Subscription', controls.subscriptionID),
    h('button', { class: 'first' }, 'Explain')));
}

/** Shows the part that the address is about. */
function find(main) {
  const target = main.querySelector('.target');
  if (!target) return;
  if (target.getBoundingClientRect().top > innerHeight / 2) target.scrollIntoView();
  target.focus({ preventScroll: true });
}

export async function explain(main, query) {
  const asked = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
  const where = `${place.database} database of ${place.container}, ${place.environment}`;
  if (asked.recordName) {
    main.append(heading(asked.recordName, `Its latest changes, and which pushes they caused. Zone ${asked.zone ?? '_defaultZone'}, ${where}.`,
      anchor(link('dry-run', { recordName: asked.recordName, zone: asked.zone }), 'Try a change', { class: 'button' }), copyButton()), askForm(asked));
    await explainRecord(main, asked);
  } else if (asked.subscriptionID && (asked.subscriber || place.database !== 'public')) {
    main.append(heading(asked.subscriptionID, `Its latest firings, and the recent changes that it matched. ${where[0].toUpperCase()}${where.slice(1)}.`,
      anchor(link('dry-run', { subscriber: asked.subscriber, subscriptionID: asked.subscriptionID }), 'Try it', { class: 'button' }), copyButton()), askForm(asked));
    await explainSubscription(main, asked);
  } else {
    main.append(heading('Explain', 'Why a push came, or did not come.'), askForm(asked),
      h('div', { class: 'card' }, asked.subscriptionID
        ? empty('Whose subscription?', 'Subscriptions of several users may have one ID. Enter the name of an account, or a user record name.')
        : empty('What happened?', 'Enter a record’s name to see its latest changes: what was committed, which subscriptions fired and which did not, and the state of each push. Or leave it empty and enter a user and a subscription to see the subscription’s latest firings.')));
  }
}

async function explainRecord(main, asked) {
  const { notification, ...question } = asked;
  const results = h('div', { class: 'pile', 'aria-busy': 'true' });
  const more = h('div', {});
  main.append(results, more);
  const isNarrow = Boolean(asked.subscriber || asked.subscriptionID);
  if (asked.before) {
    results.append(h('p', { class: 'notice' }, h('span', {}, 'Later changes are left out. ',
      anchor(link('explain', { ...asked, before: undefined, notification: undefined }), 'Show the latest'))));
  }
  let isFound = !notification;
  async function load(before) {
    more.replaceChildren();
    const answer = await get('explain/record', { ...database(), ...question, before, limit: page });
    for (const change of answer.changes) {
      const isTarget = !isFound && change.notificationID === notification;
      isFound ||= isTarget;
      results.append(changeCard(change, nameTable(answer), { isTarget, isWhole: isNarrow || change.silent.length <= (isTarget ? 20 : 5) }));
    }
    if (answer.more) {
      more.replaceChildren(h('button', { type: 'button', onclick: async (event) => {
        event.target.disabled = true;
        try { await load(answer.changes.at(-1).sequence); } catch (error) { more.replaceChildren(problem(error)); }
      } }, 'Show older changes'));
    }
    return answer;
  }
  try {
    const answer = await load(asked.before);
    if (!answer.changes.length) {
      results.replaceChildren(h('div', { class: 'card' }, empty('No change of the record is kept', answer.remark
        ? `${answer.remark[0].toUpperCase()}${answer.remark.slice(1)}.` : 'No older change is kept.')));
    }
    if (!isFound) {
      results.prepend(h('p', { class: 'notice' }, 'The change behind this push is not kept any more. These are older changes of the record.'));
    }
  } catch (error) {
    results.replaceChildren(problem(error));
  }
  results.setAttribute('aria-busy', 'false');
  find(main);
}

function tile(label, figure, note) {
  return h('div', { class: 'card tile' }, h('div', { class: 'label' }, label), h('div', { class: 'figure' }, figure), h('div', { class: 'note' }, note));
}

function kind(subscription) {
  if (subscription.subscriptionType === 'query') return `records of type ${subscription.query.recordType}`;
  return subscription.zoneID ? `the zone ${subscription.zoneID.zoneName}` : 'the whole database';
}

async function explainSubscription(main, asked) {
  const results = h('div', { class: 'pile', 'aria-busy': 'true' });
  main.append(results);
  let answer;
  try {
    answer = await get('explain/subscription', { ...database(), subscriber: asked.subscriber, subscriptionID: asked.subscriptionID, limit: 25 });
  } catch (error) {
    results.replaceChildren(problem(error));
    return;
  }
  results.setAttribute('aria-busy', 'false');
  const { subscription, tally, firings } = answer;
  if (!answer.exists) {
    results.append(h('div', { class: 'notice error' }, h('strong', {}, answer.deleted ? 'It was deleted' : 'There is no such subscription'),
      h('p', {}, answer.deleted
        ? ['It was deleted at ', time(answer.deleted), ' and no longer fires. A subscription that fires once is deleted when it fires.']
        : [person(answer.subscriber, nameTable(answer)), ' has no subscription with this ID in this database.'])));
  } else {
    const pushed = firings.flatMap((firing) => firing.deliveries);
    const since = tally.since ? ['since ', time(tally.since)] : 'no change since it was saved';
    results.append(
      h('div', { class: 'tiles' },
        tile('Changes examined', number(tally.changes), [since, answer.moreChanges ? ', and older ones' : '']),
        tile('It matches', number(tally.fitting), 'of these changes, with its present content'),
        tile('Checked without a match', number(tally.checkedWithoutMatch), 'changes that cost work and did not match'),
        tile('Pushes', number(pushed.length), `${number(pushed.filter((item) => item.state === 'delivered').length)} delivered, of the firings below`)),
      h('div', { class: 'card' }, definitions([
        ['Owner', person(answer.subscriber, nameTable(answer))], ['Watches', kind(subscription)],
        ['Predicate', answer.predicate ? h('code', {}, answer.predicate) : undefined],
        ['Fires on', subscription.firesOn ? [subscription.firesOn.map((event) => badge(event)), subscription.firesOnce ? badge('once', 'accent') : null] : undefined],
      ])));
    if (tally.refusals.length) {
      results.append(h('section', { class: 'card flush', 'aria-label': 'Filters' },
        h('div', { class: 'card-head' }, h('h2', {}, 'Filters that did not match')),
        h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Filters and how often they did not match' },
          h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Filter'), h('th', { scope: 'col' }, 'Changes of its record type that it refused'))),
            h('tbody', {}, tally.refusals.map((item) => h('tr', {}, h('td', {}, h('code', {}, item.filter)), h('td', {}, number(item.count)))))))));
    }
  }
  results.append(h('section', { class: 'card', 'aria-label': 'Firings' },
    h('h2', {}, firings.length ? `The latest ${count(firings.length, 'firing')}` : 'Firings'),
    firings.length
      ? h('ol', { class: 'steps' }, firings.map((firing) => firingCard(firing, nameTable(answer), { isTarget: firing.notificationID === asked.notification })))
      : empty('It has not fired recently', 'The log has no notification of it. “Try it” shows the recent changes that it would have fired on.')));
  find(main);
}
