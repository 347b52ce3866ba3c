// Why a subscription did not fire, and why a device got no push, in words. The codes are those of
// docs/reference/explaining.md.

import { badge, h } from './dom.js';

const labels = {
  unknownSubscription: 'No such subscription', deletedSubscription: 'Deleted',
  otherDatabase: 'In another database', otherEnvironment: 'In the other environment',
  notYetSaved: 'Saved later', changedSince: 'Changed since', recordType: 'Another record type',
  event: 'Another event', zone: 'Another zone', defaultZone: 'Not in the default zone',
  filter: 'A filter does not match', permission: 'No permission to read', valuesNotKept: 'Values not kept',
  notLogged: 'Not in the log', nothingOwed: 'Nobody to send it to', originDevice: 'Made the change', noDevice: 'No device',
  registeredLater: 'Registered later', notSetUp: 'Not set up', tooManyWaiting: 'Too many pushes wait',
  deviceGone: 'Registration ended', courier: 'Web courier',
};

export function label(reason) { return labels[reason.code] ?? reason.code; }

/** The reason in a sentence; a filter is written as it is. */
export function sentence(reason) {
  const { text, filter } = reason;
  return filter && text.startsWith(filter)
    ? [h('code', {}, filter), `${text.slice(filter.length)}.`]
    : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** All reasons against a subscription, the one that the server came to first at the top. */
export function reasonList(reasons) {
  return h('ul', { class: 'reasons' }, reasons.map((reason, place) => h('li', {},
    badge(label(reason), place === 0 ? 'warn' : ''), ' ', h('span', {}, sentence(reason)))));
}
