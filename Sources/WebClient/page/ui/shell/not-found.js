// The page of an address that nothing has, in the reader's language.

import { direction, loadLanguage, t } from '../../language/index.js';
import { applyTheme } from './theme.js';

applyTheme();
document.documentElement.lang = await loadLanguage(navigator.languages);
document.documentElement.dir = direction();
for (const [place, key] of [['h1', 'notice.noPage'], ['a', 'shell.back']]) {
    const shown = document.querySelector(place);
    if (shown) shown.textContent = t(key);
}
