// A fake clock for tests of code that waits. Importing it replaces the global timers and `Date.now`. No test sleeps, and the
// speed of the machine does not matter.

import { setImmediate } from 'node:timers';

/** The real timers, for limits that only end a test that hangs. */
export const machine = {
    setTimeout: setTimeout.bind(globalThis),
    clearTimeout: clearTimeout.bind(globalThis),
};

/** The clock moves to the next timer after this many turns of the event loop. The longest chain of requests and
 * transactions between two timers takes fewer than 5. */
const quietTurns = 50;

/** A timer of at least this many milliseconds never fires: the code waits for a signal. See `forever` in back-off.js. */
const forever = 2 ** 30;

let now = Date.parse('2026-11-21T12:00:00.000Z');
let lastID = 0;
let isRunning = false;
/** In the order in which they were set. @type {Map<number, {time: number, work: () => void}>} */
const timers = new Map();

/** Lets the event loop run once.
 * @returns {Promise<void>} */
export function turn() {
    return new Promise((resolve) => setImmediate(resolve));
}

/** Waits until the clock has moved and the effects of all due timers have settled.
 * @param {number} milliseconds */
export async function pass(milliseconds) {
    await new Promise((resolve) => start(resolve, milliseconds));
    const isDue = () => [...timers.values()].some(({ time }) => time <= now);
    for (let quiet = 0; quiet < quietTurns / 2; quiet = isDue() ? 0 : quiet + 1) await turn();
}

/** Runs the timers in order. The clock jumps to the next timer when the event loop has nothing else to do. */
async function run() {
    isRunning = true;
    while (timers.size > 0) {
        for (let turns = 0; turns < quietTurns; turns += 1) await turn();
        const [next] = [...timers].sort(([, left], [, right]) => left.time - right.time);
        if (!next) break;
        const [id, { time, work }] = next;
        timers.delete(id);
        now = Math.max(now, time);
        work();
    }
    isRunning = false;
}

/** @param {(...all: any[]) => void} work @param {number} [milliseconds] @param {any[]} all */
function start(work, milliseconds = 0, ...all) {
    const id = lastID += 1;
    if (milliseconds >= forever) return id;
    timers.set(id, { time: now + Math.max(0, milliseconds), work: () => work(...all) });
    if (!isRunning) void run();
    return id;
}

/** @param {number} milliseconds */
function abortAfter(milliseconds) {
    const end = new AbortController();
    start(() => end.abort(new DOMException('Signal timed out.', 'TimeoutError')), milliseconds);
    return end.signal;
}

// The page's modules call these by their global names.
Object.assign(globalThis, { setTimeout: start, clearTimeout: (/** @type {number} */ id) => timers.delete(id) });
Object.assign(Date, { now: () => now });
Object.assign(AbortSignal, { timeout: abortAfter });
