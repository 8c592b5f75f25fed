// What the user chose on this device. shell/theme.js removes it when the user signs out.

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
