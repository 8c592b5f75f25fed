// What a visitor sees: signing in by password or by a mailed code, and creating an account. Only what the service has is
// offered.

import { requestCode } from '../../core/sign-in.js';
import { div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { field, form } from '../parts/controls.js';
import { live } from '../parts/live.js';
import { passwordProblem, usernameProblem } from '../parts/problem.js';

/** @typedef {import('../../core/types.js').Service} Service */
/** @typedef {[title: string, show: () => void]} Way to another form */
/** @typedef {(service: Service) => (Way | false)[]} Ways */

const required = true;
const name = { name: 'name', required, autocomplete: 'name', maxlength: 128 };
const email = { name: 'email', required, type: 'email', autocomplete: 'email' };
const username = { name: 'username', required, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
const password = { name: 'password', required, type: 'password', autocomplete: 'current-password' };
const code = { name: 'code', required, autocomplete: 'one-time-code', inputmode: 'numeric' };
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
    showSignIn();
    return element('main', { class: 'welcome' }, welcome, place);

    function showSignIn() {
        show(
            'shell.signIn',
            [username, password],
            ({ username, password }) => chat.signIn({ username: username.trim(), password }),
            ({ registration, mail }) => [
                registration !== 'closed' && ['shell.createAccount', showCreateAccount],
                mail && ['notice.forgotPassword', showMailedCode],
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
            ({ name, username, password, ...rest }) =>
                chat.register({ name, username: username.trim(), password, ...rest }),
            ({ mail }) => [back, mail && ['shell.registerByMail', showRegisterByMail]],
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

    /** The field for the code of an invitation, where accounts need one. */
    function invited() {
        return chat.service.value?.registration === 'invited' ? [invitation] : [];
    }

    /** Shows a form in the place of the one before and focuses its first field.
     * @param {string} title
     * @param {({name: string} & Record<string, unknown>)[]} inputs
     * @param {(values: Record<string, string>) => Promise<void>} action
     * @param {Ways} ways as far as the service has them
     * @param {string} [submit] what the button says, if not the title
     * @param {string} [explanation]
     */
    function show(title, inputs, action, ways, submit = title, explanation) {
        const fields = inputs.map((input) => field(t(`shell.${input.name}`), input));
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
