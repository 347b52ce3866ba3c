// Requests to the admin API.

let proof = null;

/** A refusal of the server: its code, its reason and its ID in the log. */
export class Refusal extends Error {
  constructor(code, reason, uuid) {
    super(reason);
    this.code = code;
    this.uuid = uuid;
  }
}

async function send(method, path, init) {
  let response;
  try {
    response = await fetch(`/admin/v1/${path}`, { method, credentials: 'same-origin', ...init });
  } catch {
    throw new Refusal('UNREACHABLE',
      'The server cannot be reached. Check that it runs and that this computer is connected, then try again.');
  }
  const text = await response.text();
  let body = {};
  try { body = text ? JSON.parse(text) : {}; } catch { /* the status says what failed */ }
  if (response.ok) return body;
  if (body.serverErrorCode === 'AUTHENTICATION_REQUIRED') {
    location.assign(`/console/sign-in?over=1${location.hash}`);
    // The page is being left: nobody waits for an answer any more.
    return new Promise(() => {});
  }
  throw new Refusal(body.serverErrorCode ?? String(response.status),
    body.reason ?? `The server answered with the status ${response.status}.`, body.uuid);
}

export function get(path, query = {}) {
  const items = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') items.set(name, value);
  }
  const text = items.toString();
  return send('GET', text ? `${path}?${text}` : path, {});
}

export async function post(path, body = {}) {
  proof ??= (await get('session')).proof;
  return send('POST', path, {
    headers: { 'Content-Type': 'application/json', 'X-Petrel-CSRF': proof },
    body: JSON.stringify(body),
  });
}
