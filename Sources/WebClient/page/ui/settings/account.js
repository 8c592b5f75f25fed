// What concerns the account as a whole; each in a dialog of its own.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { openDialog } from '../parts/dialog.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

/** Builds the buttons that open the dialogs.
 * @param {Chat} chat
 */
export function accountRows(chat) {
    const download = row('settings.export', () => attempt(() => saveExport(chat), download));
    return element(
        'div',
        { class: 'rows' },
        chat.me.value?.username !== null && row('settings.password', () => openPassword(chat)),
        row('settings.blocked', () => openDialog({ title: t('settings.blocked') }, new BlockedPeople(chat))),
        download,
        row('settings.erase', () => openErase(chat), true),
    );
}

/**
 * @param {string} label
 * @param {() => void} onclick
 * @param {boolean} [isDangerous]
 */
function row(label, onclick, isDangerous = false) {
    return element('button', { class: isDangerous ? 'row dangerous' : 'row', type: 'button', onclick }, t(label));
}

/** @param {Chat} chat */
async function saveExport(chat) {
    const href = URL.createObjectURL(await chat.exportData());
    element('a', { href, download: 'parley-export.ndjson' }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** @param {Chat} chat */
function openPassword(chat) {
    const input = (/** @type {string} */ autocomplete) =>
        element('input', { class: 'input', type: 'password', required: true, autocomplete });
    const current = input('current-password');
    const next = input('new-password');
    const submit = element('button', { class: 'button primary', type: 'submit' }, t('settings.changePassword'));
    const dialog = openDialog(
        { title: t('settings.password') },
        element(
            'form',
            {
                class: 'form',
                onsubmit: (/** @type {SubmitEvent} */ event) => {
                    event.preventDefault();
                    attempt(async () => {
                        await chat.changePassword({ current: current.value, new: next.value });
                        dialog.close();
                    }, submit);
                },
            },
            element('label', { class: 'field' }, t('settings.currentPassword'), current),
            element('label', { class: 'field' }, t('settings.newPassword'), next),
            element('p', { class: 'hint' }, t('settings.passwordHint')),
            element('div', { class: 'actions' }, submit),
        ),
    );
}

/** @param {Chat} chat */
function openErase(chat) {
    const word = t('settings.eraseWord');
    const submit = element('button', { class: 'button danger', type: 'submit', disabled: true }, t('settings.erase'));
    const typed = element('input', {
        class: 'input',
        autocomplete: 'off',
        autocapitalize: 'none',
        oninput: () => submit.disabled = typed.value.trim().toLocaleLowerCase() !== word.toLocaleLowerCase(),
    });
    const messages = element('input', { type: 'checkbox' });
    openDialog(
        { title: t('settings.erase') },
        element(
            'form',
            {
                class: 'form',
                onsubmit: (/** @type {SubmitEvent} */ event) => {
                    event.preventDefault();
                    attempt(() => chat.eraseAccount(messages.checked ? 'erase' : 'keep'), submit);
                },
            },
            element('p', {}, t('settings.eraseText')),
            element('label', { class: 'choice' }, messages, t('settings.eraseMessages')),
            element('label', { class: 'field' }, t('settings.eraseConfirm', { word }), typed),
            element('div', { class: 'actions' }, submit),
        ),
    );
}

class BlockedPeople extends Component {
    /** @param {Chat} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.follow(this.chat.blocks, (people) => this.#show(people));
    }

    /** @param {import('../../core/types.js').Person[]} people */
    #show(people) {
        const items = people.map((person) => {
            const unblock = element('button', {
                class: 'button',
                type: 'button',
                'aria-label': t('details.unblock', { name: person.name }),
                onclick: () => attempt(() => this.chat.unblock(person.id), unblock),
            }, t('settings.unblock'));
            return element(
                'li',
                { class: 'person-row' },
                avatar(personSubject(person), this.chat, 'small'),
                element('span', { class: 'person', dir: 'auto' }, person.name),
                unblock,
            );
        });
        fill(
            this,
            items.length > 0
                ? element('ul', { class: 'people', role: 'list' }, items)
                : element('p', { class: 'muted' }, t('settings.nobodyBlocked')),
        );
    }
}

customElements.define('parley-blocked-people', BlockedPeople);
