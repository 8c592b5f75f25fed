// Waits between tries.

/** Waits between tries: after failure n, a random time between half and all of min(2ⁿ s, 60 s); never less than the
 * server's `Retry-After`. */
export class BackOff {
    #failures = 0;

    reset() {
        this.#failures = 0;
    }

    /** Counts a failure and returns the wait in milliseconds.
     * @param {{retryAfter?: number | null}} [problem] */
    next(problem) {
        const most = Math.min(2 ** this.#failures, 60) * 1000;
        this.#failures += 1;
        return Math.max(most * (0.5 + Math.random() / 2), (problem?.retryAfter ?? 0) * 1000);
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
