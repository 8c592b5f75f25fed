// Sorted lists of closed intervals of seqs: which messages of a thread the device has.

/** @import { Range } from './records.js' */

/** The ranges with `[first, last]` added; adjacent ranges become one. An empty interval adds nothing.
 * @param {readonly Range[]} ranges
 * @param {number} first
 * @param {number} last
 * @returns {Range[]}
 */
export function withRange(ranges, first, last) {
    if (first > last) return [...ranges];
    const before = ranges.filter((range) => range[1] < first - 1);
    const after = ranges.filter((range) => range[0] > last + 1);
    const touching = ranges.slice(before.length, ranges.length - after.length);
    for (const range of touching) {
        first = Math.min(first, range[0]);
        last = Math.max(last, range[1]);
    }
    return [...before, [first, last], ...after];
}

/** The ranges without the seqs below `seq`.
 * @param {readonly Range[]} ranges
 * @param {number} seq
 * @returns {Range[]}
 */
export function withoutBelow(ranges, seq) {
    return ranges.filter((range) => range[1] >= seq).map((range) => [Math.max(range[0], seq), range[1]]);
}

/** The range that contains a seq.
 * @param {readonly Range[]} ranges
 * @param {number} seq
 * @returns {Range | undefined}
 */
export function rangeAt(ranges, seq) {
    return ranges.find((range) => range[0] <= seq && seq <= range[1]);
}

/** The parts of `[first, last]` that are in no range: what a client has to fetch.
 * @param {readonly Range[]} ranges
 * @param {number} first
 * @param {number} last
 * @returns {Range[]}
 */
export function holes(ranges, first, last) {
    /** @type {Range[]} */
    const holes = [];
    for (const range of [...ranges, [last + 1, Infinity]]) {
        if (range[0] > first) holes.push([first, Math.min(range[0] - 1, last)]);
        first = Math.max(first, range[1] + 1);
        if (first > last) break;
    }
    return holes;
}
