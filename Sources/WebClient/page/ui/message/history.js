// The earlier versions of a message that was edited.

import * as requests from '../../core/requests.js';
import { element, p } from '../dom.js';
import { button } from '../parts/action.js';
import { openDialog } from '../parts/dialog.js';
import { fullTime, timeElement } from '../parts/time.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Message} Message */

/** Opens the list of versions, the present one first.
 * @param {Chat} chat @param {Message} message
 */
export async function openHistory(chat, message) {
    const title = t('conversation.history');
    const versions = element('ul', { class: 'versions', role: 'list', 'aria-label': title });
    const more = button(t('conversation.more'), () => load(), 'small');
    /** @type {string | null | undefined} */
    let page;
    const load = async () => {
        const { edits, next } = await requests.edits(chat, message, page);
        versions.append(...edits.map(({ payload, written_at }) => version(payload?.text ?? '', written_at)));
        page = next;
        more.hidden = !page;
    };
    versions.append(version(message.payload?.text ?? '', message.edited_at ?? message.timestamp));
    await load();
    openDialog({ title }, versions, more);
}

/** @param {string} text @param {string} at */
function version(text, at) {
    return element(
        'li',
        {},
        p('hint', timeElement(at, fullTime(at))),
        element('p', { class: 'version', dir: 'auto' }, text),
    );
}
