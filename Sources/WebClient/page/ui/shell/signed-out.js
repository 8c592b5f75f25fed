// What a visitor sees: signing in by password or by a mailed code, and creating an account either way.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { button, field, form } from '../parts/controls.js';

/** @typedef {[title: string, show: () => void]} Way to another form */

/** Builds the page of a visitor.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function signedOut(chat) {
    const place = element('div');
    const page = element(
        'main',
        { class: 'welcome' },
        element(
            'div',
            { class: 'welcome-words' },
            element('img', { src: new URL('../../icon.svg', import.meta.url).href, alt: '', class: 'logo' }),
            element('p', { class: 'product' }, 'Parley'),
            element('p', { class: 'muted' }, t('shell.welcome')),
        ),
        place,
    );
    const name = () => field(t('shell.name'), { name: 'name', required: true, autocomplete: 'name' });
    const email = () =>
        field(t('shell.email'), { name: 'email', required: true, type: 'email', autocomplete: 'email' });
    const username = () =>
        field(t('shell.username'), {
            name: 'username',
            required: true,
            autocomplete: 'username',
            autocapitalize: 'none',
            spellcheck: 'false',
        });
    const password = (/** @type {string} */ autocomplete) =>
        field(t('shell.password'), { name: 'password', required: true, type: 'password', autocomplete });
    /** @type {Way} */
    const back = ['shell.backToSignIn', showSignIn];
    showSignIn();
    return page;

    function showSignIn() {
        show(
            'shell.signIn',
            [username(), password('current-password')],
            ({ username, password }) => chat.signIn({ username, password }),
            [['shell.createAccount', showCreateAccount], ['shell.useMailedCode', showMailedCode]],
        );
    }

    function showCreateAccount() {
        show(
            'shell.createAccount',
            [name(), username(), password('new-password')],
            ({ name, username, password }) => chat.register({ name, username, password }),
            [back, ['shell.registerByMail', showRegisterByMail]],
        );
    }

    function showMailedCode() {
        show(
            'shell.mailedCode',
            [email()],
            async ({ email }) => {
                await chat.requestCode(email);
                showCode(email);
            },
            [back],
            'shell.sendCode',
        );
    }

    function showRegisterByMail() {
        show(
            'shell.registerByMail',
            [name(), email()],
            async ({ name, email }) => {
                await chat.register({ name, email });
                showCode(email);
            },
            [back],
            'shell.sendCode',
        );
    }

    /** @param {string} email */
    function showCode(email) {
        const code = field(t('shell.code'), {
            name: 'code',
            required: true,
            autocomplete: 'one-time-code',
            inputmode: 'numeric',
        });
        show(
            'shell.enterCode',
            [element('p', { class: 'muted' }, t('shell.codeSent', { email })), code],
            ({ code }) => chat.signIn({ email, code: code.replace(/\s/g, '') }),
            [back],
            'shell.continue',
        );
    }

    /** Shows a form in the place of the one before and focuses its first field.
     * @param {string} title
     * @param {HTMLElement[]} fields
     * @param {(values: Record<string, string>) => Promise<void>} action
     * @param {Way[]} ways
     * @param {string} [submit] what the button says, if not the title
     */
    function show(title, fields, action, ways, submit = title) {
        const made = form([element('h1', {}, t(title)), ...fields], t(submit), action);
        made.setAttribute('aria-label', t(title));
        made.append(...ways.map(([title, show]) => button(t(title), show, 'quiet')));
        fill(place, made);
        made.querySelector('input')?.focus();
    }
}
