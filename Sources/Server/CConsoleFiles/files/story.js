// The parts of an explanation: a change, its notifications, and their pushes to devices.

import { anchor, badge, count, h, later, person, time } from './dom.js';
import { database, link } from './place.js';
import { label, reasonList, sentence } from './reasons.js';

export const events = {
  recordCreated: 'created', recordUpdated: 'updated', recordDeleted: 'deleted',
  zoneCreated: 'zone created', zoneDeleted: 'zone deleted',
};
export const stateKinds = { waiting: 'warn', delivered: 'good', abandoned: 'bad', merged: '', refused: 'bad' };
const titles = {
  recordCreated: 'Created', recordUpdated: 'Updated', recordDeleted: 'Deleted',
  zoneCreated: 'Zone created', zoneDeleted: 'Zone deleted',
};

/** The address of a subscription's explanation. */
export function subscriptionLink(item, query = {}) {
  return link('explain', { subscriber: item.subscriber, subscriptionID: item.subscriptionID, ...query });
}

/** The address of a record's explanation. Only zones of a shared database need their owner in it. */
export function recordLink(recordName, zoneID, query = {}, where = database()) {
  const { zoneName, ownerRecordName } = zoneID ?? {};
  return link('explain', {
    recordName, zone: zoneName === '_defaultZone' ? undefined : zoneName,
    zoneOwner: where.database === 'shared' ? ownerRecordName : undefined, ...query,
  }, where);
}

function token(text) { return h('code', { class: 'clipped', title: text }, text); }

function delivery(item, start) {
  return h('li', {},
    badge(item.state, stateKinds[item.state]), ' ', h('strong', {}, item.channel ?? 'A device'), ' ', token(item.device),
    h('div', { class: 'quiet small' }, `${later(item.updated - start)}, ${count(item.attempts, 'attempt')}`,
      item.due ? [', next not before ', time(item.due)] : null),
    item.reason ? h('div', { class: 'small' }, item.reason) : null,
    item.mergedIntoNotification
      ? h('div', { class: 'small' }, 'A newer notification replaced it: ', h('code', {}, item.mergedIntoNotification)) : null);
}

function silence(reason) {
  return h('li', {}, badge('no push'), ' ', h('strong', {}, label(reason)),
    reason.device ? [' ', token(reason.device)] : null, h('div', { class: 'quiet small' }, sentence(reason)));
}

/** The state of a notification's push to each device. */
export function deliveries(notification, start) {
  return h('ul', { class: 'deliveries' }, notification.deliveries.map((item) => delivery(item, start)),
    notification.silentDevices.map(silence));
}

function fired(notification, start, names) {
  return h('li', { class: 'good' },
    h('strong', {}, anchor(subscriptionLink(notification), notification.subscriptionID, { class: 'mono' }), ' fired'),
    ' for ', person(notification.subscriber, names),
    h('div', { class: 'quiet small' }, `${later(notification.logged - start)}, in the log at `, time(notification.logged, { isExact: true }),
      notification.pruned ? `; the push lacks ${notification.prunedParts.join(', ')}` : null),
    deliveries(notification, start));
}

/** Subscriptions that did not fire, each with all that speaks against it. */
export function silentList(items, names) {
  return h('ul', { class: 'silent' }, items.map((item) => h('li', {},
    h('div', {}, anchor(subscriptionLink(item), item.subscriptionID, { class: 'mono' }), ' of ', person(item.subscriber, names)),
    reasonList(item.reasons))));
}

/** The time line of a change. `isWhole` shows those that did not fire without being asked. */
export function changeCard(change, names, { isTarget = false, isWhole = true } = {}) {
  const start = change.time;
  const step = (name) => change.steps.find((item) => item.step === name)?.time;
  const title = titles[change.event] ?? 'Changed';
  const fires = change.notifications.length;
  const steps = [
    h('li', { class: 'good' }, h('strong', {}, 'Committed'), ' by ', person(change.changedBy, names),
      h('div', { class: 'quiet small' }, time(step('saved') ?? start, { isExact: true }),
        change.device ? [' on the device ', h('code', {}, change.device)] : null,
        change.request ? [', by the request ', h('code', {}, change.request)] : null,
        change.valuesKept ? null : '; its values were too large to keep')),
    step('matched')
      ? h('li', { class: 'good' }, h('strong', {}, 'Matched'),
        h('div', { class: 'quiet small' }, `${later(step('matched') - start)}, ${fires
          ? `${count(fires, 'subscription')}${change.moreNotifications ? ' and more' : ''} fired` : 'no subscription fired'}`))
      : h('li', { class: 'warn' }, h('strong', {}, 'Waits to be matched'),
        h('div', { class: 'quiet small' }, 'Look again in a moment.')),
    ...change.notifications.map((item) => fired(item, start, names)),
    change.moreNotifications
      ? h('li', {}, h('strong', {}, 'More subscriptions fired'), h('div', { class: 'quiet small' }, 'Enter a user or a subscription above to see them.')) : null,
  ].filter(Boolean);
  const silent = change.silent.length
    ? h('details', { open: isWhole },
      h('summary', {}, `${count(change.silent.length, 'subscription')}${change.moreSilent ? ' and more' : ''} did not fire`),
      silentList(change.silent, names))
    : change.moreSilent
      ? h('p', { class: 'quiet small' }, 'There are more subscriptions than the server examines for one answer. Enter a user or a subscription above to see why it did not fire.')
      : null;
  return h('section', { class: isTarget ? 'card target' : 'card', 'aria-label': `${title} at ${new Date(start).toISOString()}`, tabindex: isTarget ? '-1' : null },
    h('div', { class: 'head' }, h('h2', {}, title, ' ', h('span', { class: 'quiet' }, time(start))), change.recordType ? badge(change.recordType) : null),
    h('ol', { class: 'steps' }, steps), silent);
}

/** One firing of a subscription. */
export function firingCard(firing, names, { isTarget = false } = {}) {
  const what = firing.recordName
    ? anchor(recordLink(firing.recordName, firing.zoneID, { notification: firing.notificationID, before: firing.sequence }), firing.recordName, { class: 'mono' })
    : h('code', {}, firing.zoneID.zoneName);
  return h('li', { class: isTarget ? 'good target' : 'good', tabindex: isTarget ? '-1' : null },
    h('strong', {}, what, ` ${events[firing.event] ?? firing.event}`),
    h('div', { class: 'quiet small' }, time(firing.changed, { isExact: true }), `, in the log ${later(firing.logged - firing.changed)}`),
    deliveries(firing, firing.changed));
}
