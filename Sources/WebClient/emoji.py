#!/usr/bin/env python3
"""Writes page/emoji/*.json from Debian's packages unicode-data and unicode-cldr-core.

    apt-get install unicode-data unicode-cldr-core
    python3 Sources/WebClient/emoji.py [ROOT]        ROOT: where the packages are unpacked, default /

emoji.json has the emoji in groups, each group as one text with a space between emoji. "+" follows an emoji that has skin
tones. en.json, de.json and ar.json have one text for each emoji in the same order: the name, and after each "|" a word
to search for.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

GROUPS = {
    'Smileys & Emotion': 'smileys', 'People & Body': 'people', 'Animals & Nature': 'nature', 'Food & Drink': 'food',
    'Travel & Places': 'travel', 'Activities': 'activities', 'Objects': 'objects', 'Symbols': 'symbols', 'Flags': 'flags',
}
LANGUAGES = ['en', 'de', 'ar']
STYLE, TONES = '\ufe0f', [chr(code) for code in range(0x1F3FB, 0x1F400)]


def read_groups(path):
    """Returns the fully qualified emoji by group, and all emoji including those with skin tones."""
    groups, group, known = {}, None, set()
    for line in path.read_text().splitlines():
        if line.startswith('# group:'):
            group = GROUPS.get(line.removeprefix('# group:').strip())
        match = re.match(r'([0-9A-F ]+?)\s*; fully-qualified', line)
        if not match or not group:
            continue
        emoji = ''.join(chr(int(code, 16)) for code in match[1].split())
        known.add(emoji)
        if not any(tone in emoji for tone in TONES):
            groups.setdefault(group, []).append(emoji)
    return groups, known


def has_tones(emoji, known):
    """The page makes a skin tone as this does: the tone follows the first character, in place of the style."""
    return emoji[0] + TONES[0] + emoji[1:].removeprefix(STYLE) in known


def read_names(common, language):
    """Returns name and search words by emoji, both without the character that asks for emoji style."""
    names, words = {}, {}
    for folder in ['annotations', 'annotationsDerived']:
        for annotation in xml.parse(common / folder / f'{language}.xml').iter('annotation'):
            emoji, text = annotation.get('cp').replace(STYLE, ''), annotation.text.strip()
            if annotation.get('type') == 'tts':
                names[emoji] = text
            else:
                words[emoji] = [word.strip() for word in text.split('|')]
    return names, words


def write(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(',', ':')) + '\n')


def entry(names, words, emoji):
    """Returns the name and the search words that the name does not contain."""
    plain = emoji.replace(STYLE, '')
    name = names[plain]
    return '|'.join([name] + [word for word in words.get(plain, []) if word not in name])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '/') / 'usr/share/unicode'
    page = pathlib.Path(__file__).parent / 'page/emoji'
    texts = {language: read_names(root / 'cldr/common', language) for language in LANGUAGES}
    groups, known = read_groups(root / 'emoji/emoji-test.txt')
    # The newest emoji have no names yet, and few devices can draw them.
    groups = {
        group: [emoji for emoji in members if all(emoji.replace(STYLE, '') in names for names, _ in texts.values())]
        for group, members in groups.items()
    }
    marked = {
        group: ' '.join(emoji + ('+' if has_tones(emoji, known) else '') for emoji in members)
        for group, members in groups.items()
    }
    write(page / 'emoji.json', marked)
    for language, (names, words) in texts.items():
        entries = [entry(names, words, emoji) for members in groups.values() for emoji in members]
        write(page / f'{language}.json', entries)


main()
