// Fields of records: their values in a few words, and controls to edit them.

import { h, time } from './dom.js';

export const plainTypes = ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP'];

/** A short form of a field's value. */
export function brief(item) {
  if (!item) return '';
  const { value, type } = item;
  if (value === null || value === undefined) return '';
  if (type === 'TIMESTAMP') return time(value);
  if (type === 'REFERENCE') return value.recordName;
  if (type === 'LOCATION') return `${value.latitude}, ${value.longitude}`;
  if (type?.startsWith('ASSET')) return `${value.size} bytes`;
  if (Array.isArray(value)) return value.map((element) => (typeof element === 'object' ? element.recordName ?? '…' : element)).join(', ');
  return String(value);
}

/** A type of the schema language as the protocol names it: `LIST<STRING>` is `STRING_LIST`. */
export function protocolType(text) {
  const plain = text.replace(/^ENCRYPTED /, '');
  const list = plain.match(/^LIST<(.*)>$/);
  return list ? `${list[1]}_LIST` : plain;
}

/** A control for a field and what it says: { control, read() }. */
export function editor(item) {
  const { type, value } = item;
  if (type === 'TIMESTAMP') {
    const control = h('input', { type: 'text', value: value === undefined ? '' : new Date(value).toISOString(), placeholder: '2026-01-31T12:00:00Z' });
    return { control, read: () => {
      const moment = Date.parse(control.value);
      if (Number.isNaN(moment)) throw new Error(`“${control.value}” is not a date; write it as 2026-01-31T12:00:00Z.`);
      return moment;
    } };
  }
  if (type === 'INT64' || type === 'DOUBLE') {
    const control = h('input', { type: 'text', inputmode: 'decimal', value: value === undefined ? '' : String(value) });
    return { control, read: () => {
      const read = Number(control.value);
      if (control.value.trim() === '' || !Number.isFinite(read) || (type === 'INT64' && !Number.isInteger(read))) {
        throw new Error(`“${control.value}” is not a ${type === 'INT64' ? 'whole ' : ''}number.`);
      }
      return read;
    } };
  }
  if (type === 'STRING') {
    const control = h('textarea', { rows: 2 });
    control.value = value ?? '';
    return { control, read: () => control.value };
  }
  const control = h('textarea', { rows: 4, class: 'mono', spellcheck: 'false', placeholder: 'JSON, as in CloudKit Web Services' });
  control.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  return { control, read: () => {
    try { return JSON.parse(control.value); } catch { throw new Error('This value must be JSON, as in CloudKit Web Services.'); }
  } };
}
