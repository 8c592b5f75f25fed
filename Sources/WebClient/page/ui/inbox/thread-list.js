// The rows of the inbox. Thousands of conversations stay fast: 100 rows are in the page, more while scrolling.

import { arrange, element } from '../dom.js';
import { t } from '../../language/index.js';
import { ThreadRow } from './thread-row.js';

const step = 100;

export class ThreadList {
    #chat;
    /** @type {Map<string, ThreadRow>} */
    #rows = new Map();
    #limit = step;
    /** @type {() => void} */
    #showAgain = () => {};
    #items = element('ul', { class: 'threads', role: 'list', 'aria-label': t('inbox.list') });
    #empty = element('p', { class: 'empty' });
    #end = element('div', { class: 'threads-end' });
    element = element('div', {}, this.#items, this.#empty, this.#end);
    #observer = new IntersectionObserver((entries) => {
        if (!entries.at(-1)?.isIntersecting) return;
        this.#limit += step;
        this.#showAgain();
    }, { rootMargin: '600px' });

    /** @param {import('../../core/types.js').ChatShape} chat */
    constructor(chat) {
        this.#chat = chat;
    }

    /** Shows the threads in this order.
     * @param {import('../../core/types.js').Thread[]} threads
     * @param {string | null} openThreadID
     * @param {string} emptyText what stands there without threads
     */
    show(threads, openThreadID, emptyText) {
        this.#showAgain = () => this.show(threads, openThreadID, emptyText);
        const visible = threads.slice(0, this.#limit);
        const rows = visible.map((thread) => this.#row(thread.id).show(thread, thread.id === openThreadID));
        const ids = new Set(visible.map((thread) => thread.id));
        for (const [id, row] of this.#rows) {
            if (ids.has(id)) continue;
            row.end();
            this.#rows.delete(id);
        }
        arrange(this.#items, rows);
        this.#empty.textContent = threads.length === 0 ? emptyText : '';
        this.#observer.disconnect();
        if (threads.length > this.#limit) this.#observer.observe(this.#end);
    }

    /** @param {string} threadID */
    focus(threadID) {
        this.#rows.get(threadID)?.focus();
    }

    /** Ends all that the rows follow. */
    end() {
        this.#observer.disconnect();
        for (const row of this.#rows.values()) row.end();
        this.#rows.clear();
    }

    /** @param {string} id */
    #row(id) {
        let row = this.#rows.get(id);
        if (!row) this.#rows.set(id, row = new ThreadRow(this.#chat, id));
        return row;
    }
}
