// What a visitor sees: signing in by password or by a mailed code, setting a forgotten password, and creating an account. Only
// what the service has is offered.

import { requestCode } from '../../core/sign-in.js';
import { div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { field, form } from '../parts/controls.js';
import { live } from '../parts/live.js';
import { invitationCode } from './router.js';

/** @typedef {import('../../core/types.js').Service} Service */
/** @typedef {[title: string, show: () => void]} Way to another form */
/** @typedef {(service: Service) => (Way | false)[]} Ways */
/** @typedef {{name: string, label?: HTMLElement} & Record<string, unknown>} Input */

const required = true;
const name = { name: 'name', required, autocomplete: 'name', maxlength: 128 };
const email = { name: 'email', required, type: 'email', autocomplete: 'email' };
const username = { name: 'username', required, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
const password = { name: 'password', required, type: 'password', autocomplete: 'current-password' };
const code = { name: 'code', required, autocomplete: 'one-time-code', inputmode: 'numeric' };
const account = { name: 'account', required, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
const resetCode = {
    name: 'code',
    required,
    autocomplete: 'one-time-code',
    autocapitalize: 'none',
    spellcheck: 'false',
};
const invitation = { name: 'invitation', required, autocomplete: 'off', spellcheck: 'false' };

/** Builds the page of a visitor.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function signedOut(chat) {
    const logo = element('img', { src: new URL('../../icon.svg', import.meta.url).href, alt: '', class: 'logo' });
    const welcome = div(
        'welcome-words',
        logo,
        p('product', live(chat.service, ({ name }) => [name])),
        p('muted', t('shell.welcome')),
        chat.endedBy === 'server' && element('p', { class: 'notice', role: 'status' }, t('notice.signedOut')),
    );
    const place = div('');
    /** @type {Way} */
    const back = ['shell.backToSignIn', showSignIn];
    if (invitationCode() && chat.service.value?.registration !== 'closed') showCreateAccount();
    else showSignIn();
    return element('main', { class: 'welcome' }, welcome, place);

    function showSignIn() {
        const label = live(chat.service, ({ mail }) => [t(mail ? 'shell.account' : 'shell.username')]);
        label.append(t('shell.username'));
        show(
            'shell.signIn',
            [{ ...username, label }, password],
            ({ username, password }) => chat.signIn({ ...named(username), password }),
            ({ registration, mail }) => [
                registration !== 'closed' && ['shell.createAccount', showCreateAccount],
                mail && ['shell.mailedCode', showMailedCode],
                ['shell.forgot', mail ? showForgotten : showOperatorsCode],
            ],
        );
    }

    function showCreateAccount() {
        const chosen = {
            ...username,
            check: usernameProblem,
            hint: t('notice.usernameHint'),
        };
        const secret = {
            ...password,
            autocomplete: 'new-password',
            check: passwordProblem,
            hint: t('notice.passwordHint'),
        };
        show(
            'shell.createAccount',
            [name, chosen, secret, ...invited()],
            async ({ name, username, password, ...rest }) => {
                await chat.register({ name, username: username.trim(), password, ...rest });
                forgetInvitation();
            },
            ({ mail }) => [back, mail && ['shell.registerByMail', showRegisterByMail]],
        );
    }

    function showForgotten() {
        show(
            'shell.forgot',
            [email],
            async ({ email }) => {
                await requestCode(chat.http, email);
                showNewPassword([code], (values) => ({ email, ...values }), t('shell.codeSent', { email }));
            },
            () => [back, ['shell.operatorsCode', showOperatorsCode]],
            'shell.sendCode',
            t('shell.forgotText'),
        );
    }

    /** The operator gives a code to a person who has no address, and where the service has no mail. */
    function showOperatorsCode() {
        const way = ({ account = '', ...values }) => ({ ...named(account), ...values });
        showNewPassword([account, resetCode], way, t('shell.operatorsCodeText'));
    }

    /** @param {Input[]} inputs before the new password
     * @param {(values: Record<string, string>) => object} way what is sent, without the password
     * @param {string} explanation */
    function showNewPassword(inputs, way, explanation) {
        const secret = {
            ...password,
            name: 'new',
            autocomplete: 'new-password',
            check: passwordProblem,
            hint: t('notice.passwordHint'),
        };
        const set = (/** @type {Record<string, string>} */ { code, ...values }) =>
            chat.setPassword(/** @type {any} */ (way({ code: code.replace(/\s/g, ''), ...values })));
        show('shell.setPassword', [...inputs, secret], set, () => [back], 'shell.setPassword', explanation);
    }

    function showMailedCode() {
        show(
            'shell.mailedCode',
            [email],
            async ({ email }) => {
                await requestCode(chat.http, email);
                showCode(email);
            },
            () => [back],
            'shell.sendCode',
        );
    }

    function showRegisterByMail() {
        show(
            'shell.registerByMail',
            [name, email, ...invited()],
            async ({ name, email, ...rest }) => {
                await chat.register({ name, email, ...rest });
                forgetInvitation();
                showCode(email);
            },
            () => [back],
            'shell.sendCode',
        );
    }

    /** @param {string} email */
    function showCode(email) {
        const signIn = (/** @type {Record<string, string>} */ { code }) =>
            chat.signIn({ email, code: code.replace(/\s/g, '') });
        show('shell.enterCode', [code], signIn, () => [back], 'shell.continue', t('shell.codeSent', { email }));
    }

    /** The field for the code of an invitation, where accounts need one. A link may have brought the code. */
    function invited() {
        const value = invitationCode();
        const { registration = value ? 'invited' : 'open' } = chat.service.value ?? {};
        return registration === 'invited' ? [{ ...invitation, value }] : [];
    }

    /** The code is spent: the address must not offer it again. */
    function forgetInvitation() {
        if (invitationCode()) history.replaceState(null, '', '#/');
    }

    /** Shows a form in the place of the one before and focuses its first field.
     * @param {string} title
     * @param {Input[]} inputs
     * @param {(values: Record<string, string>) => Promise<void>} action
     * @param {Ways} ways as far as the service has them
     * @param {string} [submit] what the button says, if not the title
     * @param {string} [explanation]
     */
    function show(title, inputs, action, ways, submit = title, explanation) {
        const fields = inputs.map(({ label, ...input }) => field(label ?? t(`shell.${input.name}`), input));
        const heading = element('h1', {}, t(title));
        const made = form([heading, explanation && p('muted', explanation), ...fields], t(submit), action);
        made.ariaLabel = t(title);
        made.append(
            live(
                chat.service,
                (service) =>
                    ways(service).filter((way) => way !== false).map(([title, show]) =>
                        button(t(title), show, 'quiet')
                    ),
            ),
        );
        fill(place, made);
        made.querySelector('input')?.focus();
    }
}

/** Returns the field of a request for what a person calls their account: no username has an at sign.
 * @param {string} account
 * @returns {{email: string} | {username: string}}
 */
function named(account) {
    const name = account.trim();
    return name.includes('@') ? { email: name } : { username: name };
}

/** Returns what is wrong with a new username; an empty text if nothing is.
 * @param {string} text
 */
function usernameProblem(text) {
    return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text.trim()) ? '' : t('problem.field.username');
}

/** Returns what is wrong with a new password; an empty text if nothing is.
 * @param {string} text
 */
function passwordProblem(text) {
    return [...text].length >= 8 ? '' : t('problem.field.password');
}
