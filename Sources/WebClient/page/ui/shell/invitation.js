import { div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/controls.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

/** Builds what stands in the place of the composer while the user is invited: the buttons "Accept" and "Decline".
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
export function invitation(chat, { id, kind, me, member_count: count }) {
    const name = me.invited_by?.name;
    return element(
        'section',
        { class: 'invitation', 'aria-label': t('inbox.invitation') },
        p('', name ? t('shell.invitedBy', { name }) : t('shell.invited')),
        kind !== 'direct' && p('hint', t('inbox.members', { count })),
        div(
            'actions',
            button(t('shell.decline'), () => chat.leaveThread(id)),
            button(t('shell.accept'), () => chat.acceptInvitation(id), 'primary'),
        ),
    );
}
