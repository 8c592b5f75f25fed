// Live values of single rows of the store.

import { LiveValue } from './live.js';

/** Live values that are read again when their topic is noted. */
export class Queries {
    /** @type {Map<string, {value: LiveValue<any>, read: () => Promise<any>}>} */
    #queries = new Map();

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
        for (const { value } of this.#queries.values()) value.reset();
    }

    /** @param {string} topic */
    async #refresh(topic) {
        const query = this.#queries.get(topic);
        const result = await query?.read().catch(() => undefined);
        if (result !== undefined) query?.value.set(result);
    }
}
