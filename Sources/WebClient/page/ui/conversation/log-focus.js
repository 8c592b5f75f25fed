// The log is one stop of the Tab key: the row that had the focus last, else the newest. Arrow keys move between rows.

/** @typedef {import('./message-row.js').MessageRow} MessageRow */

export class LogFocus {
    #log;
    /** @type {() => Map<string, MessageRow>} */
    #rows;
    /** The key of the row that had the focus last. @type {string | null} */
    #current = null;
    /** @type {MessageRow | undefined} */
    #stop;

    /** @param {HTMLElement} log @param {() => Map<string, MessageRow>} rows in their order */
    constructor(log, rows) {
        this.#log = log;
        this.#rows = rows;
        log.addEventListener('keydown', (event) => this.#handleKey(event));
        log.addEventListener('focusin', (event) => this.#handleFocus(event.target));
        log.addEventListener('focusout', (event) => this.#handleFocus(event.relatedTarget));
    }

    /** Makes a row the log's stop; null: the newest.
     * @param {string | null} key */
    choose(key) {
        this.#current = key;
    }

    /** Moves the focus to the stop. */
    enter() {
        this.#stop?.element.focus({ preventScroll: true });
    }

    /** The rows have changed. */
    update() {
        const rows = this.#rows();
        const stop = rows.get(this.#current ?? '') ?? [...rows.values()].findLast((row) => !row.element.hidden);
        if (stop === this.#stop) return;
        if (this.#stop) this.#stop.element.tabIndex = -1;
        if (stop) stop.element.tabIndex = 0;
        this.#stop = stop;
    }

    /** @param {EventTarget | null} target what has the focus now */
    #handleFocus(target) {
        const article = target instanceof Element && this.#log.contains(target) ? target.closest('article') : null;
        this.#rows().get(this.#current ?? '')?.setActive(false);
        if (!article) return;
        this.#current = article.dataset.id ?? '';
        this.#rows().get(this.#current)?.setActive(true);
        this.update();
    }

    /** @param {KeyboardEvent} event */
    #handleKey(event) {
        const target = /** @type {HTMLElement} */ (event.target);
        const article = target.closest('article');
        if (!article || target.closest('textarea, audio, video') || event.altKey || event.ctrlKey || event.metaKey) {
            return;
        }
        const articles = [...this.#rows().values()].map((row) => row.element).filter((row) => !row.hidden);
        const index = articles.indexOf(article);
        /** @type {Record<string, HTMLElement | undefined>} */
        const targets = {
            ArrowUp: articles[index - 1],
            ArrowDown: articles[index + 1],
            Home: articles[0],
            End: articles[articles.length - 1],
        };
        if (event.key === 'Enter' && target === article) this.#rows().get(article.dataset.id ?? '')?.openActions();
        else if (event.key === 'Enter' && target.matches('[role="button"]')) target.click();
        else if (event.key in targets) targets[event.key]?.focus();
        else return;
        event.preventDefault();
    }
}
