// What concerns the account as a whole; each in a dialog of its own.

import * as requests from '../../core/requests.js';
import { div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { checkbox, field, item, list, openForm, row } from '../parts/controls.js';
import { openDialog } from '../parts/dialog.js';
import { live } from '../parts/live.js';
import { openEmail } from './email.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

/** Builds the buttons that open the dialogs.
 * @param {ChatShape} chat
 */
export function accountRows(chat) {
    return div(
        'rows',
        chat.me.value?.username !== null && row('lock', t('settings.password'), () => openPassword(chat)),
        chat.service.value?.mail && row('mail', t('settings.email'), () => openEmail(chat)),
        row('block', t('settings.blocked'), () => openBlocked(chat)),
        row('download', t('settings.export'), () => saveExport(chat)),
        row('trash', t('settings.erase'), () => openErase(chat), 'dangerous'),
    );
}

/** @param {ChatShape} chat */
function openPassword(chat) {
    const attributes = { type: 'password', required: true };
    const content = [
        field(t('settings.currentPassword'), { ...attributes, name: 'current', autocomplete: 'current-password' }),
        field(t('settings.newPassword'), { ...attributes, name: 'new', autocomplete: 'new-password' }),
        p('hint', t('settings.passwordHint')),
    ];
    const change = (/** @type {Record<string, string>} */ values) =>
        requests.changePassword(chat, { current: values.current, new: values.new });
    openForm(t('settings.password'), content, t('settings.changePassword'), change);
}

/** @param {ChatShape} chat */
function openBlocked(chat) {
    const title = t('settings.blocked');
    const rowOf = (/** @type {Person} */ person) => {
        const label = { 'aria-label': t('details.unblock', { name: person.name }) };
        const unblock = button(t('settings.unblock'), () => chat.unblock(person.id), '', label);
        return item(avatar(personSubject(person), chat, 'small'), person.name, [], unblock);
    };
    const people = live(chat.blocks, (people) => [
        people.length > 0 ? list(title, people.map(rowOf)) : p('muted', t('settings.nobodyBlocked')),
    ]);
    openDialog({ title }, people);
}

/** @param {ChatShape} chat */
async function saveExport(chat) {
    const href = URL.createObjectURL(await requests.exportData(chat));
    element('a', { href, download: 'parley-export.ndjson' }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** @param {ChatShape} chat */
function openErase(chat) {
    const word = t('settings.eraseWord');
    const question = t('settings.eraseConfirm', { word });
    const content = [
        p('', t('settings.eraseText')),
        checkbox(t('settings.eraseMessages'), { name: 'messages' }),
        field(question, { name: 'typed', autocomplete: 'off', autocapitalize: 'none' }),
    ];
    const dialog = openForm(t('settings.erase'), content, t('settings.erase'), async ({ typed, messages }) => {
        if (typed.trim().toLocaleLowerCase() !== word) throw question;
        await chat.eraseAccount(messages === 'on' ? 'erase' : 'keep');
    });
    dialog.classList.add('dangerous');
}
