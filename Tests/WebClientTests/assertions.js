// Comparisons of JSON values that name the first difference.

/** Throws unless two JSON values are the same. Absent keys and null are the same.
 * @param {unknown} shown
 * @param {unknown} right
 * @param {string} path
 */
export function assertSame(shown, right, path) {
    if (shown !== null && right !== null && typeof shown === 'object' && typeof right === 'object') {
        const [left, other] = /** @type {Record<string, unknown>[]} */ ([shown, right]);
        for (const key of new Set([...Object.keys(left), ...Object.keys(other)])) {
            assertSame(left[key], other[key], `${path}.${key}`);
        }
    } else if ((shown ?? null) !== (right ?? null)) {
        throw new Error(`${path} is ${JSON.stringify(shown)} and should be ${JSON.stringify(right)}`);
    }
}
