// When a finger pulls a message, and when it scrolls.

import { assertSame } from './assertions.js';
import { pull } from '../../Sources/WebClient/page/ui/message/swipe.js';

Deno.test('a message follows a finger along the line, up to a bound, and not a finger that scrolls', () => {
    assertSame([pull(5, 0), pull(12, 0), pull(30, 0), pull(500, 3)], [0, 0, 30, 72], 'pulls');
    assertSame([pull(30, 16), pull(30, -16), pull(30, 14), pull(-40, 0)], [0, 0, 30, 0], 'pulls');
});
