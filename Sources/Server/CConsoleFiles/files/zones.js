import { get, post } from './api.js';
import { attempt, badge, confirmed, empty, field, h, heading, pagedList, sheet, toast } from './dom.js';
import { database, place } from './place.js';

export function zones(main) {
  const isPrivate = place.database === 'private';
  const trouble = h('div', {});
  async function change(operationType, zoneName) {
    const answer = await post('zones/modify', {
      ...database(), operations: [{ operationType, zone: { zoneID: { zoneName } } }] });
    const item = answer.zones[0];
    if (item.serverErrorCode) throw new Error(item.reason);
    list.reload();
    return true;
  }
  function make() {
    const name = h('input', { name: 'zoneName', required: true, maxlength: 255 });
    const wrong = h('div', {});
    const dialog = sheet('New zone', 'The records of a zone can be changed together, and a zone subscription watches all of them.',
      h('form', { class: 'card', onsubmit: async (event) => {
        event.preventDefault();
        if (!await attempt(wrong, () => change('create', name.value))) return;
        dialog.close();
        toast('The zone was created.');
      } }, field('Name', name), wrong, h('div', { class: 'actions' }, h('button', { class: 'first' }, 'Create the zone'))),
      { drawer: false });
  }
  async function remove(zone) {
    if (!await confirmed('Delete this zone?', `The server deletes all records and subscriptions in ${zone.zoneName} for good.`, 'Delete the zone')) return;
    if (await attempt(trouble, () => change('delete', zone.zoneName))) toast('The zone was deleted.');
  }
  const list = pagedList({
    caption: 'Zones',
    columns: [
      { title: 'Zone', cell: (zone) => h('span', {}, h('code', {}, zone.zoneName), ' ', zone.isDefault ? badge('default') : null) },
      { title: 'Sync token', class: 'clip', cell: (zone) => (zone.syncToken ? h('code', {}, zone.syncToken) : '') },
      ...(isPrivate ? [{ title: '', cell: (zone) => (zone.isDefault ? '' : h('button', { type: 'button', class: 'bad', 'aria-label': `Delete zone ${zone.zoneName}`, onclick: () => remove(zone) }, 'Delete…')) }] : []),
    ],
    load: async () => ({ rows: (await get('zones', database())).zones }),
    none: () => empty('No zones', 'Nothing was saved in this database, so it has no zones yet.'),
  });
  main.append(heading('Zones', `The ${place.database} database of ${place.container}, ${place.environment}.`,
    ...(isPrivate ? [h('button', { type: 'button', class: 'first', onclick: make }, 'New zone')] : [])), trouble, list);
}
