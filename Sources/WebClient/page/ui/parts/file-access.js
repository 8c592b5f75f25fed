// Pictures that the browser may not load yet: the cookie that opens files ends with the browser, the session does not.

/** Renews the cookie when a file does not load, and loads the file again, once.
 * @param {Pick<import('../../core/types.js').ChatShape, 'renewFileAccess'>} chat */
export function keepFileAccess(chat) {
    document.addEventListener('error', async (event) => {
        const file = event.target;
        if (!(file instanceof HTMLImageElement || file instanceof HTMLMediaElement)) return;
        if (!file.getAttribute('src')?.startsWith('/v1/attachments/') || 'isAgain' in file.dataset) return;
        // The element's own listeners receive the second failure only.
        event.stopPropagation();
        file.dataset.isAgain = '';
        await chat.renewFileAccess().catch(() => {});
        file.src = file.getAttribute('src') ?? '';
    }, { capture: true });
}
