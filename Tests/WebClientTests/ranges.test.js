// Ranges of seqs, compared with plain sets.

/** @import { Range } from '../../Sources/WebClient/page/core/state/records.js' */

import { holes, rangeAt, withoutBelow, withRange } from '../../Sources/WebClient/page/core/state/ranges.js';
import { assertSame } from './assertions.js';

const seqs = Array.from({ length: 30 }, (_, index) => index + 1);

/** @param {number} below */
function random(below) {
    return Math.floor(Math.random() * below);
}

/** The ranges of a set.
 * @param {Set<number>} set
 */
function rangesOf(set) {
    /** @type {Range[]} */
    const ranges = [];
    for (const seq of seqs.filter((seq) => set.has(seq))) {
        const last = ranges.at(-1);
        if (last && last[1] === seq - 1) last[1] = seq;
        else ranges.push([seq, seq]);
    }
    return ranges;
}

Deno.test('ranges are those of a set, after any additions and removals', () => {
    for (let round = 0; round < 300; round += 1) {
        let set = new Set();
        /** @type {Range[]} */
        let ranges = [];
        for (let step = 0; step < 12; step += 1) {
            if (random(6) === 0) {
                const below = random(30);
                set = new Set([...set].filter((seq) => seq >= below));
                ranges = withoutBelow(ranges, below);
            } else {
                const first = 1 + random(30);
                // Sometimes an empty interval.
                const last = Math.min(30, first - 1 + random(8));
                for (let seq = first; seq <= last; seq += 1) set.add(seq);
                ranges = withRange(ranges, first, last);
            }
            assertSame(ranges, rangesOf(set), 'ranges');
            const [first, last] = [1 + random(15), 15 + random(16)];
            const missing = new Set(seqs.filter((seq) => first <= seq && seq <= last && !set.has(seq)));
            assertSame(holes(ranges, first, last), rangesOf(missing), `holes in ${first}-${last}`);
            const seq = 1 + random(30);
            assertSame(rangeAt(ranges, seq) !== undefined, set.has(seq), `rangeAt ${seq}`);
        }
    }
});
