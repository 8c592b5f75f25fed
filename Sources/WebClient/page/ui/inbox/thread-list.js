// The rows of the inbox. Thousands of conversations stay fast: 100 rows are in the page, more while scrolling.

import { arrange, div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { threadRow } from './thread-row.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

const step = 100;

/** Builds the list, which is empty until the first call of `show`.
 * @param {ChatShape} chat
 */
export function threadList(chat) {
    /** @type {Map<string, ReturnType<typeof threadRow>>} */
    const rows = new Map();
    let limit = step;
    let showAgain = () => {};
    const items = element('ul', { class: 'threads', role: 'list', 'aria-label': t('inbox.list') });
    const empty = p('empty');
    const bottom = div('threads-end');
    const observer = new IntersectionObserver((entries) => {
        if (!entries.at(-1)?.isIntersecting) return;
        limit += step;
        showAgain();
    }, { rootMargin: '600px' });
    return {
        show,
        end,
        element: div('', items, empty, bottom),
        link: (/** @type {string} */ id) => rows.get(id)?.link,
    };

    /** Shows the threads in this order.
     * @param {Thread[]} threads
     * @param {string | null} openThreadID
     * @param {string} emptyText what stands there without threads
     */
    function show(threads, openThreadID, emptyText) {
        showAgain = () => show(threads, openThreadID, emptyText);
        const visible = threads.slice(0, limit);
        const ids = new Set(visible.map(({ id }) => id));
        for (const [id, row] of rows) {
            if (ids.has(id)) continue;
            row.end();
            rows.delete(id);
        }
        arrange(items, visible.map((thread) => rowOf(thread).show(thread, thread.id === openThreadID)));
        empty.textContent = threads.length === 0 ? emptyText : '';
        observer.disconnect();
        if (threads.length > limit) observer.observe(bottom);
    }

    /** @param {Thread} thread */
    function rowOf(thread) {
        const row = rows.get(thread.id) ?? threadRow(chat, thread);
        rows.set(thread.id, row);
        return row;
    }

    /** Ends all that the rows follow. */
    function end() {
        observer.disconnect();
        for (const row of rows.values()) row.end();
        rows.clear();
    }
}
