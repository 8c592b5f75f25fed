// The name of this device among the user's devices.

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
