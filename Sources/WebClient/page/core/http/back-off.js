// Waits between tries.

/** The longest wait in seconds, but for 429: while somebody looks at a page, and otherwise. */
const longest = { seen: 4, hidden: 16 };

/** The longest wait after the first failure, and the spread after a 429, in seconds. */
const first = 2;

/** The client guide's rule (Waits after a failure): a random time up to 2 s after the first failure, between half of the
 * longest wait and all of it after each further one. `Retry-After` counts for half of the longest wait at most, and in full
 * with 429. So the page is back within 5 s after a node serves again, or 20 s if nobody looks, however long it was away. */
export class BackOff {
    #failures = 0;
    #isSeen;
    #random;

    /** @param {{isSeen?: () => boolean, random?: () => number}} [options] `isSeen`: whether somebody looks; `random`
     * returns 0 to 1 */
    constructor({ isSeen = () => true, random = Math.random } = {}) {
        this.#isSeen = isSeen;
        this.#random = random;
    }

    reset() {
        this.#failures = 0;
    }

    /** Counts a failure and returns the wait in milliseconds.
     * @param {{status?: number, retryAfter?: number | null}} [problem] */
    next(problem) {
        this.#failures += 1;
        const [least, most] = this.#range(problem);
        return (least + (most - least) * this.#random()) * 1000;
    }

    /** @param {{status?: number, retryAfter?: number | null}} [problem] @returns {[number, number]} in seconds */
    #range({ status, retryAfter } = {}) {
        const most = this.#isSeen() ? longest.seen : longest.hidden;
        if (retryAfter && status === 429) return [retryAfter, retryAfter + first];
        if (retryAfter) return [Math.min(retryAfter, most / 2), most];
        return this.#failures === 1 ? [0, first] : [most / 2, most];
    }
}

/** About twelve days: until a signal aborts. */
export const forever = 2 ** 30;

/** Waits; ends early when a signal aborts.
 * @param {number} milliseconds
 * @param {AbortSignal[]} signals
 * @returns {Promise<void>} */
export function sleep(milliseconds, ...signals) {
    return new Promise((resolve) => {
        const signal = AbortSignal.any(signals);
        if (signal.aborted) return resolve();
        const done = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            resolve();
        };
        const timer = setTimeout(done, milliseconds);
        signal.addEventListener('abort', done);
    });
}
