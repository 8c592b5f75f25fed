// The dialog that sends a message once more, to another conversation.

import { div, element, fill } from '../dom.js';
import { attempt } from '../parts/action.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { list, names } from '../parts/controls.js';
import { openDialog } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { matchesWords } from '../../text/match.js';
import { goTo, threadAddress } from '../shell/router.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Thread} Thread */

const shownMax = 30;

/** @param {Chat} chat @param {import('../../core/types.js').Message} message */
export function openForward(chat, message) {
    const label = t('conversation.forwardTo');
    const places = list(label);
    const search = element('input', {
        class: 'input',
        type: 'search',
        'aria-label': label,
        placeholder: label,
        autocomplete: 'off',
        autofocus: true,
        oninput: show,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Enter' || event.isComposing) return;
            event.preventDefault();
            places.querySelector('button')?.click();
        },
    });
    const title = t('conversation.forwardTitle');
    const dialog = openDialog({ title }, div('picker', div('search-field', icon('search'), search), places));
    show();

    function show() {
        const threads = (chat.inbox.value?.threads ?? []).filter((thread) =>
            thread.me.status === 'joined' && matchesWords(threadSubject(thread).name, search.value)
        );
        fill(places, ...threads.slice(0, shownMax).map(choice));
    }

    /** @param {Thread} thread */
    function choice(thread) {
        const { id, kind, member_count: count } = thread;
        const subject = threadSubject(thread);
        const facts = [kind === 'direct' ? t('inbox.direct') : t(`inbox.${kind}`, { count })];
        const onclick = () => attempt(() => send(id), made);
        const made = element(
            'button',
            { class: 'choice', type: 'button', onclick },
            avatar(subject, chat, 'small'),
            names(subject.name, facts),
        );
        return element('li', {}, made);
    }

    /** @param {string} threadID */
    async function send(threadID) {
        const { text = '', attachments, latitude, longitude, label } = message.payload ?? {};
        const isPlace = message.type === 'location' && latitude !== undefined && longitude !== undefined;
        const location = isPlace ? { latitude, longitude, ...(label ? { label } : {}) } : undefined;
        await chat.send(threadID, { text, attachments, location });
        dialog.close();
        goTo(threadAddress(threadID));
    }
}
