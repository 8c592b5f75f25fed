// The card of a person: who it is, and what the user can do about it.

import * as requests from '../../core/requests.js';
import { div, element, p, words } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { confirm } from '../parts/dialog.js';
import { live } from '../parts/live.js';
import { openPopover } from '../parts/menu.js';
import { handle } from '../parts/people-picker.js';
import { presenceText } from '../parts/time.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

/** Opens the card at an element that names the person.
 * @param {ChatShape} chat
 * @param {string} userID
 * @param {HTMLElement} anchor
 */
export async function openCard(chat, userID, anchor) {
    const person = await requests.user(chat, userID);
    const isSelf = userID === chat.session.value?.user.id;
    const close = () => card.hidePopover();
    const write = async () => {
        const { id } = await requests.createThread(chat, { kind: 'direct', members: [userID] });
        close();
        document.querySelector('dialog')?.close();
        writeIn(id);
    };
    const card = openPopover(
        anchor,
        { label: person.name, class: 'card', returnTo: anchor.closest('article') ?? anchor },
        avatar(personSubject(person), chat, 'large'),
        element('h2', { dir: 'auto' }, person.name),
        p('muted', handle(person)),
        !isSelf && live(chat.presence(userID), (presence) => [p('muted', presenceText(presence))]),
        person.status_text && words('', person.status_text),
        !isSelf && div(
            'card-actions',
            button(t('details.message'), write, 'primary', { autofocus: true }),
            live(chat.blocks, (people) => [blockButton(chat, person, people.some(({ id }) => id === userID))]),
            button(t('conversation.report'), async () => {
                close();
                (await import('../message/report.js')).openReport(chat, { person });
            }, 'quiet'),
        ),
    );
    card.querySelector('button')?.focus();
}

/**
 * @param {ChatShape} chat
 * @param {Person} person
 * @param {boolean} isBlocked
 */
function blockButton(chat, { id, name }, isBlocked) {
    if (isBlocked) return button(t('details.unblock', { name }), () => chat.unblock(id), 'quiet');
    const title = t('details.block', { name });
    const question = { title, text: t('details.blockText', { name }), action: t('details.blockAction') };
    return button(title, async () => await confirm(question) && chat.block(id), 'quiet');
}
