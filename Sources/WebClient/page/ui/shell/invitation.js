// An open invitation: it stands in the place of the composer.

import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';

/** Builds the question whether the user joins a thread, with the buttons "Accept" and "Decline".
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {import('../../core/types.js').Thread} thread its `me.status` is `invited`
 */
export function invitation(chat, { id, kind, me, member_count: count }) {
    const inviter = me.invited_by?.name;
    const accept = element('button', {
        class: 'button primary',
        type: 'button',
        onclick: () => attempt(() => chat.acceptInvitation(id), accept),
    }, t('shell.accept'));
    const decline = element('button', {
        class: 'button',
        type: 'button',
        onclick: () => attempt(() => chat.leaveThread(id), decline),
    }, t('shell.decline'));
    return element(
        'section',
        { class: 'invitation', 'aria-label': t('inbox.invitation') },
        element('p', {}, inviter ? t('shell.invitedBy', { name: inviter }) : t('shell.invited')),
        kind !== 'direct' && element('p', { class: 'hint' }, t('inbox.members', { count })),
        element('div', { class: 'actions' }, decline, accept),
    );
}
