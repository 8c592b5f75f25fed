// The address of a place in the page, kept in `location.hash`: `#/`, `#/t/THREAD`, `#/t/THREAD/m/MESSAGE`,
// `#/invite/CODE`.

/** @typedef {{threadID: string | null, messageID: string | null}} Route */

/** @returns {Route} */
export function currentRoute() {
    const [, threadID = null, messageID = null] = location.hash.match(/^#\/t\/([\w-]+)(?:\/m\/([\w-]+))?$/) ?? [];
    return { threadID, messageID };
}

/** Returns the code of a link that invites to create an account; an empty text without one. */
export function invitationCode() {
    return location.hash.match(/^#\/invite\/([\w-]+)$/)?.[1] ?? '';
}

/** Returns the `href` of a thread, or of a message in it.
 * @param {string} threadID
 * @param {string} [messageID]
 */
export function threadAddress(threadID, messageID) {
    return `#/t/${threadID}${messageID ? `/m/${messageID}` : ''}`;
}

/** Goes to an address. The page shows it before this returns, also if it is the present one.
 * @param {string} address
 */
export function goTo(address) {
    if (location.hash !== address) history.pushState(null, '', address);
    dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Opens a thread and moves the focus to the text of a new message.
 * @param {string} threadID
 */
export function writeIn(threadID) {
    goTo(threadAddress(threadID));
    focusComposer();
}

/** Moves the focus to the text of a new message in the open thread. */
export function focusComposer() {
    /** @type {import('./app.js').Conversation | null} */ (document.querySelector('parley-conversation'))
        ?.focusComposer();
}

/** Goes back to the inbox. */
export function closeThread() {
    goTo('#/');
}

/** Calls `handler` now and after each change of the address, also for a link to the present one.
 * @param {(route: Route) => void} handler
 */
export function followRoute(handler) {
    addEventListener('hashchange', () => handler(currentRoute()));
    addEventListener('click', ({ target }) => {
        const link = target instanceof Element && target.closest('a');
        if (link && link.hash && link.hash === location.hash) handler(currentRoute());
    });
    handler(currentRoute());
}
