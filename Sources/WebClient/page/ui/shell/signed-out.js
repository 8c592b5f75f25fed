// What a visitor sees: signing in by password or by a mailed code, and creating an account either way.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';

/** @typedef {{name: string, label: string, [attribute: string]: unknown}} Field attributes of the input */
/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {{label: string, show: () => void}} Way */

const username = { name: 'username', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
const email = { name: 'email', type: 'email', autocomplete: 'email' };

export class SignedOut extends Component {
    /** @param {Chat} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.#showSignIn();
    }

    #showSignIn() {
        this.#showForm(
            t('shell.signIn'),
            [
                { ...username, label: t('shell.username') },
                { name: 'password', type: 'password', autocomplete: 'current-password', label: t('shell.password') },
            ],
            ({ username, password }) => this.chat.signIn({ username, password }),
            [
                { label: t('shell.createAccount'), show: () => this.#showCreateAccount() },
                { label: t('shell.useMailedCode'), show: () => this.#showMailedCode() },
            ],
        );
    }

    #showCreateAccount() {
        this.#showForm(
            t('shell.createAccount'),
            [
                { name: 'name', autocomplete: 'name', label: t('shell.name') },
                { ...username, label: t('shell.username') },
                { name: 'password', type: 'password', autocomplete: 'new-password', label: t('shell.password') },
            ],
            ({ name, username, password }) => this.chat.register({ name, username, password }),
            [this.#back(), { label: t('shell.registerByMail'), show: () => this.#showRegisterByMail() }],
        );
    }

    #showMailedCode() {
        this.#showForm(
            t('shell.mailedCode'),
            [{ ...email, label: t('shell.email') }],
            async ({ email }) => {
                await this.chat.requestCode(email);
                this.#showCode(email);
            },
            [this.#back()],
            t('shell.sendCode'),
        );
    }

    #showRegisterByMail() {
        this.#showForm(
            t('shell.registerByMail'),
            [
                { name: 'name', autocomplete: 'name', label: t('shell.name') },
                { ...email, label: t('shell.email') },
            ],
            async ({ name, email }) => {
                await this.chat.register({ name, email });
                this.#showCode(email);
            },
            [this.#back()],
            t('shell.sendCode'),
        );
    }

    /** @param {string} email */
    #showCode(email) {
        const code = { name: 'code', autocomplete: 'one-time-code', inputmode: 'numeric', label: t('shell.code') };
        this.#showForm(
            t('shell.enterCode'),
            [code],
            ({ code }) => this.chat.signIn({ email, code: code.replace(/\s/g, '') }),
            [this.#back()],
            t('shell.continue'),
            t('shell.codeSent', { email }),
        );
    }

    /** @returns {Way} */
    #back() {
        return { label: t('shell.backToSignIn'), show: () => this.#showSignIn() };
    }

    /** Shows a form in the place of the one before and focuses its first field.
     * @param {string} title
     * @param {Field[]} fields
     * @param {(values: Record<string, string>) => Promise<void>} action
     * @param {Way[]} ways other forms
     * @param {string} [submit] what the button says, if not the title
     * @param {string} [explanation]
     */
    #showForm(title, fields, action, ways, submit = title, explanation = '') {
        const button = element('button', { class: 'button primary', type: 'submit' }, submit);
        const form = element(
            'form',
            {
                'aria-label': title,
                onsubmit: (/** @type {SubmitEvent} */ event) => {
                    event.preventDefault();
                    const values = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
                    attempt(() => action(values), button);
                },
            },
            element('h1', {}, title),
            explanation && element('p', { class: 'muted' }, explanation),
            fields.map(({ label, ...attributes }) =>
                element(
                    'label',
                    { class: 'field' },
                    label,
                    element('input', { class: 'input', required: true, ...attributes }),
                )
            ),
            button,
            ways.map(({ label, show }) =>
                element('button', { class: 'button quiet', type: 'button', onclick: show }, label)
            ),
        );
        fill(this, element('main', { class: 'welcome' }, welcome(), form));
        form.querySelector('input')?.focus();
    }
}

function welcome() {
    return element(
        'div',
        { class: 'welcome-words' },
        element('img', { src: new URL('../../icon.svg', import.meta.url).href, alt: '', class: 'logo' }),
        element('p', { class: 'product' }, 'Parley'),
        element('p', { class: 'muted' }, t('shell.welcome')),
    );
}

customElements.define('parley-signed-out', SignedOut);
