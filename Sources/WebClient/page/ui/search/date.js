// The way to a day of a conversation.

import { startOfDay } from '../../core/search.js';
import { div, element } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { labelled } from '../parts/controls.js';
import { openPopover } from '../parts/menu.js';
import { goTo, threadAddress } from '../shell/router.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

/** Opens the choice of a day at a button.
 * @param {Chat} chat @param {string} threadID @param {HTMLElement} anchor
 */
export function openDateChoice(chat, threadID, anchor) {
    const label = t('conversation.jumpToDate');
    const form = dateForm(chat, threadID, () => popover.hidePopover());
    const popover = openPopover(anchor, { label, class: 'date-choice' }, form);
    popover.querySelector('input')?.focus();
}

/** Builds a form that goes to the first message of a day, or after it.
 * @param {Chat} chat @param {string} threadID @param {() => void} ondone
 */
export function dateForm(chat, threadID, ondone) {
    const today = new Date();
    const [year, month, day] = [today.getFullYear(), today.getMonth() + 1, today.getDate()];
    const max = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    const input = element('input', { class: 'input', type: 'date', required: true, max, value: max });
    const onsubmit = async (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const time = startOfDay(input.value);
        if (time !== null && await attempt(() => goToTime(chat, threadID, time))) ondone();
    };
    return element(
        'form',
        { onsubmit },
        labelled(
            t('conversation.jumpToDate'),
            div('date-row', input, element('button', { class: 'button' }, t('conversation.jumpToDateGo'))),
        ),
    );
}

/** @param {Chat} chat @param {string} threadID @param {number} time */
async function goToTime(chat, threadID, time) {
    const after = new Date(time).toISOString();
    const { messages: [first] } = await chat.http.get(`/v1/threads/${threadID}/messages`, { after, limit: 1 });
    if (!first) return showProblem(t('conversation.nothingSince'));
    goTo(threadAddress(threadID, first.id));
}
