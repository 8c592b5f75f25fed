// Waits between tries.

/** Waits between tries: after failure n, a random time between half and all of min(2ⁿ s, 60 s); never less than the
 * server's `Retry-After`. */
export class BackOff {
    #failures = 0;

    reset() {
        this.#failures = 0;
    }

    get failures() {
        return this.#failures;
    }

    /** Counts a failure and returns the wait in milliseconds.
     * @param {{retryAfter?: number | null}} [problem] */
    next(problem) {
        const most = Math.min(2 ** this.#failures, 60) * 1000;
        this.#failures += 1;
        return Math.max(most * (0.5 + Math.random() / 2), (problem?.retryAfter ?? 0) * 1000);
    }
}

/** Waits; ends early when the signal aborts.
 * @param {number} milliseconds
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>} */
export function sleep(milliseconds, signal) {
    return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', done);
            resolve();
        };
        const timer = setTimeout(done, milliseconds);
        signal?.addEventListener('abort', done);
    });
}
