import { get, post } from './api.js';
import { anchor, attempt, badge, confirmed, definitions, empty, field, h, heading, pagedList, pointOut, problem, sheet, toast } from './dom.js';
import { database, link, place } from './place.js';
import { subscriptionLink } from './story.js';

const state = { text: '', recordType: '' };

function kind({ subscription }) {
  if (subscription.subscriptionType === 'query') return `query on ${subscription.query.recordType}`;
  return subscription.zoneID ? `zone ${subscription.zoneID.zoneName}` : 'database';
}

export function subscriptions(main) {
  const results = h('div', {});
  const text = h('input', { name: 'text', type: 'search', value: state.text, placeholder: 'ID, owner, type, predicate, alert' });
  const recordType = h('input', { name: 'recordType', value: state.recordType, placeholder: 'any' });
  main.append(heading('Subscriptions', `The ${place.database} database of ${place.container}, ${place.environment}.`,
    anchor(link('dry-run'), 'Dry run', { class: 'button' })),
    h('form', { class: 'card', 'aria-label': 'Filter', onsubmit: (event) => { event.preventDefault(); begin(); } },
      h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('Text', text)), field('Record type', recordType),
        h('button', { class: 'first' }, 'Filter'))), results);
  function begin() {
    Object.assign(state, { text: text.value, recordType: recordType.value });
    results.replaceChildren(pagedList({
      caption: 'Subscriptions',
      columns: [
        { title: 'Subscription', cell: (row) => h('button', { type: 'button', class: 'link mono', onclick: () => open(row, begin) }, row.subscription.subscriptionID) },
        { title: 'Owner', cell: (row) => row.userName ?? h('code', {}, row.subscriber) },
        { title: 'Watches', cell: kind },
        { title: 'Predicate', class: 'clip', cell: (row) => (row.predicate ? h('code', {}, row.predicate) : '') },
        { title: 'Fires on', cell: (row) => (row.subscription.firesOn ?? []).map((event) => badge(event)) },
        { title: 'Pushes', cell: (row) => anchor(address(row), 'Firings', { 'aria-label': `Firings of ${row.subscription.subscriptionID}` }) },
      ],
      load: async (continuation) => {
        const answer = await get('subscriptions', { ...database(), ...state, continuation });
        return { rows: answer.subscriptions, continuation: answer.continuation };
      },
      none: () => (state.text || state.recordType
        ? empty('No match', 'No subscription in this database has this text and type. Clear the filter to see all.')
        : empty('No subscriptions', 'Nobody subscribes to changes of this database yet.')),
    }));
  }
  begin();
}

function address(row) {
  return subscriptionLink({ subscriber: row.subscriber, subscriptionID: row.subscription.subscriptionID });
}

function open(row, onDone) {
  const { subscription } = row;
  const trouble = h('div', {});
  const isQuery = subscription.subscriptionType === 'query';
  const predicate = h('input', { name: 'predicate', class: 'mono', value: row.predicate ?? '', spellcheck: 'false' });
  const json = h('textarea', { name: 'subscription', class: 'mono', rows: 14, spellcheck: 'false' });
  json.value = JSON.stringify(subscription, null, 2);
  async function save(event) {
    event.preventDefault();
    trouble.replaceChildren();
    const changed = isQuery && predicate.value !== row.predicate;
    try {
      let value;
      try { value = JSON.parse(json.value); } catch (error) { throw new Error(`The subscription is not JSON: ${error.message}`); }
      await post('subscriptions/save', {
        ...database(), subscriber: row.subscriber, subscription: value, ...(changed ? { predicate: predicate.value } : {}) });
    } catch (error) {
      if (changed) pointOut(predicate, error, trouble);
      else trouble.replaceChildren(problem(error));
      return;
    }
    dialog.close();
    toast('The subscription was saved.');
    onDone();
  }
  async function remove() {
    if (!await confirmed('Delete this subscription?', `${subscription.subscriptionID} does not fire any more. The server does not notify its owner’s app.`, 'Delete the subscription')) return;
    const done = await attempt(trouble, () => post('subscriptions/delete', {
      ...database(), subscriber: row.subscriber, subscriptionID: subscription.subscriptionID }));
    if (!done) return;
    dialog.close();
    toast('The subscription was deleted.');
    onDone();
  }
  const dialog = sheet(subscription.subscriptionID, kind(row), h('form', { class: 'card', onsubmit: save },
    definitions([['Owner', row.userName], ['User record', h('code', {}, row.subscriber)]]),
    isQuery ? field('Predicate', predicate) : null, field('The subscription, as in CloudKit Web Services', json), trouble,
    h('div', { class: 'actions' }, h('button', { class: 'first' }, 'Save changes'),
      anchor(address(row), 'Firings', { class: 'button', onclick: () => dialog.close() }),
      anchor(link('dry-run', { subscriber: row.subscriber, subscriptionID: subscription.subscriptionID }), 'Test', { class: 'button', onclick: () => dialog.close() }),
      h('button', { type: 'button', class: 'bad', onclick: remove }, 'Delete…'))));
}
