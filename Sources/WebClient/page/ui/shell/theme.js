// The colour scheme: the system's, or the user's choice on this device.

/** @typedef {'system' | 'light' | 'dark'} Theme */

const key = 'parley-theme';

/** @returns {Theme} */
export function currentTheme() {
    const stored = read();
    return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Stores the choice and applies it.
 * @param {Theme} theme
 */
export function setTheme(theme) {
    try {
        if (theme === 'system') localStorage.removeItem(key);
        else localStorage.setItem(key, theme);
    } catch {
        // The browser stores nothing: the choice holds until the page is closed.
    }
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

function read() {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}
