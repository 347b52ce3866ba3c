import { get, post } from './api.js';
import { attempt, badge, confirmed, empty, h, heading, number, toast } from './dom.js';
import { place } from './place.js';

function typeCard(type) {
  const rows = [...type.fields, ...type.systemFields.map((entry) => ({ ...entry, isSystem: true }))];
  return h('section', { class: 'card flush' },
    h('div', { class: 'card-head' }, h('h2', {}, type.recordType),
      Object.entries(type.grants).map(([role, permissions]) => badge(`${role}: ${permissions.join(', ')}`))),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Fields of ${type.recordType}` },
      h('table', {},
        h('thead', {}, h('tr', {}, ['Field', 'Type', 'Indexes'].map((title) => h('th', { scope: 'col' }, title)))),
        h('tbody', {}, rows.map((entry) => h('tr', {},
          h('td', {}, h('code', { class: entry.isSystem ? 'quiet' : '' }, entry.name)),
          h('td', {}, h('code', {}, entry.type)),
          h('td', {}, entry.indexes.length ? entry.indexes.map((index) => badge(index.toLowerCase(), 'accent')) : h('span', { class: 'quiet' }, 'none'))))))));
}

function changeList(changes) {
  const kinds = { '+': 'add', '-': 'remove', '~': 'change' };
  return h('ul', { class: 'changes' }, changes.map((change) => h('li', { class: kinds[change[0]] }, change)));
}

export async function schema(main) {
  const [shown, differences] = await Promise.all([
    get('schema', { container: place.container, environment: place.environment }),
    get('schema/differences', { container: place.container }),
  ]);
  const trouble = h('div', {});
  async function deploy() {
    if (!await confirmed('Deploy to production?', 'The server adds the development schema to production. Record types and fields cannot be removed from production.', 'Deploy')) return;
    const done = await attempt(trouble, async () => {
      const outcome = await post('schema/deploy', { container: place.container });
      if (outcome.refusals.length) throw new Error(outcome.refusals.join('\n'));
      return outcome;
    });
    if (!done) return;
    toast('The schema was deployed.');
    main.replaceChildren();
    await schema(main);
  }
  main.append(heading('Schema', `Record types and fields of ${place.container} in ${place.environment}.`));
  main.append(h('section', { class: 'card', 'aria-label': 'Differences' },
    h('div', { class: 'head' },
      h('div', {}, h('h2', {}, 'From development to production'),
        h('p', { class: 'quiet' }, differences.changes.length
          ? 'Production does not have this yet.' : 'Production has everything that development has.')),
      differences.changes.length && !differences.refusals.length
        ? h('button', { type: 'button', class: 'first', onclick: deploy }, 'Deploy…') : null),
    differences.changes.length ? changeList(differences.changes) : null,
    differences.refusals.length
      ? h('div', { class: 'notice error' }, h('strong', {}, 'This cannot be deployed'), differences.refusals.map((reason) => h('p', {}, reason))) : null,
    trouble));
  if (shown.indexWork.length) {
    main.append(h('section', { class: 'card', 'aria-label': 'Index work' }, h('h2', {}, 'Indexes being built'),
      shown.indexWork.map((work) => h('p', {}, h('code', {}, `${work.recordType}.${work.field}`), ` ${work.phase}, ${number(work.done)}${work.total ? ` of ${number(work.total)}` : ''}`))));
  }
  if (!shown.recordTypes.length) {
    main.append(h('div', { class: 'card' }, empty('No record types',
      place.environment === 'production'
        ? 'Create record types in development, and deploy them to production.'
        : 'A record type appears when an app saves its first record, or with petrel schema import.')));
  }
  main.append(...shown.recordTypes.map(typeCard));
  if (shown.subscriptionTypes.length) {
    main.append(h('section', { class: 'card', 'aria-label': 'Subscription types' }, h('h2', {}, 'Subscription types'),
      h('p', { class: 'quiet' }, place.environment === 'production'
        ? 'Production accepts subscriptions of these types.' : 'An app has saved subscriptions of these types. A deploy adds the types to production.'),
      h('ul', {}, shown.subscriptionTypes.map((type) => h('li', {}, type)))));
  }
}
