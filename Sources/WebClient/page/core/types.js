// The shapes that the core shares with the user interface. Keys of JSON objects are those of the HTTP contract.

/** @typedef {{id: string, username?: string | null, name: string, profile_image: string | null, status_text?: string | null, custom?: Record<string, unknown> | null, presence?: 'online' | 'offline' | null, last_seen_at?: string | null, kind?: 'bot'}} Person */

/** @typedef {'all' | 'mentions' | 'none'} Notify */

/** The caller's part in a thread.
 * @typedef {object} OwnMembership
 * @property {'owner' | 'admin' | 'member'} role
 * @property {'invited' | 'joined' | 'left' | 'removed'} status
 * @property {number} read_seq
 * @property {number} delivered_seq
 * @property {string | null} muted_until
 * @property {boolean} archived
 * @property {boolean} pinned
 * @property {Notify} notify what the user is notified of
 * @property {number} hidden_before_seq
 * @property {Record<string, unknown> | null} [custom]
 * @property {string[]} [labels]
 * @property {Person | null} [invited_by]
 */

/** How long a thread keeps messages.
 * @typedef {{keep: 'forever' | 'until_delivered'} | {keep: 'seconds', seconds: number}} Retention
 */

/** A room as GET /v1/rooms returns it.
 * @typedef {{id: string, title: string, topic?: string | null, image?: string | null, member_count: number}} Room */

/** A thread as GET /v1/inbox returns it.
 * @typedef {object} Thread
 * @property {string} id
 * @property {'direct' | 'group' | 'room'} kind
 * @property {string | null} [external_id]
 * @property {Record<string, unknown> | null} [custom]
 * @property {string[]} [labels]
 * @property {string | null} title
 * @property {string | null} [topic] what a group or room is about
 * @property {string | null} image
 * @property {Retention} [retention]
 * @property {Person | null} [peer] of a direct thread
 * @property {number} member_count
 * @property {Message | null} [last_message]
 * @property {number} unread_count
 * @property {number} mention_count
 * @property {string} last_activity_at
 * @property {number} head
 * @property {OwnMembership} me
 */

/** @typedef {{id: string, name?: string, content_type?: string, size?: number, width?: number, height?: number, thumbhash?: string, thumbnail?: boolean}} Attachment */

/** @typedef {{text?: string, attachments?: Attachment[], latitude?: number, longitude?: number, accuracy_m?: number, label?: string, ciphertext?: string, [key: string]: unknown}} Payload */

/** A message as the contract returns it.
 * @typedef {object} Message
 * @property {string} id
 * @property {string} thread_id
 * @property {number} seq
 * @property {string} timestamp
 * @property {string} type `message`, `location`, `encrypted`, `system` or `x-…`
 * @property {Person | null} sender
 * @property {Payload | null} payload null once deleted, expired or delivered
 * @property {string | null} reply_to
 * @property {string[]} mentions
 * @property {Record<string, {count: number, me?: boolean}>} reactions
 * @property {string | null} edited_at
 * @property {string | null} deleted_at
 * @property {string | null} expires_at
 */

/** @typedef {{user: Person, role: 'owner' | 'admin' | 'member', status: 'invited' | 'joined' | 'left' | 'removed', read_seq: number, delivered_seq: number, read_at: string | null, delivered_at: string | null, joined_at: string | null}} Member */

/** @typedef {{id: string, token: string, device_name: string | null, user: Person}} Session */

/** @typedef {{id: string, device_name: string | null, created_at: string, last_used_at: string, current?: boolean}} Device */

/** @typedef {'connected' | 'connecting' | 'offline'} Connection */

/** A value that changes. `value` is undefined until it is known.
 * @template T
 * @typedef {object} Live
 * @property {T | undefined} value
 * @property {(handler: (value: T) => void) => () => void} subscribe calls the handler at once if the value is known,
 * then after each change, at most once a microtask. Returns the function that ends it.
 */

/** @typedef {{threads: Thread[], unreadTotal: number}} Inbox threads newest activity first, archived ones included */

/** A row of a timeline.
 * @typedef {object} Row
 * @property {string} key the message's id: it stays the same from the outbox to the log
 * @property {Message} message of a row that is not stored yet: `seq` 0, `timestamp` of the client
 * @property {'stored' | 'sending' | 'pending' | 'failed'} state pending: it waits for a moderator
 * @property {Refusal} [problem] why it failed
 * @property {OutgoingFile[]} files of a row that is not stored yet
 */

/** @typedef {{id: string, name: string, type: string, size: number, sent: number, file: Blob | null}} OutgoingFile */

/** The loaded part of a thread: dense in seq, oldest first, then what is being sent.
 * @typedef {object} TimelineView
 * @property {Row[]} rows at most 200 stored ones
 * @property {boolean} atStart no older message exists
 * @property {boolean} atEnd the newest message is in `rows`
 * @property {number | null} firstUnread seq of the first unread message when the timeline was opened: the place of the
 * divider; null if nothing was unread
 * @property {boolean} isLoading
 */

/** @typedef {object} Timeline
 * @property {Live<TimelineView>} view
 * @property {() => Promise<void>} loadOlder adds 50 rows above and drops rows below beyond 200
 * @property {() => Promise<void>} loadNewer
 * @property {(place: {seq: number} | {id: string} | 'newest') => Promise<void>} goTo loads the rows around a place
 * @property {() => void} close
 */

/** @typedef {{text: string, replyTo: Message | null, fileIDs: string[]}} Draft */

/** A file that goes with a draft. @typedef {{id: string, file: File}} DraftFile */

/** What a problem document says. @typedef {{code: string, detail: string, errors: {field: string, detail: string}[]}} Refusal */

/** What is sent. `attachments` are files that the server has already, of a message that is forwarded.
 * @typedef {{text: string, files?: File[], attachments?: Attachment[], replyTo?: Message | null, mentions?: string[], location?: {latitude: number, longitude: number, accuracy_m?: number, label?: string}}} Outgoing
 */

/** What the service offers: GET /v1/service.
 * @typedef {object} Service
 * @property {string} name
 * @property {string} version
 * @property {'open' | 'invited' | 'closed'} registration
 * @property {('password' | 'code' | 'token')[]} sign_in
 * @property {boolean} mail
 * @property {{apns: boolean, fcm: boolean, webpush: boolean}} push
 * @property {boolean} edit_history
 * @property {{text_bytes: number, payload_bytes: number, attachment_bytes: number, attachments_per_message: number,
 * title_characters: number}} limits
 */

/** A refusal of the server, or a connection that failed.
 * @typedef {object} ProblemShape
 * @property {number} status 0: no answer
 * @property {string} code
 * @property {string} detail
 * @property {{field: string, detail: string}[]} errors
 */

/** What the user interface may ask of the core, besides the functions of `core/requests.js`. `core/chat.js` exports the class
 * `Chat` that implements it, and
 * `core/http/problem.js` the error class `Problem` (a ProblemShape) that its promises reject with.
 * @typedef {object} ChatShape
 * @property {() => Promise<void>} start opens the store, joins the other tabs, syncs if signed in
 * @property {(error: unknown) => void} onfailure is called with an error of the browser's store, if it keeps events from
 * being stored, and with a refusal of something that was sent later
 * @property {(messages: Message[]) => void} onunseen is called in the leading tab with messages that arrived while no tab can
 * be seen
 * @property {Live<Service>} service unknown until the service has answered once in this browser
 * @property {'user' | 'server' | null} endedBy what ended the last session
 * @property {Live<Session | null>} session null: signed out
 * @property {Live<Connection>} connection
 * @property {import('./http/http.js').HTTP} http sends requests with the session's token: core/requests.js
 * @property {Live<Inbox>} inbox
 * @property {Live<Person & {preferences?: {push?: string, share_presence?: boolean}}>} me
 * @property {(threadID: string) => Live<Thread | null>} thread null: not the caller's (any more)
 * @property {(threadID: string) => Live<Member[]>} members loaded when first subscribed, then kept by events
 * @property {(threadID: string) => Live<Person[]>} typing who is typing, the caller excluded; each for 6 s
 * @property {(userID: string) => Live<{presence: string | null, last_seen_at: string | null}>} presence
 * @property {(threadID: string) => Timeline} openTimeline opens at the first unread message, else at the newest
 * @property {(threadID: string) => Live<Draft>} draft
 * @property {(threadID: string, draft: {text: string, replyTo: Message | null}) => void} setDraft leaves the draft's files
 * @property {(threadID: string, files: DraftFile[]) => Promise<void>} setDraftFiles
 * @property {(threadID: string) => Promise<DraftFile[]>} draftFiles
 * @property {() => Promise<{messages: number, drafts: number}>} unsent what only this browser has
 * @property {(query: string, threadID?: string) => Promise<{message: Message, excerpt: string}[]>} searchStored searches the
 * messages that are stored on this device
 * @property {(way: {username: string, password: string} | {email: string, password: string} | {email: string, code: string}) => Promise<void>} signIn
 * @property {(way: ({username: string} | {email: string}) & {code: string, new: string}) => Promise<void>} setPassword sets a
 * forgotten password by a code, and signs in
 * @property {(account: {name: string, username: string, password: string, invitation?: string} | {name: string, email: string, invitation?: string}) => Promise<void>} register
 * @property {() => Promise<void>} signOut ends the session and removes everything that the browser has stored
 * @property {(threadID: string, message: Outgoing) => Promise<string>} send returns the message's id once it is in the outbox
 * @property {(messageID: string) => Promise<void>} retry
 * @property {(messageID: string) => Promise<void>} discard also cancels a message that is being sent
 * @property {(threadID: string, messageID: string) => Promise<Message | null>} message one message, such as the original
 * of a reply: from the store, else from the server; null if it does not exist for the caller
 * @property {(message: Message, text: string) => Promise<boolean>} edit false: a moderator must approve the edit first
 * @property {(message: Message, emoji: string, isPut: boolean) => Promise<void>} react
 * @property {(threadID: string, seq: number) => void} markRead the message has been in view; calls are combined
 * @property {(threadID: string, seq: number) => Promise<void>} markUnread
 * @property {(threadID: string) => void} reportTyping one request each 4 s at most
 * @property {Live<Person[]>} blocks
 * @property {(request: () => Promise<Thread>) => Promise<Thread>} storeThread makes a call that returns a thread, and stores it
 * @property {(userID: string) => Promise<void>} block
 * @property {(userID: string) => Promise<void>} unblock
 * @property {(messages: 'keep' | 'erase') => Promise<void>} eraseAccount
 * @property {Live<'unsupported' | 'off' | 'on' | 'denied'>} push
 * @property {() => Promise<void>} enablePush
 * @property {() => Promise<void>} disablePush
 * @property {(attachmentID: string, variant: 'original' | 'thumbnail') => string} fileURL a same-origin address; the media cookie opens it
 * @property {() => Promise<void>} renewFileAccess renews the media cookie, when a file answers 401
 */

export {};
