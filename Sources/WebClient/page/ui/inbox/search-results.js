// What a search finds: conversations by title at once, then messages from the server.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from '../parts/alert.js';
import { avatar, personSubject, threadSubject } from '../parts/avatar.js';
import { shortTime, timeElement } from '../parts/time.js';
import { goTo, threadAddress } from '../shell/router.js';
import { excerpt } from './excerpt.js';

/** @typedef {import('../../core/types.js').Thread} Thread */
/** @typedef {{message: import('../../core/types.js').Message, excerpt: string}} Found */

const pause = 250;
const titlesMax = 8;

export class SearchResults {
    #chat;
    #list = element('ul', { class: 'threads', role: 'list', 'aria-label': t('inbox.searchResults') });
    #note = element('p', { class: 'empty', role: 'status' });
    element = element('div', { hidden: true }, this.#list, this.#note);
    #query = '';
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** Runs when the first result is there: Enter may come before the answer. */
    #afterAnswer = () => {};

    /** @param {import('../../core/types.js').ChatShape} chat */
    constructor(chat) {
        this.#chat = chat;
        this.#list.addEventListener('click', (event) => {
            // The address may be the present one already.
            const link = event.target instanceof Element ? event.target.closest('a') : null;
            if (link?.hash === location.hash) goTo(link.hash);
        });
    }

    /** Searches for `query`; an empty one hides the results.
     * @param {string} query
     */
    show(query) {
        clearTimeout(this.#timer);
        this.#query = query;
        this.#afterAnswer = () => {};
        this.element.hidden = query === '';
        if (query === '') return;
        const threads = this.#findThreads(query).map((thread) => this.#threadLink(thread));
        fill(this.#list, ...threads);
        this.#note.textContent = t('inbox.searching');
        this.#timer = setTimeout(() => this.#searchMessages(query, threads), pause);
    }

    /** Opens the first result, if need be once it has arrived, then calls `after`.
     * @param {() => void} after
     */
    openFirst(after) {
        const first = this.#list.querySelector('a');
        if (first) {
            goTo(first.hash);
            after();
        } else if (this.#query) {
            this.#afterAnswer = () => this.openFirst(after);
        }
    }

    /**
     * @param {string} query
     * @param {HTMLElement[]} threads
     */
    async #searchMessages(query, threads) {
        try {
            const found = await this.#chat.search(query);
            if (query !== this.#query) return;
            fill(this.#list, ...threads, ...found.map((each) => this.#messageLink(each)));
        } catch (error) {
            if (query === this.#query) showProblem(error);
        }
        if (query !== this.#query) return;
        this.#note.textContent = this.#list.childElementCount === 0 ? t('inbox.nothingFound') : '';
        this.#afterAnswer();
    }

    /** @param {string} query */
    #findThreads(query) {
        const words = normal(query).split(' ');
        return (this.#chat.inbox.value?.threads ?? []).filter((thread) => {
            const title = ` ${normal(threadSubject(thread).name)}`;
            return words.every((word) => title.includes(` ${word}`));
        }).slice(0, titlesMax);
    }

    /** @param {Thread} thread */
    #threadLink(thread) {
        const subject = threadSubject(thread);
        return element(
            'li',
            { class: 'thread' },
            element(
                'a',
                { class: 'thread-link', href: threadAddress(thread.id) },
                avatar(subject, this.#chat),
                element('span', { class: 'thread-title', dir: 'auto' }, subject.name),
                element('span', { class: 'thread-line' }, this.#kind(thread)),
            ),
        );
    }

    /** @param {Thread} thread */
    #kind({ kind, member_count: count }) {
        return kind === 'direct' ? t('inbox.direct') : t(`inbox.${kind}`, { count });
    }

    /** @param {Found} found */
    #messageLink({ message, excerpt: text }) {
        const thread = this.#chat.inbox.value?.threads.find((each) => each.id === message.thread_id);
        const title = thread ? threadSubject(thread).name : '';
        const sender = message.sender?.name ?? '';
        const place = thread?.kind === 'direct' || !title ? sender : t('inbox.senderIn', { sender, title });
        return element(
            'li',
            { class: 'thread' },
            element(
                'a',
                { class: 'thread-link', href: threadAddress(message.thread_id, message.id) },
                message.sender && avatar(personSubject(message.sender), this.#chat),
                element('span', { class: 'thread-title', dir: 'auto' }, place),
                ' ',
                timeElement(message.timestamp, shortTime(message.timestamp)),
                ' ',
                element('span', { class: 'thread-line found', dir: 'auto' }, ...excerpt(text)),
            ),
        );
    }
}

/** Folds case and accents, as the server's search does.
 * @param {string} text
 */
function normal(text) {
    return text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}
