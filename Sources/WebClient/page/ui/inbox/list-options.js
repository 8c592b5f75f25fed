// What the list of conversations looks like, and what applies to all of them.

import { openMenu } from '../parts/menu.js';
import { markAllRead, showShortcuts } from '../shell/keys.js';
import { t } from '../../language/index.js';

/** @import {MenuItem} from '../parts/menu.js' */

/** Opens the menu of the list.
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {import('./inbox.js').Inbox} inbox
 * @param {HTMLElement} button
 */
export function openListOptions(chat, inbox, button) {
    const look = (/** @type {string} */ name) => ({
        name: t(`inbox.look.${name}.${inbox.isLook(name) ? 'off' : 'on'}`),
        icon: /** @type {const} */ ('list'),
        onselect: () => inbox.toggleLook(name),
    });
    const hasUnread = (chat.inbox.value?.threads ?? []).some(({ unread_count: unread }) => unread > 0);
    openMenu(button, t('inbox.listOptions'), [
        hasUnread && { name: t('inbox.markAllRead'), icon: 'check', onselect: () => markAllRead(chat) },
        look('grouped'),
        look('compact'),
        { name: t('shell.shortcuts'), icon: 'info', onselect: showShortcuts },
    ]);
}
