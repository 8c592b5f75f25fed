// Signing in and creating an account, and the name of this device.

import { tables } from './store/schema.js';

/** Begins a session, and stores it in place of everything that was stored before.
 * @param {import('./http/http.js').HTTP} http
 * @param {import('./store/schema.js').Store} store
 * @param {string} path @param {object} body of the request
 * @returns {Promise<boolean>} false: no session yet, because a code was mailed */
export async function beginSession(http, store, path, body) {
    const json = { ...body, device_name: deviceName() };
    const response = await http.send('POST', path, { json, isAnonymous: true });
    if (response.status === 202) return false;
    const { user, session } = await response.json();
    await store.write(tables, (tx) => {
        for (const table of tables) if (table !== 'meta') tx.clear(table);
        for (const key of ['cursor', 'account']) tx.delete('meta', key);
        tx.put('meta', { key: 'session', value: { ...session, user } });
        tx.publish('session');
    });
    return true;
}

/** Has a code mailed.
 * @param {import('./http/http.js').HTTP} http
 * @param {string} email */
export async function requestCode(http, email) {
    await http.send('POST', '/v1/auth/code', { json: { email }, isAnonymous: true });
}

const browsers = /** @type {const} */ ([
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
]);
const systems = /** @type {const} */ ([
    ['Android', 'Android'],
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Windows', 'Windows'],
    ['Mac OS', 'macOS'],
    ['CrOS', 'ChromeOS'],
    ['Linux', 'Linux'],
]);

/** Returns a name such as "Firefox, Linux".
 * @param {string} [agent] */
export function deviceName(agent = globalThis.navigator?.userAgent ?? '') {
    const names = [browsers, systems].map((list) => list.find(([mark]) => agent.includes(mark))?.[1]);
    return names.filter((name) => name !== undefined).join(', ') || 'Browser';
}
