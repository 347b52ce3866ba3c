import { get, post } from './api.js';
import { anchor, attempt, badge, choice, confirmed, definitions, empty, field, h, heading, pagedList, sheet, time, toast } from './dom.js';
import { brief, editor, plainTypes } from './fields.js';
import { database, link, place } from './place.js';
import { recordLink } from './story.js';

const state = { recordType: '', predicate: '', sort: '' };

export async function records(main) {
  const { recordTypes } = await get('schema', { container: place.container, environment: place.environment });
  const types = recordTypes.map((type) => type.recordType).filter((type) => type !== 'Users');
  if (!types.includes(state.recordType)) Object.assign(state, { recordType: types[0] ?? '', predicate: '', sort: '' });
  const create = h('button', { type: 'button', class: 'first', onclick: () => edit(null, state.recordType, types, begin) }, 'New record');
  main.append(heading('Records', `The ${place.database} database of ${place.container}, ${place.environment}.`, create));
  if (!types.length) {
    main.append(h('div', { class: 'card' }, empty('No record types yet',
      'A record type appears when an app saves its first record in development, or with petrel schema import.')));
    return;
  }
  const results = h('div', {});
  const type = choice(types, state.recordType, { name: 'recordType', onchange: () => {
    Object.assign(state, { recordType: type.value, predicate: '', sort: '' });
    predicate.value = '';
    sort.replaceChildren(...sorts());
    begin();
  } });
  const predicate = h('input', {
    name: 'predicate', class: 'mono', value: state.predicate, spellcheck: 'false', autocomplete: 'off',
    placeholder: 'all records, or for example: title BEGINSWITH "M" AND count > 3',
  });
  const fieldsOf = (name) => recordTypes.find((entry) => entry.recordType === name)?.fields ?? [];
  const sorts = () => {
    const names = ['modificationDate', ...fieldsOf(state.recordType)
      .filter((entry) => entry.indexes.includes('SORTABLE')).map((entry) => entry.name)];
    return [['', 'no order'], ...names.flatMap((name) => [[name, `${name}, ascending`], [`-${name}`, `${name}, descending`]])]
      .map(([value, text]) => h('option', { value, selected: value === state.sort }, text));
  };
  const sort = h('select', { name: 'sort' }, sorts());
  main.append(h('form', { class: 'card', 'aria-label': 'Query', onsubmit: (event) => { event.preventDefault(); begin(); } },
    h('div', { class: 'bar' },
      field('Record type', type),
      h('div', { class: 'grow' }, field('Predicate', predicate)),
      field('Order', sort), h('button', { class: 'first' }, 'Query'))), results);

  function begin() {
    state.predicate = predicate.value;
    state.sort = sort.value;
    const columns = [
      { title: 'Name', cell: (record) => h('button', { type: 'button', class: 'link mono', onclick: () => edit(record, record.recordType, types, begin) }, record.recordName) },
      ...fieldsOf(state.recordType).slice(0, 5).map((entry) => ({
        title: entry.name, class: 'clip', cell: (record) => brief(record.fields[entry.name]) })),
      ...(place.database === 'public' ? [] : [{ title: 'Zone', cell: (record) => record.zoneID.zoneName }]),
      { title: 'Modified', class: 'nowrap', cell: (record) => time(record.modified?.timestamp) },
      { title: 'Pushes', cell: (record) => anchor(recordLink(record.recordName, record.zoneID), 'Why?', { 'aria-label': `Why pushes for ${record.recordName} came or did not come` }) },
    ];
    results.replaceChildren(pagedList({
      caption: `Records of type ${state.recordType}`, columns,
      load: async (continuation) => {
        const answer = await post('records/query', {
          ...database(), recordType: state.recordType, predicate: state.predicate || undefined,
          sortBy: state.sort ? [state.sort] : undefined, continuation,
        });
        return { rows: answer.records, continuation: answer.continuationMarker };
      },
      none: () => (state.predicate
        ? empty('No match', 'No record of this type in this database matches the predicate. Check its fields and values, or clear it to see all.')
        : empty('No records of this type', 'This database has no records of this type. An app or “New record” creates the first.')),
    }));
  }
  begin();
}

function edit(record, recordType, types, onDone) {
  const trouble = h('div', {});
  const list = h('div', { class: 'fieldset' });
  const entries = [];
  function add(name, item, isNew) {
    const { control, read } = editor(item);
    control.setAttribute('name', name);
    const before = isNew ? undefined : JSON.stringify(read());
    entries.push({ name, type: item.type, read, before });
    list.append(field(`${name} · ${item.type}`, control));
    return control;
  }
  const fields = Object.entries(record?.fields ?? {}).sort(([one], [other]) => one.localeCompare(other));
  const fixed = fields.filter(([, item]) => item.isEncrypted || item.type?.startsWith('ASSET'));
  for (const [name, item] of fields) if (!fixed.some(([other]) => other === name)) add(name, item, false);
  const name = h('input', { name: 'newFieldName', placeholder: 'field name' });
  const type = choice([...plainTypes, 'REFERENCE', 'LOCATION', 'BYTES', 'STRING_LIST', 'INT64_LIST', 'DOUBLE_LIST'], 'STRING', { name: 'newFieldType' });
  const adder = h('div', { class: 'bar' },
    h('div', { class: 'grow' }, field('Add a field', name)), field('Type', type),
    h('button', { type: 'button', onclick: () => {
      if (!name.value) return name.focus();
      add(name.value, { type: type.value }, true).focus();
      name.value = '';
    } }, 'Add'));
  const newName = h('input', { name: 'recordName', placeholder: 'the server chooses it when empty' });
  const newType = choice(types, recordType, { name: 'newRecordType' });

  async function save(event) {
    event.preventDefault();
    const done = await attempt(trouble, async () => {
      const changed = {};
      for (const entry of entries) {
        const value = entry.read();
        if (JSON.stringify(value) !== entry.before) changed[entry.name] = { value, type: entry.type };
      }
      const operation = record
        ? { operationType: 'update', record: { recordName: record.recordName, recordType: record.recordType, zoneID: record.zoneID, recordChangeTag: record.recordChangeTag, fields: changed } }
        : { operationType: 'create', record: { recordType: newType.value, fields: changed, ...(newName.value ? { recordName: newName.value } : {}) } };
      return outcome(operation);
    });
    if (!done) return;
    dialog.close();
    toast(record ? 'The record was saved.' : `The record ${done.recordName} was created.`);
    onDone();
  }
  async function outcome(operation) {
    const answer = await post('records/modify', { ...database(), operations: [operation] });
    const item = answer.records[0];
    if (item.serverErrorCode) throw Object.assign(new Error(item.reason), { uuid: item.uuid });
    return item;
  }
  async function remove() {
    if (!await confirmed('Delete this record?', `${record.recordName} is deleted for good, and subscriptions to deletions fire.`, 'Delete the record')) return;
    const done = await attempt(trouble, () => outcome({
      operationType: 'delete', record: { recordName: record.recordName, zoneID: record.zoneID, recordChangeTag: record.recordChangeTag } }));
    if (!done) return;
    dialog.close();
    toast('The record was deleted.');
    onDone();
  }
  const dialog = sheet(record ? record.recordName : 'New record', record ? `${record.recordType} in ${record.zoneID.zoneName}` : null,
    h('form', { class: 'sheet-form', onsubmit: save },
      h('div', { class: 'card' },
        record
          ? definitions([
            ['Created', h('span', {}, time(record.created?.timestamp), ' by ', h('code', {}, record.created?.userRecordName ?? 'nobody'))],
            ['Modified', h('span', {}, time(record.modified?.timestamp), ' by ', h('code', {}, record.modified?.userRecordName ?? 'nobody'))],
            ['Change tag', h('code', {}, record.recordChangeTag)],
            ...fixed.map(([fieldName, item]) => [fieldName, item.isEncrypted ? badge('encrypted') : h('a', { href: item.value.downloadURL, rel: 'noreferrer' }, `${item.value.size} bytes`)]),
          ])
          : [field('Record type', newType), field('Record name', newName)],
        list, adder, trouble,
        h('div', { class: 'actions' },
          h('button', { class: 'first' }, record ? 'Save changes' : 'Create the record'),
          record ? [
            anchor(recordLink(record.recordName, record.zoneID), 'Why did pushes come?', { class: 'button', onclick: () => dialog.close() }),
            anchor(link('dry-run', { recordName: record.recordName, zone: record.zoneID.zoneName === '_defaultZone' ? undefined : record.zoneID.zoneName }), 'Try a change', { class: 'button', onclick: () => dialog.close() }),
            h('button', { type: 'button', class: 'bad', onclick: remove }, 'Delete…')] : null))));
}
