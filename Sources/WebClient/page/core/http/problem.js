// Refusals of the server, as errors.

/** A refusal of the server (RFC 9457), or a request that got no answer (`status` 0, `code` `no_answer`). */
export class Problem extends Error {
    /** @param {{status: number, code: string, detail: string, errors?: {field: string, detail: string}[],
     * retryAfter?: number | null, body?: any, headers?: Headers | null}} facts */
    constructor(facts) {
        super(facts.detail);
        this.name = 'Problem';
        this.status = facts.status;
        this.code = facts.code;
        this.detail = facts.detail;
        this.errors = facts.errors ?? [];
        /** Seconds of `Retry-After`. */
        this.retryAfter = facts.retryAfter ?? null;
        /** The whole problem document. @type {any} */
        this.body = facts.body ?? null;
        this.headers = facts.headers ?? null;
    }

    /** Whether the same request may succeed later: no answer, too many requests, or a server in trouble. */
    get isTemporary() {
        return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
    }

    /** The session has ended. */
    get isSignedOut() {
        return this.status === 401 && (this.code === 'invalid_token' || this.code === 'unauthenticated');
    }

    static noAnswer() {
        return new Problem({
            status: 0,
            code: 'no_answer',
            detail: 'The server does not answer. Check the connection.',
        });
    }

    /** Reads a refusal. A proxy's answer may be no problem document.
     * @param {Response} response */
    static async of(response) {
        const body = await response.json().catch(() => null);
        const wait = Number(response.headers.get('Retry-After') ?? NaN);
        return new Problem({
            status: response.status,
            code: typeof body?.code === 'string' ? body.code : 'http_' + response.status,
            detail: typeof body?.detail === 'string' ? body.detail : `The server answered ${response.status}.`,
            errors: Array.isArray(body?.errors) ? body.errors : [],
            retryAfter: Number.isFinite(wait) ? Math.max(0, wait) : null,
            body,
            headers: response.headers,
        });
    }
}

/** Returns the error as a Problem; any other error becomes one with status 0.
 * @param {unknown} error */
export function problemOf(error) {
    return error instanceof Problem ? error : Problem.noAnswer();
}
