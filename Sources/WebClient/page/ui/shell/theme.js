// The user's choices on this device. One of them is the colour scheme, which else is the system's.

/** @typedef {'system' | 'light' | 'dark'} Theme */

const key = 'parley-theme';

/** @returns {Theme} */
export function currentTheme() {
    const stored = read(key);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Stores the choice and applies it.
 * @param {Theme} theme
 */
export function setTheme(theme) {
    // Where the browser stores nothing, the choice holds until the page is closed.
    write(key, theme === 'system' ? '' : theme);
    applyTheme(theme);
}

/** Removes all choices that were made on this device: the theme, and those of the emoji. */
export function forgetChoices() {
    try {
        localStorage.clear();
    } catch {
        // The browser stores nothing.
    }
    applyTheme('system');
}

/** @param {Theme} theme */
export function applyTheme(theme = currentTheme()) {
    document.documentElement.dataset.theme = theme;
    // The browser's own bars follow `theme-color`. Each of the two is for one scheme of the system.
    const metas = document.querySelectorAll('meta[name="theme-color"]');
    metas.forEach((meta, index) => {
        const scheme = index === 0 ? 'light' : 'dark';
        const isChosen = theme === scheme ? 'all' : 'not all';
        meta.setAttribute('media', theme === 'system' ? `(prefers-color-scheme: ${scheme})` : isChosen);
    });
}

/** @param {string} key */
export function read(key) {
    try {
        return localStorage.getItem(key) ?? '';
    } catch {
        return '';
    }
}

/** @param {string} key @param {string} value empty: nothing is stored */
export function write(key, value) {
    try {
        if (value) localStorage.setItem(key, value);
        else localStorage.removeItem(key);
    } catch {
        // The browser stores nothing.
    }
}
