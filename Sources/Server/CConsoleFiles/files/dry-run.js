// Dry runs: what a record would fire, or what a subscription would have fired on. Nothing is saved.

import { get, post } from './api.js';
import { anchor, attempt, badge, choice, count, empty, field, h, heading, nameTable, number, person, pointOut, problem, time } from './dom.js';
import { editor, protocolType } from './fields.js';
import { database, link, place } from './place.js';
import { events, recordLink, silentList, subscriptionLink } from './story.js';

/** The record type of the last dry run. */
let lastType = '';
const eventNames = [['create', 'created'], ['update', 'updated'], ['delete', 'deleted']];

function kept(types) {
  const names = types.map((type) => type.recordType);
  return names.includes(lastType) ? lastType : names[0] ?? '';
}

function promise() {
  return h('p', { class: 'notice' }, 'A dry run saves nothing, fires nothing and notifies nobody.');
}

export async function dryRun(main, query) {
  const { recordTypes } = await get('schema', { container: place.container, environment: place.environment });
  const types = recordTypes.filter((type) => type.recordType !== 'Users');
  const isOfSubscription = query.get('try') === 'subscription' || (!query.has('try') && query.has('subscriptionID'));
  const tab = (name, text, isCurrent) => anchor(link('dry-run', { try: name, subscriber: query.get('subscriber'), subscriptionID: query.get('subscriptionID') }), text,
    { 'aria-current': isCurrent ? 'page' : null });
  main.append(
    heading('Dry runs', `What would happen in the ${place.database} database of ${place.container}, ${place.environment}.`),
    h('nav', { class: 'tabs', 'aria-label': 'Kinds of dry runs' },
      tab('record', 'A record against subscriptions', !isOfSubscription),
      tab('subscription', 'A subscription against recent changes', isOfSubscription)),
    promise());
  if (isOfSubscription) await trySubscription(main, query, types);
  else await tryRecord(main, query, types);
}

// A record.

/** The form of a record's fields, or its JSON: { element, show(record), read() }. */
function recordForm(types, typeName) {
  let entries = [];
  let own = {};
  const isJSON = () => form.value === 'json';
  const recordType = types.length
    ? choice(types.map((type) => type.recordType), typeName, { name: 'recordType', onchange: () => { lastType = recordType.value; own = {}; draw({}); } })
    : h('input', { name: 'recordType', placeholder: 'Note' });
  const form = choice([['fields', 'fields'], ['json', 'JSON']], 'fields', { name: 'form', onchange: () => {
    let record;
    try {
      record = form.value === 'json' ? fromFields() : JSON.parse(json.value);
      trouble.replaceChildren();
    } catch (error) {
      form.value = form.value === 'json' ? 'fields' : 'json';
      trouble.replaceChildren(problem(error));
      return;
    }
    show(record);
  } });
  const list = h('div', { class: 'fields' });
  const trouble = h('div', {});
  const json = h('textarea', { name: 'record', class: 'mono', rows: 12, spellcheck: 'false' });
  const jsonField = field('The record, as in CloudKit Web Services', json);
  function draw(fields) {
    entries = [];
    const known = types.find((type) => type.recordType === recordType.value)?.fields ?? [];
    const names = new Map(known.map((entry) => [entry.name, protocolType(entry.type)]));
    for (const [name, item] of Object.entries(fields)) if (!names.has(name)) names.set(name, item.type);
    list.replaceChildren(...[...names].map(([name, type]) => {
      const { control, read } = editor({ type, value: fields[name]?.value });
      control.setAttribute('name', `field-${name}`);
      if (!control.placeholder) control.placeholder = 'not set';
      entries.push({ name, type, control, read });
      return field(`${name} · ${type}`, control);
    }));
    if (!names.size) list.append(h('p', { class: 'quiet small' }, 'This type has no fields yet. Choose JSON to try a record with fields.'));
  }
  function fromFields() {
    const fields = {};
    for (const { name, type, control, read } of entries) {
      if (control.value.trim() === '') continue;
      try { fields[name] = { value: read(), type }; } catch (error) { throw new Error(`${name}: ${error.message}`); }
    }
    return { recordName: 'sample', ...own, recordType: recordType.value, fields };
  }
  function show(record) {
    const { fields = {}, recordType: type, ...rest } = record;
    own = rest;
    if (type) recordType.value = type;
    json.value = JSON.stringify({ recordName: 'sample', ...own, recordType: recordType.value, fields }, null, 2);
    draw(fields);
    list.hidden = isJSON();
    jsonField.hidden = !isJSON();
  }
  function read() {
    if (!isJSON()) return fromFields();
    try { return { recordName: 'sample', ...JSON.parse(json.value) }; } catch (error) { throw new Error(`The record is not JSON: ${error.message}`); }
  }
  show({ recordType: typeName });
  return { recordType, form, element: [list, jsonField, trouble], show, read };
}

async function tryRecord(main, query, types) {
  const results = h('div', { class: 'pile', role: 'status' });
  const trouble = h('div', {});
  const record = recordForm(types, kept(types));
  const event = choice(eventNames, 'create', { name: 'event' });
  const source = h('input', { name: 'source', value: query.get('recordName') ?? '', placeholder: 'name of a record', spellcheck: 'false' });
  const zone = h('input', { name: 'sourceZone', value: query.get('zone') ?? '', size: 14, placeholder: '_defaultZone', spellcheck: 'false' });
  const subscriber = h('input', { name: 'subscriber', value: query.get('subscriber') ?? '', placeholder: 'all users', spellcheck: 'false' });
  const subscriptionID = h('input', { name: 'subscriptionID', value: query.get('subscriptionID') ?? '', placeholder: 'all', spellcheck: 'false' });
  async function take() {
    await attempt(trouble, async () => {
      if (!source.value) throw new Error('Enter the name of the record to begin with.');
      const answer = await post('records/lookup', {
        ...database(), records: [{ recordName: source.value }], ...(zone.value ? { zoneID: { zoneName: zone.value } } : {}) });
      const found = answer.records[0];
      if (found.serverErrorCode) throw Object.assign(new Error(found.serverErrorCode === 'NOT_FOUND' ? `There is no record ${source.value} here.` : found.reason), { uuid: found.uuid });
      record.show({ recordName: found.recordName, zoneID: found.zoneID, recordType: found.recordType, fields: found.fields, created: found.created, modified: found.modified });
      event.value = 'update';
    });
  }
  async function run(submission) {
    submission.preventDefault();
    results.replaceChildren();
    await attempt(trouble, async () => {
      const body = { ...database(), record: record.read(), event: event.value,
        subscriber: subscriber.value || undefined, subscriptionID: subscriptionID.value || undefined };
      showRecordRun(results, body, await post('explain/dry-run/record', body));
    });
  }
  main.append(h('form', { class: 'card', 'aria-label': 'The record', onsubmit: run },
    h('div', { class: 'bar' }, field('Record type', record.recordType), field('Event', event), field('Given as', record.form),
      h('div', { class: 'grow' }, field('Begin with the values of', source)), field('Zone', zone),
      h('button', { type: 'button', onclick: take }, 'Fill in')),
    record.element,
    h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('Against subscriptions of', subscriber)),
      h('div', { class: 'grow' }, field('Subscription', subscriptionID)), h('button', { class: 'first' }, 'Try the record')),
    trouble), results);
  if (source.value) await take();
}

function showRecordRun(results, body, first) {
  const names = {};
  const firing = h('ul', { class: 'plain' });
  const silent = h('div', {});
  const foot = h('div', { class: 'more' });
  const firingHead = h('h2', {});
  const silentHead = h('h2', {});
  const all = first.fitting ?? null;
  let lookedAt = 0;
  let listed = 0;
  let kept = 0;
  let moreFiring = false;
  function add(answer) {
    Object.assign(names, nameTable(answer));
    lookedAt += answer.lookedAt;
    // With the index all that fire come with the first page.
    const more = answer === first || all === null ? answer.firing : [];
    listed += more.length;
    kept += answer.silent.length;
    moreFiring ||= answer.moreFiring;
    firing.append(...more.map((item) => h('li', {},
      anchor(subscriptionLink(item), item.subscriptionID, { class: 'mono' }), ' of ', person(item.subscriber, names))));
    if (answer.silent.length) silent.append(silentList(answer.silent, names));
    firingHead.textContent = !listed && !moreFiring ? 'No subscription would fire'
      : moreFiring && all !== null ? `${number(all)} subscriptions match; ${number(listed)} of them are listed`
        : moreFiring ? `More than ${count(listed, 'subscription')} would fire` : `${count(listed, 'subscription')} would fire`;
    silentHead.textContent = kept ? `${count(kept, 'subscription')}${answer.continuation || answer.moreSilent ? ' and perhaps more' : ''} would not` : 'Would not fire: none';
    foot.replaceChildren(h('span', {}, `${count(lookedAt, 'subscription')} examined${answer.continuation ? ', and there are others' : ''}.`
      + (all === null ? '' : ' The index found those that fire among all subscriptions of the database.')),
    answer.continuation ? h('button', { type: 'button', onclick: async (event) => {
      event.target.disabled = true;
      try {
        add(await post('explain/dry-run/record', { ...body, continuation: answer.continuation }));
      } catch (error) {
        foot.replaceChildren(problem(error));
      }
    } }, 'Examine more') : '');
  }
  add(first);
  const isAbout = body.subscriber || body.subscriptionID;
  if (!listed && !kept && !first.continuation && isAbout) {
    results.replaceChildren(h('div', { class: 'card' }, empty('No such subscription here',
      'This database has no subscription of this user and ID.')));
    return;
  }
  results.replaceChildren(
    h('section', { class: 'card', 'aria-label': 'Would fire' }, firingHead, listed ? firing : null),
    h('section', { class: 'card', 'aria-label': 'Would not fire' }, silentHead,
      kept ? null : h('p', { class: 'quiet' }, 'Subscriptions to other record types are left out.'), silent, foot));
}

// A subscription.

async function trySubscription(main, query, types) {
  const results = h('div', { class: 'pile', role: 'status' });
  const trouble = h('div', {});
  let base = null;
  let given = '';
  if (query.get('subscriptionID')) {
    try {
      const answer = await get('explain/subscription', {
        ...database(), subscriber: query.get('subscriber'), subscriptionID: query.get('subscriptionID'), limit: 1 });
      base = answer.subscription ?? null;
      given = answer.predicate ?? '';
    } catch (error) {
      trouble.replaceChildren(problem(error));
    }
  }
  const isQuery = !base || base.subscriptionType === 'query';
  const names = types.map((type) => type.recordType);
  const asked = base?.query?.recordType;
  if (asked && !names.includes(asked)) names.unshift(asked);
  const recordType = names.length ? choice(names, asked ?? kept(types), { name: 'recordType', onchange: () => { lastType = recordType.value; } }) : h('input', { name: 'recordType', placeholder: 'Note' });
  const predicate = h('input', { name: 'predicate', class: 'mono', value: given === 'TRUEPREDICATE' ? '' : given, spellcheck: 'false', autocomplete: 'off',
    placeholder: 'all of them, or for example: title BEGINSWITH "M" AND count > 3' });
  const fires = eventNames.map(([name]) => h('input', { type: 'checkbox', name: `fires-${name}`, checked: !base || (base.firesOn ?? []).includes(name) }));
  const subscriber = h('input', { name: 'subscriber', value: query.get('subscriber') ?? '', placeholder: 'anybody who may read the records', spellcheck: 'false' });

  function proposed() {
    if (!isQuery) return base;
    const zone = base?.zoneID ? { zoneID: base.zoneID } : { zoneWide: true };
    return {
      subscriptionID: base?.subscriptionID ?? 'proposed', subscriptionType: 'query', ...zone,
      firesOn: eventNames.map(([name]) => name).filter((name, index) => fires[index].checked),
      query: { recordType: recordType.value, filterBy: [] },
    };
  }
  async function run(event) {
    event.preventDefault();
    results.replaceChildren();
    trouble.replaceChildren();
    predicate.removeAttribute('aria-invalid');
    const body = { ...database(), subscription: proposed(), predicate: isQuery ? predicate.value || undefined : undefined,
      subscriber: subscriber.value || undefined, limit: 50 };
    try {
      showSubscriptionRun(results, body, await post('explain/dry-run/subscription', body));
    } catch (error) {
      if (error.message.includes("'predicate'")) pointOut(predicate, error, trouble);
      else trouble.replaceChildren(problem(error));
    }
  }
  main.append(h('form', { class: 'card', 'aria-label': 'The subscription', onsubmit: run },
    isQuery
      ? [h('div', { class: 'bar' }, field('Record type', recordType), h('div', { class: 'grow' }, field('Predicate', predicate))),
        h('div', { class: 'bar' },
          h('fieldset', { class: 'checks' }, h('legend', {}, 'Fires when a record is'),
            eventNames.map(([, text], index) => h('label', {}, fires[index], ' ', text))),
          h('div', { class: 'grow' }, field('As the subscription of', subscriber)),
          h('button', { class: 'first' }, 'Try the subscription'))]
      : h('div', { class: 'bar' },
        h('p', { class: 'grow' }, base.zoneID ? ['Changes in the zone ', h('code', {}, base.zoneID.zoneName)] : 'Changes in all zones except the default zone'),
        field('As the subscription of', subscriber), h('button', { class: 'first' }, 'Try the subscription')),
    trouble), results);
}

function showSubscriptionRun(results, body, first) {
  const list = h('ul', { class: 'plain' });
  const title = h('h2', {});
  const foot = h('div', { class: 'more' });
  const filters = h('div', {});
  const refusals = new Map();
  let fitting = 0;
  let shown = 0;
  let changes = 0;
  let since;
  function add(answer) {
    fitting += answer.tally.fitting;
    changes += answer.tally.changes;
    shown += answer.fitting.length;
    since = answer.tally.since ?? since;
    for (const item of answer.tally.refusals) refusals.set(item.filter, (refusals.get(item.filter) ?? 0) + item.count);
    list.append(...answer.fitting.map((item) => h('li', {},
      item.recordName
        ? anchor(recordLink(item.recordName, item.zoneID, { notification: item.notificationID, before: item.sequence + 1 }), item.recordName, { class: 'mono' })
        : h('code', {}, item.zoneID?.zoneName ?? 'a zone'),
      ' ', h('span', { class: 'quiet' }, events[item.event] ?? 'changed', ', ', time(item.time)))));
    title.textContent = fitting ? `It would have fired on ${count(fitting, 'change')}${shown < fitting ? `; the latest ${number(shown)}` : ''}` : 'It would not have fired on any of them';
    filters.replaceChildren(refusals.size
      ? h('ul', { class: 'reasons' }, [...refusals].map(([filter, times]) => h('li', {}, badge('A filter does not match', 'warn'), ' ',
        h('code', {}, filter), ` did not hold for ${count(times, 'change')} of the record type`))) : '');
    foot.replaceChildren(h('span', {}, changes ? [`${count(changes, 'change')} examined, back to `, time(since), answer.more ? '. Older changes are kept, too.' : '. No older change is kept.'] : 'No change of this database is kept.'),
      answer.more ? h('button', { type: 'button', onclick: async (event) => {
        event.target.disabled = true;
        try {
          add(await post('explain/dry-run/subscription', { ...body, before: answer.before }));
        } catch (error) {
          foot.replaceChildren(problem(error));
        }
      } }, 'Examine older changes') : '');
  }
  add(first);
  results.replaceChildren(h('section', { class: 'card', 'aria-label': 'Outcome' }, title, list, filters, foot));
}
