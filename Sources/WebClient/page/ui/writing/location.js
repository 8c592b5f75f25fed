// Sending where the device is: the position is shown first, and sent once the user confirms it.

import { div, element, p } from '../dom.js';
import { attempt, button } from '../parts/action.js';
import { openDialog } from '../parts/dialog.js';
import { t } from '../../language/index.js';
import { messageBody } from '../conversation/body.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

/** Opens the dialog. `onsent` is called once the position is in the outbox.
 * @param {Chat} chat
 * @param {string} threadID
 * @param {import('../../core/types.js').Message | null} replyTo
 * @param {() => void} onsent
 */
export function shareLocation(chat, threadID, replyTo, onsent) {
    const title = chat.thread(threadID).value?.title ?? '';
    const place = element('div', { class: 'place-to-send', role: 'status' }, p('muted', t('notice.locating')));
    const cancel = button(t('shell.cancel'), () => dialog.close());
    const actions = div('actions', cancel);
    const dialog = openDialog(
        { title: t('conversation.shareLocation'), class: 'question' },
        p('', t('notice.locationText', { title })),
        place,
        actions,
    );
    attempt(locate, null, (error) => {
        place.replaceChildren(p('', typeof error === 'string' ? error : t('shell.unexpected')));
        actions.append(button(t('conversation.retry'), retry));
    });

    async function locate() {
        const location = await currentPosition();
        if (!dialog.open) return;
        place.replaceChildren(...messageBody(asMessage(location), [], '', null));
        const send = async () => {
            await chat.send(threadID, { text: '', location, replyTo });
            dialog.close();
            onsent();
        };
        actions.append(button(t('notice.sendLocation'), send, 'primary'));
    }

    function retry() {
        dialog.close();
        shareLocation(chat, threadID, replyTo, onsent);
    }
}

/** Rejects with a text for the user.
 * @returns {Promise<{latitude: number, longitude: number, accuracy_m: number}>} */
function currentPosition() {
    return new Promise((resolve, reject) => {
        if (!navigator.geolocation) throw t('conversation.locationFailed');
        navigator.geolocation.getCurrentPosition(
            ({ coords: { latitude, longitude, accuracy } }) =>
                resolve({ latitude, longitude, accuracy_m: Math.round(accuracy) }),
            () => reject(t('conversation.locationFailed')),
            { timeout: 20_000 },
        );
    });
}

/** The message as the log would show it.
 * @param {import('../../core/types.js').Payload} payload
 * @returns {import('../../core/types.js').Message}
 */
function asMessage(payload) {
    return /** @type {any} */ ({ type: 'location', payload, deleted_at: null, expires_at: null });
}
