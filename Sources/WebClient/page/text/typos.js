// Whether a title may be another one with a typing mistake.

import { normal } from './match.js';

const distanceMax = 2;

/** Whether two titles differ by a letter or two. Titles with other numbers are other titles.
 * @param {string} one @param {string} other
 */
export function isAlmost(one, other) {
    const [first, second] = [normal(one), normal(other)];
    const numbers = (/** @type {string} */ text) => (text.match(/\p{N}+/gu) ?? []).join();
    if (first === second || numbers(first) !== numbers(second)) return false;
    // Of a short title, two letters are most of it.
    const max = Math.min(distanceMax, Math.floor(Math.min(first.length, second.length) / 3));
    return distance(first, second, max) <= max;
}

/** Returns how many letters are to be changed, added or removed; more than `max` counts as `max + 1`.
 * @param {string} one @param {string} other @param {number} max
 */
function distance(one, other, max) {
    if (Math.abs(one.length - other.length) > max) return max + 1;
    let row = Array.from({ length: other.length + 1 }, (_, index) => index);
    for (let i = 1; i <= one.length; i += 1) {
        const next = [i];
        for (let j = 1; j <= other.length; j += 1) {
            const change = one[i - 1] === other[j - 1] ? 0 : 1;
            next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + change));
        }
        row = next;
    }
    return Math.min(row[other.length], max + 1);
}
