// The texts fit together: plural forms, places for values, and every text that the page asks for. (rules.py compares
// the keys of the languages.)

import assert from 'node:assert/strict';
import { direction, formatFacts, formatSize, loadLanguage, t } from '../../Sources/WebClient/page/language/index.js';

/** @typedef {Record<string, string | Record<string, string>>} Texts */

const page = new URL('../../Sources/WebClient/page/', import.meta.url);

/** @param {string} language
 * @returns {Texts} */
function texts(language) {
    return JSON.parse(Deno.readTextFileSync(new URL(`language/${language}.json`, page)));
}

/** Returns all forms of a text.
 * @param {string | Record<string, string>} text
 */
function forms(text) {
    return typeof text === 'string' ? [text] : Object.values(text);
}

/** @param {string} form */
function places(form) {
    return [...form.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();
}

/** Returns the text of every module of the interface.
 * @param {URL} folder
 * @returns {string}
 */
function modules(folder) {
    return [...Deno.readDirSync(folder)].map(({ name, isDirectory }) => {
        if (isDirectory) return modules(new URL(`${name}/`, folder));
        return name.endsWith('.js') ? Deno.readTextFileSync(new URL(name, folder)) : '';
    }).join('\n');
}

const english = texts('en');

const others = [...Deno.readDirSync(new URL('language/', page))].map(({ name }) => name.split('.')[0])
    .filter((name) => name !== 'en' && name !== 'index');

for (const language of others) {
    Deno.test(`every text of ${language} has the places for values that en has`, () => {
        for (const [key, text] of Object.entries(texts(language))) {
            const allowed = places(forms(english[key]).at(-1) ?? '');
            for (const form of forms(text)) {
                // A plural form may say the number in words.
                const found = places(form).concat(
                    form.includes('{count}') ? [] : allowed.filter((x) => x === '{count}'),
                );
                if (form !== '') assert.deepEqual(found.sort(), allowed, `${key}: ${form}`);
            }
        }
    });

    Deno.test(`every plural of ${language} has the language's categories`, () => {
        const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
        for (const [key, text] of Object.entries(texts(language))) {
            if (typeof text === 'string') continue;
            assert.deepEqual(Object.keys(text).sort(), [...pluralCategories].sort(), key);
        }
    });
}

Deno.test('every text that the page asks for exists, and every text is asked for', () => {
    const source = ['ui/', 'emoji/', 'text/', 'language/'].map((folder) => modules(new URL(folder, page))).join('\n');
    const asked = new Set([...source.matchAll(/'([a-z]+\.[\w.]+)'/gi)].map(([, key]) => key));
    const patterns = [...source.matchAll(/`([a-z]+\.[\w.$\{\}#]*\$\{[^`]*)`/g)].map(([, template]) =>
        new RegExp(`^${template.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[\\w.-]+')}$`)
    );
    const prefixes = new Set(Object.keys(english).map((key) => key.split('.')[0]));
    const missing = [...asked].filter((key) => prefixes.has(key.split('.')[0]) && !(key in english));
    assert.deepEqual(missing.filter((key) => !key.endsWith('.js')), []);
    const unused = Object.keys(english).filter((key) => !asked.has(key) && !patterns.some((each) => each.test(key)));
    assert.deepEqual(unused, []);
});

Deno.test('no text is built from pieces: languages order words in their own ways', () => {
    const source = ['ui/', 'emoji/', 'text/'].map((folder) => modules(new URL(folder, page))).join('\n');
    const pieces = source.split('\n').filter((line) => /\$\{t\(|\bt\([^()]*\) \+|\+ t\(/.test(line));
    assert.deepEqual(pieces, []);
    // A text that ends in the middle of a sentence would be a piece of one.
    const open = Object.entries(english).filter(([, text]) => forms(text).some((form) => /^\s|[\s,]$/.test(form)));
    assert.deepEqual(open, []);
});

Deno.test('texts of people are not joined by hand', async () => {
    await loadLanguage(['ar']);
    assert.equal(formatFacts(['Ann', false, '', '10:39']), 'Ann، 10:39');
    await loadLanguage(['en']);
    assert.equal(formatFacts(['Ann', null, '3 unread', '10:39']), 'Ann, 3 unread, 10:39');
    assert.equal(formatFacts([]), '');
});

Deno.test('the first known language of the browser is used, else English', async () => {
    assert.equal(await loadLanguage(['nl-NL', 'de-AT', 'en']), 'de');
    assert.equal(t('inbox.unreadCount', { count: 3 }), '3 ungelesen');
    assert.equal(await loadLanguage(['nl']), 'en');
    assert.equal(t('inbox.unreadCount', { count: 3 }), '3 unread');
    assert.equal(direction(), 'ltr');
});

Deno.test('a language is one file: French is known by its own', async () => {
    assert.equal(await loadLanguage(['fr-CA']), 'fr');
    assert.equal(t('inbox.members', { count: 2 }), '2 membres');
    assert.equal(direction(), 'ltr');
    const files = [...Deno.readDirSync(new URL('emoji/', page))].map(({ name }) => name);
    assert.ok(!files.includes('fr.json'), 'emoji without French names have English ones');
});

Deno.test('Arabic runs from right to left, has six plural forms and isolates names', async () => {
    assert.equal(await loadLanguage(['ar']), 'ar');
    assert.equal(direction(), 'rtl');
    assert.equal(t('inbox.members', { count: 2 }), 'عضوان');
    assert.notEqual(t('inbox.members', { count: 3 }), t('inbox.members', { count: 11 }));
    assert.ok(t('shell.invitedBy', { name: 'Ann' }).includes('\u2068Ann\u2069'));
});

Deno.test('an unknown key shows itself, and an unknown place stays', async () => {
    await loadLanguage(['en']);
    assert.equal(t('no.such.text'), 'no.such.text');
    assert.equal(t('inbox.from', { name: 'Ann' }), 'Ann: {text}');
});

Deno.test('sizes have a unit', async () => {
    await loadLanguage(['en']);
    assert.equal(formatSize(1_400_000), '1.4 MB');
    assert.equal(formatSize(900), '900 bytes');
});
