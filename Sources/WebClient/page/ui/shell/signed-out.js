// What a visitor sees: signing in by password or by a mailed code, and creating an account either way.

import { requestCode } from '../../core/sign-in.js';
import { div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { field, form } from '../parts/controls.js';

/** @typedef {[title: string, show: () => void]} Way to another form */

const required = true;
const name = { name: 'name', required, autocomplete: 'name' };
const email = { name: 'email', required, type: 'email', autocomplete: 'email' };
const username = { name: 'username', required, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
const password = { name: 'password', required, type: 'password', autocomplete: 'current-password' };
const code = { name: 'code', required, autocomplete: 'one-time-code', inputmode: 'numeric' };

/** Builds the page of a visitor.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function signedOut(chat) {
    const logo = element('img', { src: new URL('../../icon.svg', import.meta.url).href, alt: '', class: 'logo' });
    const welcome = div('welcome-words', logo, p('product', 'Parley'), p('muted', t('shell.welcome')));
    const place = div('');
    /** @type {Way} */
    const back = ['shell.backToSignIn', showSignIn];
    showSignIn();
    return element('main', { class: 'welcome' }, welcome, place);

    function showSignIn() {
        show(
            'shell.signIn',
            [username, password],
            ({ username, password }) => chat.signIn({ username, password }),
            [['shell.createAccount', showCreateAccount], ['shell.useMailedCode', showMailedCode]],
        );
    }

    function showCreateAccount() {
        show(
            'shell.createAccount',
            [name, username, { ...password, autocomplete: 'new-password' }],
            ({ name, username, password }) => chat.register({ name, username, password }),
            [back, ['shell.registerByMail', showRegisterByMail]],
        );
    }

    function showMailedCode() {
        show(
            'shell.mailedCode',
            [email],
            async ({ email }) => {
                await requestCode(chat.http, email);
                showCode(email);
            },
            [back],
            'shell.sendCode',
        );
    }

    function showRegisterByMail() {
        show(
            'shell.registerByMail',
            [name, email],
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
        const signIn = (/** @type {Record<string, string>} */ { code }) =>
            chat.signIn({ email, code: code.replace(/\s/g, '') });
        show('shell.enterCode', [code], signIn, [back], 'shell.continue', t('shell.codeSent', { email }));
    }

    /** Shows a form in the place of the one before and focuses its first field.
     * @param {string} title
     * @param {({name: string} & Record<string, unknown>)[]} inputs
     * @param {(values: Record<string, string>) => Promise<void>} action
     * @param {Way[]} ways
     * @param {string} [submit] what the button says, if not the title
     * @param {string} [explanation]
     */
    function show(title, inputs, action, ways, submit = title, explanation) {
        const fields = inputs.map((input) => field(t(`shell.${input.name}`), input));
        const heading = element('h1', {}, t(title));
        const made = form([heading, explanation && p('muted', explanation), ...fields], t(submit), action);
        made.ariaLabel = t(title);
        made.append(...ways.map(([title, show]) => button(t(title), show, 'quiet')));
        fill(place, made);
        made.querySelector('input')?.focus();
    }
}
