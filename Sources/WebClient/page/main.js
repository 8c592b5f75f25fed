// The entry: the theme first, then the language and the core at the same time, then the page.

import { Chat } from './core/chat.js';
import { direction, loadLanguage } from './language/index.js';
import { App } from './ui/shell/app.js';
import { applyTheme } from './ui/shell/theme.js';
import './ui/conversation/conversation.js';

applyTheme();
const chat = new Chat();
const started = chat.start();
keepFileAccess(chat);
document.documentElement.lang = await loadLanguage(navigator.languages);
document.documentElement.dir = direction();
document.body.append(new App(chat));
await started;

/** Renews the cookie when a file does not load, and loads the file again, once.
 * @param {Pick<import('./core/types.js').ChatShape, 'renewFileAccess'>} chat */
function keepFileAccess(chat) {
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
