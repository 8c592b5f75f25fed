// The entry: the theme first, then the language and the core at the same time, then the page.

import { Chat } from './core/chat.js';
import { direction, loadLanguage } from './language/index.js';
import { keepFileAccess } from './ui/parts/file-access.js';
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
