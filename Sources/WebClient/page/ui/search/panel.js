// The search within one conversation, beside its messages.

import { isEmpty, Search } from '../../core/search.js';
import { div, element, fill, words } from '../dom.js';
import { t } from '../../language/index.js';
import { button, iconButton } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { icon } from '../parts/icon.js';
import { summary } from '../parts/summary.js';
import { dayName, shortTime, timeElement } from '../parts/time.js';
import { focusComposer, threadAddress } from '../shell/router.js';
import { dateForm } from './date.js';
import { excerptNodes, operatorsHint, queryOf } from './found.js';
import { markWords, unmark } from './marks.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

const pause = 250;
const step = 30;
/** Panes that are narrower have no room for messages beside the results. */
const narrow = 640;

/** Opens the search, or moves the focus to it.
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @param {HTMLElement} conversation
 */
export function openSearch(chat, thread, conversation) {
    const open = conversation.querySelector('.search-panel input');
    if (open instanceof HTMLInputElement) return open.select();
    conversation.querySelector('.log-frame')?.append(searchPanel(chat, thread, conversation));
    /** @type {HTMLElement | null} */ (conversation.querySelector('.search-panel input'))?.focus();
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @param {HTMLElement} conversation
 */
function searchPanel(chat, thread, conversation) {
    const label = t('conversation.searchHere');
    /** @type {Search | null} */
    let search = null;
    let query = queryOf('');
    let hasEntered = false;
    const input = element('input', {
        class: 'input',
        type: 'search',
        'aria-label': label,
        placeholder: label,
        autocomplete: 'off',
        oninput: () => setTimeout(begin, pause, input.value),
    });
    const items = element('ul', { role: 'list', 'aria-label': t('search.found') });
    const note = element('p', { class: 'hint', role: 'status' });
    const more = button(t('conversation.more'), () => continueSearch(), 'small', { hidden: true });
    const hint = element('p', { class: 'hint' }, ...operatorsHint(true));
    const panel = element(
        'section',
        { class: 'search-panel', 'aria-label': label },
        div('search-row', div('search-field', icon('search'), input), iconButton('close', t('shell.close'), close)),
        hint,
        dateForm(chat, thread.id, () => conversation.clientWidth < narrow && close()),
        div('search-found', items, note, more),
    );
    panel.addEventListener('keydown', handleKey);
    return panel;

    function close() {
        unmark();
        panel.remove();
        focusComposer();
    }

    /** @param {KeyboardEvent} event */
    function handleKey(event) {
        if (event.isComposing) return;
        const links = [...items.querySelectorAll('a')];
        const index = links.findIndex((link) => link === document.activeElement);
        if (event.key === 'Escape') close();
        else if (event.key === 'ArrowDown') links[index + 1]?.focus();
        else if (event.key === 'ArrowUp') (links[index - 1] ?? input).focus();
        else if (event.key === 'Enter' && event.target === input) enter();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    /** Opens the first result, if need be once it is there. */
    function enter() {
        const first = items.querySelector('a');
        hasEntered = !first;
        first?.click();
    }

    /** @param {string} text what was in the field a moment ago */
    async function begin(text) {
        if (text !== input.value) return;
        query = queryOf(text);
        hasEntered = false;
        fill(items);
        more.hidden = true;
        note.textContent = query.unknown.length > 0 ? t('search.unknown', { part: query.unknown.join(' ') }) : '';
        search = isEmpty(query) ? null : new Search(chat, query, thread.id);
        await continueSearch();
    }

    async function continueSearch() {
        const current = search;
        if (!current) return;
        note.textContent = t('inbox.searching');
        more.hidden = true;
        try {
            const found = await current.next(step);
            if (current !== search) return;
            items.append(...found.map(resultLink));
            const day = current.until && dayName(current.until);
            const isNothing = !items.firstChild && current.isAtEnd;
            note.textContent = isNothing
                ? t('inbox.nothingFound')
                : current.isAtEnd || !day
                ? ''
                : t('search.until', { day });
            more.hidden = current.isAtEnd;
            if (hasEntered) enter();
        } catch (error) {
            note.textContent = '';
            if (current === search) showProblem(error);
        }
    }

    /** @param {import('../../core/search.js').Found} found */
    function resultLink({ message, excerpt }) {
        const { sender, timestamp: at } = message;
        const text = excerpt === null ? [summary(message, chat.session.value?.user.id)] : excerptNodes(excerpt);
        const onclick = () => {
            markWords(query.words);
            if (conversation.clientWidth < narrow) panel.remove();
        };
        return element(
            'li',
            {},
            element(
                'a',
                { class: 'found-link', href: threadAddress(thread.id, message.id), onclick },
                words('found-name', sender?.name ?? ''),
                ' ',
                timeElement(at, shortTime(at)),
                ' ',
                words('thread-line found', ...text),
            ),
        );
    }
}
