// The question whether the browser may show notifications, once, after the first message.

import { div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { icon } from '../parts/icon.js';
import { choices, choose, state, turnOn } from './notifications.js';

/** Shows the question at the beginning of `place`, if the person has not decided yet.
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {HTMLElement} place
 */
export function offerNotifications(chat, place) {
    if (choices().isOn !== undefined || state() !== 'off' || place.querySelector('.offer')) return;
    const close = () => {
        made.remove();
        place.querySelector('textarea')?.focus();
    };
    const answer = async () => {
        await turnOn(chat);
        if (state() !== 'on') choose({ isOn: false });
        close();
    };
    const refuse = () => {
        choose({ isOn: false });
        close();
    };
    const made = element(
        'section',
        { class: 'offer', 'aria-label': t('notice.notifications') },
        icon('bell'),
        p('', t('notice.offer')),
        div('actions', button(t('notice.notNow'), refuse, 'quiet'), button(t('notice.turnOn'), answer, 'primary')),
    );
    place.prepend(made);
}
