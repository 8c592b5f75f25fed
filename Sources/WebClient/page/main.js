// The entry: language and theme first, then the core, then the page.

import { Chat } from './core/chat.js';
import { direction, loadLanguage } from './language/index.js';
import { keepFileAccess } from './ui/parts/file-access.js';
import { App } from './ui/shell/app.js';
import { applyTheme } from './ui/shell/theme.js';
import './ui/conversation/conversation.js';

applyTheme();
document.documentElement.lang = await loadLanguage(navigator.languages);
document.documentElement.dir = direction();
const chat = new Chat();
keepFileAccess(chat);
document.body.append(new App(chat));
await chat.start();
