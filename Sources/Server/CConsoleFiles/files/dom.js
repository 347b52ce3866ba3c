// Elements and the few components that pages are made of. Text is always set as text, never as HTML.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((child) => child !== undefined && child !== null));
  return element;
}

export function badge(text, kind = '') { return h('span', { class: `badge ${kind}` }, text); }

export function field(label, control) { return h('label', { class: 'field' }, h('span', {}, label), control); }

export function choice(options, chosen, properties = {}) {
  const select = h('select', properties, options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return h('option', { value, selected: value === chosen }, text);
  }));
  return select;
}

export function heading(title, text, ...actions) {
  return h('div', { class: 'head' },
    h('div', {}, h('h1', {}, title), text ? h('p', {}, text) : null),
    actions.length ? h('div', { class: 'actions' }, actions) : null);
}

export function empty(title, text, ...actions) {
  return h('div', { class: 'empty' }, h('h2', {}, title), h('p', {}, text), ...actions);
}

/** What went wrong, and what to do. */
export function problem(error, again, title = 'This did not work') {
  const lines = error.message.split('\n');
  return h('div', { class: 'notice error', role: 'alert' },
    h('strong', {}, title),
    lines.length > 1 ? h('pre', {}, error.message) : h('p', {}, error.message),
    error.uuid ? h('p', { class: 'quiet small' }, 'In the server\u2019s log: ', h('code', {}, error.uuid)) : null,
    again ? h('div', {}, h('button', { type: 'button', onclick: again }, 'Try again')) : null);
}

export function toast(text) {
  const item = h('div', { class: 'toast' }, text);
  document.getElementById('toasts').append(item);
  setTimeout(() => item.remove(), 4000);
}

/** Columns: { title, cell(row), class }. On a narrow screen each row becomes a card. */
export function table(caption, columns, rows) {
  const body = h('tbody', {});
  const element = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', { class: 'stack' },
      h('thead', {}, h('tr', {}, columns.map((column) => h('th', { scope: 'col' }, column.title)))), body));
  element.add = (more) => {
    for (const row of more) {
      body.append(h('tr', {}, columns.map((column) =>
        h('td', { class: column.title ? column.class : 'act', 'data-label': column.title }, h('div', {}, column.cell(row) ?? '')))));
    }
  };
  element.clear = () => body.replaceChildren();
  element.count = () => body.children.length;
  element.add(rows);
  return element;
}

/**
 * A list in pages. `load(continuation)` answers { rows, continuation }; `none` is shown where there is
 * nothing at all.
 */
export function pagedList({ caption, columns, load, none }) {
  const card = h('section', { class: 'card flush', 'aria-label': caption, 'aria-busy': 'true' });
  let generation = 0;
  async function begin() {
    const own = ++generation;
    card.setAttribute('aria-busy', 'true');
    try {
      const page = await load();
      if (own !== generation) return;
      show(page);
    } catch (error) {
      if (own === generation) card.replaceChildren(problem(error, begin));
    }
    card.setAttribute('aria-busy', 'false');
  }
  function show(first) {
    if (!first.rows.length && !first.continuation) return card.replaceChildren(none());
    const list = table(caption, columns, first.rows);
    const text = h('span', {});
    const button = h('button', { type: 'button' }, 'Show more');
    let next = first.continuation;
    const update = () => {
      text.textContent = `${list.count().toLocaleString('en')} ${list.count() === 1 ? 'row' : 'rows'}`
        + (next ? ', and there are more' : '');
      button.hidden = !next;
    };
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        const page = await load(next);
        list.add(page.rows);
        next = page.continuation;
      } catch (error) {
        card.append(problem(error));
      }
      button.disabled = false;
      update();
    });
    update();
    card.replaceChildren(list, h('div', { class: 'more' }, text, button));
  }
  card.reload = begin;
  begin();
  return card;
}

/** A dialog that leaves the page when it is closed. */
export function sheet(title, subtitle, content, { drawer = true } = {}) {
  const close = h('button', { type: 'button', class: 'plain', onclick: () => dialog.close() }, 'Close');
  const dialog = h('dialog', { class: drawer ? 'drawer' : '', 'aria-label': title },
    h('div', { class: 'sheet' },
      h('div', { class: 'head' },
        h('div', {}, h('h2', {}, title), subtitle ? h('p', { class: 'quiet small' }, subtitle) : null), close),
      content));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks before something that cannot be taken back. */
export function confirmed(title, text, verb) {
  return new Promise((resolve) => {
    let answer = false;
    const dialog = sheet(title, null, [
      h('p', {}, text),
      h('div', { class: 'actions' },
        h('button', { type: 'button', class: 'bad', onclick: () => { answer = true; dialog.close(); } }, verb),
        h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel')),
    ], { drawer: false });
    dialog.addEventListener('close', () => resolve(answer));
  });
}

/** Runs the action of a button; shows an error in `place`. */
export async function attempt(place, action) {
  place.replaceChildren();
  try {
    return await action();
  } catch (error) {
    place.replaceChildren(problem(error));
    return undefined;
  }
}

export function time(milliseconds, { isExact = false } = {}) {
  if (milliseconds === undefined || milliseconds === null) return '';
  const date = new Date(milliseconds);
  const text = date.toLocaleString('en-GB', {
    day: '2-digit', month: 'short', year: date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: isExact ? 3 : undefined,
  });
  return h('time', { datetime: date.toISOString(), title: date.toISOString() }, text);
}

/** How long after something else something was. */
export function later(milliseconds) {
  const size = Math.abs(milliseconds);
  const text = size < 1000 ? `${size} ms`
    : size < 120_000 ? `${(size / 1000).toFixed(1)} s`
      : size < 7_200_000 ? `${Math.round(size / 60_000)} min`
        : size < 172_800_000 ? `${Math.round(size / 3_600_000)} h` : `${Math.round(size / 86_400_000)} days`;
  return milliseconds < 0 ? `${text} before` : `+${text}`;
}

/** “1 row”, “2 rows”. */
export function count(value, one, many = `${one}s`) { return `${number(value)} ${value === 1 ? one : many}`; }

/** What an explanation calls users and keys by, by their user record names. */
export function nameTable(answer) {
  const keys = Object.entries(answer.keys ?? {}).map(([name, label]) => [name, `the key “${label || 'without a name'}”`]);
  return { ...Object.fromEntries(keys), ...answer.users };
}

/** A user by the name of the account, where there is one, with the user record name beside it. */
export function person(userRecordName, names = {}) {
  if (!userRecordName) return 'an unknown user';
  const name = names[userRecordName];
  return h('span', { class: 'person' }, name ? [name, ' '] : null,
    h('code', { class: name ? 'quiet clipped' : '', title: userRecordName }, userRecordName));
}

export function anchor(href, text, properties = {}) { return h('a', { href, ...properties }, text); }

/**
 * Shows what is wrong with a control's text, and puts the cursor where the server points to with
 * a ^ under its text.
 */
export function pointOut(control, error, trouble) {
  const lines = error.message.split('\n');
  control.setAttribute('aria-invalid', 'true');
  control.addEventListener('input', () => control.removeAttribute('aria-invalid'), { once: true });
  const name = control.labels?.[0]?.querySelector('span')?.textContent.toLowerCase();
  const message = error.message.replace(/^body: '\w+' /, '');
  trouble.replaceChildren(problem(
    { message: message[0].toUpperCase() + message.slice(1), uuid: error.uuid }, undefined,
    name ? `There is a mistake in the ${name}` : undefined));
  if (!/^ *\^$/.test(lines.at(-1)) || lines.length < 3) return;
  const characters = [...new Intl.Segmenter().segment(control.value)].map((part) => part.segment);
  const place = characters.slice(0, Math.max(0, lines.at(-1).indexOf('^') - 2)).join('').length;
  control.focus();
  control.setSelectionRange(place, Math.min(control.value.length, place + 1));
}

export function number(value) { return value === undefined ? '–' : Math.round(value).toLocaleString('en'); }

export function bytes(value) {
  if (value === undefined) return '–';
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function definitions(pairs) {
  return h('dl', {}, pairs.filter(([, value]) => value !== undefined && value !== null && value !== '')
    .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}
