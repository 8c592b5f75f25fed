// Values that change, with subscribers.

/** A value with subscribers. Several changes within a microtask reach a subscriber once.
 * @template T
 */
export class LiveValue {
    /** @type {T | undefined} */
    value = undefined;
    /** @type {Set<(value: T) => void>} */
    #handlers = new Set();
    #isScheduled = false;
    /** @type {{onFirst?: () => void, onLast?: () => void}} */
    #hooks;

    /** @param {{value?: T, onFirst?: () => void, onLast?: () => void}} [options] `onFirst` is called when the first
     * subscriber comes, `onLast` when the last one has gone. */
    constructor(options = {}) {
        this.value = options.value;
        this.#hooks = options;
    }

    get hasSubscribers() {
        return this.#handlers.size > 0;
    }

    /** @param {T} value */
    set(value) {
        if (value === this.value && (typeof value !== 'object' || value === null)) return;
        this.value = value;
        if (this.#isScheduled) return;
        this.#isScheduled = true;
        queueMicrotask(() => this.#publish());
    }

    /** Forgets the value. Subscribers keep the old one until there is a new one. */
    reset() {
        this.value = undefined;
    }

    /** @param {(value: T) => void} handler
     * @returns {() => void} */
    subscribe(handler) {
        const own = /** @param {T} value */ (value) => handler(value);
        this.#handlers.add(own);
        if (this.#handlers.size === 1) this.#hooks.onFirst?.();
        if (this.value !== undefined) handler(this.value);
        return () => {
            if (this.#handlers.delete(own) && this.#handlers.size === 0) this.#hooks.onLast?.();
        };
    }

    #publish() {
        this.#isScheduled = false;
        for (const handler of [...this.#handlers]) {
            try {
                if (this.value !== undefined && this.#handlers.has(handler)) handler(this.value);
            } catch (error) {
                // One faulty subscriber does not keep the others from the value.
                reportError(error);
            }
        }
    }
}

/** Live values that are read again when their topic is published. */
export class Queries {
    /** @type {Map<string, {value: LiveValue<any>, read: () => Promise<any>}>} */
    #queries = new Map();
    /** Counts sessions: what was read for an earlier one is dropped. */
    #generation = 0;

    /** @template T
     * @param {string} topic
     * @param {() => Promise<T | undefined>} read undefined: not known yet
     * @param {() => void} [onFirst] is called when the first subscriber comes
     * @returns {LiveValue<T>} */
    live(topic, read, onFirst = () => {}) {
        const known = this.#queries.get(topic);
        if (known) return known.value;
        /** @type {LiveValue<T>} */
        const value = new LiveValue({
            onFirst: () => {
                void this.#refresh(topic);
                onFirst();
            },
        });
        this.#queries.set(topic, { value, read });
        return value;
    }

    /** @param {string[]} topics */
    changed(topics) {
        for (const topic of topics) if (this.#queries.get(topic)?.value.hasSubscribers) void this.#refresh(topic);
    }

    /** Forgets all values: the session has ended. */
    clear() {
        this.#generation += 1;
        for (const { value } of this.#queries.values()) value.reset();
    }

    /** @param {string} topic */
    async #refresh(topic) {
        const query = this.#queries.get(topic);
        const generation = this.#generation;
        const result = await query?.read().catch(() => undefined);
        if (result !== undefined && generation === this.#generation) query?.value.set(result);
    }
}
