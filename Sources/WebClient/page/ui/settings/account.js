// What concerns the account as a whole; each in a dialog of its own.

import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { personSubject } from '../parts/avatar.js';
import { button, checkbox, field, list, live, openForm, profile, row } from '../parts/controls.js';
import { openDialog } from '../parts/dialog.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

/** Builds the buttons that open the dialogs.
 * @param {ChatShape} chat
 */
export function accountRows(chat) {
    return element(
        'div',
        { class: 'rows' },
        chat.me.value?.username !== null && row('lock', t('settings.password'), () => openPassword(chat)),
        row('block', t('settings.blocked'), () => openBlocked(chat)),
        row('download', t('settings.export'), () => saveExport(chat)),
        row('trash', t('settings.erase'), () => openErase(chat), 'dangerous'),
    );
}

/** @param {ChatShape} chat */
function openPassword(chat) {
    const password = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ autocomplete) =>
        field(t(label), { name, type: 'password', required: true, autocomplete });
    const content = [
        password('current', 'settings.currentPassword', 'current-password'),
        password('next', 'settings.newPassword', 'new-password'),
        element('p', { class: 'hint' }, t('settings.passwordHint')),
    ];
    openForm(
        t('settings.password'),
        content,
        t('settings.changePassword'),
        ({ current, next }) => chat.changePassword({ current, new: next }),
    );
}

/** @param {ChatShape} chat */
function openBlocked(chat) {
    const item = (/** @type {Person} */ person) => {
        const name = t('details.unblock', { name: person.name });
        const unblock = button(t('settings.unblock'), () => chat.unblock(person.id), '', { 'aria-label': name });
        return element('li', { class: 'person-row' }, profile(personSubject(person), chat, []), unblock);
    };
    const title = t('settings.blocked');
    openDialog(
        { title },
        live(
            chat.blocks,
            (people) => [
                people.length > 0
                    ? list(title, people.map(item))
                    : element('p', { class: 'muted' }, t('settings.nobodyBlocked')),
            ],
        ),
    );
}

/** @param {ChatShape} chat */
async function saveExport(chat) {
    const href = URL.createObjectURL(await chat.exportData());
    element('a', { href, download: 'parley-export.ndjson' }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** @param {ChatShape} chat */
function openErase(chat) {
    const word = t('settings.eraseWord');
    const content = [
        element('p', {}, t('settings.eraseText')),
        checkbox(t('settings.eraseMessages'), { name: 'messages' }),
        field(t('settings.eraseConfirm', { word }), { name: 'word', autocomplete: 'off', autocapitalize: 'none' }),
    ];
    openForm(t('settings.erase'), content, t('settings.erase'), ({ word: typed, messages }) => {
        if (typed.trim().toLocaleLowerCase() !== word.toLocaleLowerCase()) throw t('settings.eraseConfirm', { word });
        return chat.eraseAccount(messages === 'on' ? 'erase' : 'keep');
    });
}
