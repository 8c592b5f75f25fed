-- Made by `make schema` from the migrations; a test compares.
CREATE TABLE public.users (
    id uuid NOT NULL,
    username text,
    username_key text,
    name text NOT NULL,
    profile_image text,
    status_text text,
    preferences json DEFAULT '{}'::json NOT NULL,
    password_hash text,
    created_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone,
    email text,
    email_key text,
    external_id text,
    custom text,
    erased_at timestamp with time zone,
    suspended_at timestamp with time zone,
    is_bot boolean
);
CREATE TABLE public.messages (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    sender_id uuid,
    type text NOT NULL,
    payload json,
    reply_to uuid,
    mentions uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    edited_at timestamp with time zone,
    deleted_at timestamp with time zone,
    expires_at timestamp with time zone,
    pos bigint NOT NULL,
    reacted boolean,
    until_delivered boolean,
    counts boolean
);
CREATE TABLE public.admin_keys (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    token_digest bytea NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL
);
CREATE TABLE public.attachments (
    id uuid NOT NULL,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    declared_type text,
    state smallint DEFAULT 0 NOT NULL,
    received bigint DEFAULT 0 NOT NULL,
    received_at timestamp with time zone NOT NULL,
    length bigint,
    unused_s integer NOT NULL,
    due_at timestamp with time zone,
    claim bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    checks smallint DEFAULT 0 NOT NULL,
    stored_bytes bigint DEFAULT 0 NOT NULL,
    uploaded_digest bytea,
    media_type text,
    size bigint,
    digest bytea,
    width integer,
    height integer,
    thumbhash bytea,
    thumbnail_type text,
    thumbnail_size integer,
    thumbnail_digest bytea,
    thumbnail_is_own boolean DEFAULT false NOT NULL,
    is_moved boolean DEFAULT false NOT NULL,
    thumbnail_is_moved boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT attachments_check CHECK (((media_type IS NOT NULL) OR (state <> ALL (ARRAY[2, 5])))),
    CONSTRAINT attachments_state_check CHECK (((state >= 0) AND (state <= 5)))
)
WITH (fillfactor='70');
CREATE TABLE public.members (
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    status text NOT NULL,
    joined_at timestamp with time zone,
    read_seq bigint DEFAULT 0 NOT NULL,
    read_at timestamp with time zone,
    delivered_seq bigint DEFAULT 0 NOT NULL,
    delivered_at timestamp with time zone,
    muted_until timestamp with time zone,
    archived boolean DEFAULT false NOT NULL,
    pinned boolean DEFAULT false NOT NULL,
    hidden_before_seq bigint DEFAULT 0 NOT NULL,
    invited_at timestamp with time zone,
    invited_by uuid,
    hides boolean DEFAULT false NOT NULL,
    back_to_seq bigint,
    back_from_seq bigint,
    blocked boolean,
    blocks boolean,
    left_by_choice boolean,
    is_bot boolean,
    notify text,
    custom text,
    labels text[],
    CONSTRAINT members_notify_check CHECK ((notify = ANY (ARRAY['mentions'::text, 'none'::text]))),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))),
    CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['invited'::text, 'joined'::text, 'left'::text, 'removed'::text])))
)
WITH (fillfactor='80');
CREATE TABLE public.threads (
    id uuid NOT NULL,
    kind text NOT NULL,
    title text,
    topic text,
    image text,
    created_at timestamp with time zone NOT NULL,
    member_count integer DEFAULT 0 NOT NULL,
    direct_low uuid,
    direct_high uuid,
    room_key text COLLATE pg_catalog."C",
    external_id text,
    custom text,
    labels text[],
    keep_s integer,
    has_archived boolean,
    CONSTRAINT threads_check CHECK (((kind = 'direct'::text) = ((direct_low IS NOT NULL) AND (direct_high IS NOT NULL)))),
    CONSTRAINT threads_check1 CHECK (((kind = 'room'::text) = (room_key IS NOT NULL))),
    CONSTRAINT threads_keep_s_check CHECK ((keep_s >= 0)),
    CONSTRAINT threads_kind_check CHECK ((kind = ANY (ARRAY['direct'::text, 'group'::text, 'room'::text])))
);
CREATE TABLE public.message_edits (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    version integer NOT NULL,
    payload json,
    replaced_at timestamp with time zone NOT NULL,
    pos bigint NOT NULL
);
CREATE TABLE public.attachment_uses (
    attachment_id uuid NOT NULL,
    kind text NOT NULL,
    holder_id uuid NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    is_current boolean DEFAULT true NOT NULL,
    is_transient boolean DEFAULT false NOT NULL,
    CONSTRAINT attachment_uses_kind_check CHECK ((kind = ANY (ARRAY['message'::text, 'thread'::text, 'profile'::text, 'review'::text, 'held'::text])))
);
CREATE TABLE public.commands (
    id uuid NOT NULL,
    word text NOT NULL,
    url text NOT NULL,
    description text,
    thread_id uuid,
    user_id uuid NOT NULL,
    secret bytea NOT NULL,
    former_secret bytea,
    former_until timestamp with time zone,
    is_enabled boolean DEFAULT true NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    since_pos bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT commands_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'admin'::text]))),
    CONSTRAINT commands_secret_check CHECK ((octet_length(secret) = 32))
);
CREATE TABLE public.change_consumers (
    id uuid NOT NULL,
    name text NOT NULL,
    epoch integer NOT NULL,
    pos bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    moved_at timestamp with time zone NOT NULL
);
CREATE TABLE public.erasure_threads (
    user_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    step text DEFAULT 'leave'::text NOT NULL,
    seq bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.held_contents (
    n bigint NOT NULL,
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    version integer NOT NULL,
    message_id uuid NOT NULL,
    sender_id uuid,
    type text NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    payload json NOT NULL,
    removal text NOT NULL,
    removed_at timestamp with time zone NOT NULL,
    CONSTRAINT held_contents_removal_check CHECK ((removal = ANY (ARRAY['edited'::text, 'deleted'::text, 'expired'::text, 'erased'::text])))
);
CREATE TABLE public.holds (
    id uuid NOT NULL,
    name text NOT NULL,
    reason text,
    user_id uuid,
    thread_id uuid,
    created_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    walked bigint DEFAULT 0 NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT holds_check CHECK (((user_id IS NULL) <> (thread_id IS NULL)))
);
CREATE TABLE public.reports (
    id uuid NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    reporter_id uuid,
    reason text,
    user_id uuid,
    thread_id uuid,
    message_id uuid,
    seq bigint,
    sent_at timestamp with time zone,
    edited_at timestamp with time zone,
    type text,
    payload json,
    CONSTRAINT reports_state_check CHECK ((state = ANY (ARRAY['open'::text, 'resolved'::text, 'dismissed'::text])))
);
CREATE TABLE public.hooks (
    id uuid NOT NULL,
    token_digest bytea NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.idempotency_keys (
    created_at timestamp with time zone NOT NULL,
    caller_id uuid NOT NULL,
    thread_id uuid,
    message_id uuid,
    status integer,
    key text NOT NULL COLLATE pg_catalog."C",
    request bytea NOT NULL,
    body text
);
CREATE TABLE public.imports (
    id uuid NOT NULL,
    digest bytea,
    bytes bigint DEFAULT 0 NOT NULL,
    lines bigint DEFAULT 0 NOT NULL,
    is_complete boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    touched_at timestamp with time zone NOT NULL,
    CONSTRAINT imports_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE TABLE public.invitations (
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    delete_at timestamp with time zone,
    uses_left integer NOT NULL,
    id uuid NOT NULL,
    code_digest bytea NOT NULL,
    CONSTRAINT invitations_uses_left_check CHECK ((uses_left >= 0))
);
CREATE TABLE public.mail_codes (
    email_key text NOT NULL,
    counted_from timestamp with time zone NOT NULL,
    asked integer NOT NULL,
    failed integer NOT NULL,
    name text,
    words text[],
    device_name text,
    code_hash text,
    code_email text,
    code_expires_at timestamp with time zone,
    code_tries integer DEFAULT 0 NOT NULL,
    registered_at timestamp with time zone,
    first_hash text,
    first_email text,
    first_expires_at timestamp with time zone,
    first_tries integer DEFAULT 0 NOT NULL,
    invitation_id uuid
)
WITH (fillfactor='80');
CREATE TABLE public.mails (
    id uuid NOT NULL,
    email_key text NOT NULL,
    email text NOT NULL,
    kind text DEFAULT 'code'::text NOT NULL,
    user_id uuid,
    asked_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempt integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.outbox_failures (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    other_id uuid,
    message_id uuid,
    attachments uuid[],
    payload json,
    at timestamp with time zone NOT NULL,
    failed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    code text NOT NULL,
    detail text NOT NULL
);
CREATE TABLE public.policy_verdicts (
    sender_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    is_edit boolean NOT NULL,
    digest bytea NOT NULL,
    action text NOT NULL,
    code text,
    detail text,
    payload json,
    attachments uuid[],
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT policy_verdicts_action_check CHECK ((action = ANY (ARRAY['allow'::text, 'deny'::text, 'rewrite'::text, 'review'::text])))
);
CREATE TABLE public.push_jobs (
    session_id uuid NOT NULL,
    pos bigint NOT NULL,
    id uuid NOT NULL,
    platform text NOT NULL,
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempt integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE public.push_state (
    epoch integer NOT NULL,
    pos bigint NOT NULL,
    upto_pos bigint,
    thread_id uuid,
    user_id uuid,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT push_state_is_only_check CHECK (is_only)
)
WITH (fillfactor='50');
CREATE TABLE public.reviews (
    id uuid NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    sender_id uuid NOT NULL,
    is_edit boolean NOT NULL,
    type text NOT NULL,
    payload json,
    attachments uuid[] NOT NULL,
    reply_to uuid,
    mentions uuid[] NOT NULL,
    expires_s integer,
    base_at timestamp with time zone,
    code text,
    detail text,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT reviews_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'refused'::text])))
);
CREATE TABLE public.search_state (
    config text NOT NULL,
    pos bigint NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT search_state_is_only_check CHECK (is_only)
)
WITH (fillfactor='50');
CREATE TABLE public.sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_digest bytea NOT NULL,
    device_name text,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);
CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    types text[],
    is_thin boolean NOT NULL,
    is_ordered boolean NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    secret bytea NOT NULL,
    former_secret bytea,
    former_until timestamp with time zone,
    revision integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT webhooks_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'admin'::text]))),
    CONSTRAINT webhooks_secret_check CHECK ((octet_length(secret) = 32))
);
CREATE TABLE public.announcements (
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    after_id uuid,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.attachment_chunks (
    attachment_id uuid NOT NULL,
    variant smallint NOT NULL,
    n integer NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT attachment_chunks_data_check CHECK ((octet_length(data) <= 262144))
)
WITH (toast.autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY public.attachment_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE SEQUENCE public.attachment_claims
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.attachment_garbage (
    key text NOT NULL,
    next_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.attachment_place (
    is_store boolean DEFAULT true NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT attachment_place_is_only_check CHECK (is_only)
);
CREATE TABLE public.attachment_receipts (
    attachment_id uuid NOT NULL,
    session_id uuid NOT NULL,
    user_id uuid NOT NULL
);
CREATE TABLE public.audit (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    user_id uuid,
    thread_id uuid,
    message_id uuid,
    request_id text,
    subject text,
    key_id uuid
);
CREATE TABLE public.blocks (
    user_id uuid NOT NULL,
    blocked_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.command_lock (
);
CREATE TABLE public.command_runs (
    command_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    user_id uuid NOT NULL,
    event_id text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    is_running boolean DEFAULT false NOT NULL,
    claim integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    is_refused boolean DEFAULT false NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.command_state (
    epoch integer NOT NULL,
    pos bigint NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT command_state_is_only_check CHECK (is_only)
)
WITH (fillfactor='50');
CREATE TABLE public.device_marks (
    session_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    pos bigint NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE public.device_polls (
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    node text NOT NULL,
    from_pos bigint NOT NULL
);
CREATE TABLE public.direct_aliases (
    id uuid NOT NULL,
    thread_id uuid NOT NULL
);
CREATE TABLE public.email_notices (
    at timestamp with time zone NOT NULL,
    email_key text NOT NULL
);
CREATE TABLE public.email_wishes (
    asked_at timestamp with time zone NOT NULL,
    user_id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL
);
CREATE TABLE public.erasures (
    user_id uuid NOT NULL,
    erases_messages boolean NOT NULL,
    pos bigint DEFAULT 0 NOT NULL,
    walks boolean DEFAULT false NOT NULL
);
CREATE TABLE public.events (
    pos bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    seq bigint,
    withdraws bigint,
    expires_at timestamp with time zone,
    thread_id uuid,
    user_id uuid,
    actor_id uuid,
    session_id uuid,
    message_id uuid,
    reply_to uuid,
    type text NOT NULL,
    message_type text,
    name text,
    image text,
    body text NOT NULL,
    mentions uuid[],
    begins uuid[],
    ends uuid[],
    until_delivered boolean,
    is_silent boolean,
    is_change boolean
)
PARTITION BY RANGE (pos);
CREATE TABLE public.export_keys (
    seed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT export_keys_is_only_check CHECK (is_only),
    CONSTRAINT export_keys_seed_check CHECK ((octet_length(seed) = 32))
);
CREATE TABLE public.guest_threads (
    user_id uuid NOT NULL,
    thread_id uuid NOT NULL
);
ALTER TABLE public.held_contents ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.held_contents_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.held_users (
    user_id uuid NOT NULL,
    username text,
    name text NOT NULL,
    external_id text
);
CREATE TABLE public.hold_lock (
);
CREATE TABLE public.import_attachments (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    id uuid NOT NULL,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    declared_type text,
    thumbnail_type text,
    thumbnail_size integer,
    thumbnail_digest bytea,
    thumbnail_is_own boolean NOT NULL,
    media_type text,
    size bigint NOT NULL,
    digest bytea NOT NULL,
    width integer,
    height integer,
    thumbhash bytea,
    created_at timestamp with time zone NOT NULL,
    uploaded_digest bytea
);
CREATE TABLE public.import_blocks (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    user_id uuid NOT NULL,
    blocked_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.import_chunks (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    attachment_id uuid NOT NULL,
    variant smallint NOT NULL,
    n integer NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.import_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE public.import_hides (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    message_id uuid NOT NULL
);
CREATE TABLE public.import_members (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    status text NOT NULL,
    joined_at timestamp with time zone,
    invited_at timestamp with time zone,
    invited_by uuid,
    read_seq bigint,
    read_at timestamp with time zone,
    delivered_seq bigint,
    delivered_at timestamp with time zone,
    muted_until timestamp with time zone,
    archived boolean NOT NULL,
    pinned boolean NOT NULL,
    hidden_before_seq bigint NOT NULL,
    left_by_choice boolean,
    notify text,
    custom text,
    labels text[]
);
CREATE TABLE public.import_messages (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    seq bigint,
    id uuid NOT NULL,
    sender_id uuid,
    type text NOT NULL,
    payload json,
    attachments uuid[],
    reply_to uuid,
    mentions uuid[],
    created_at timestamp with time zone NOT NULL,
    edited_at timestamp with time zone,
    deleted_at timestamp with time zone,
    expires_at timestamp with time zone
);
CREATE TABLE public.import_reactions (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    user_id uuid NOT NULL,
    emoji text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.import_receipts (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.import_threads (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    title text,
    topic text,
    room_key text,
    external_id text,
    image text,
    custom text,
    labels text[],
    keep_s integer,
    direct_low uuid,
    direct_high uuid,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.import_users (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    id uuid NOT NULL,
    username text,
    username_key text,
    name text NOT NULL,
    words text[] NOT NULL,
    profile_image text,
    status_text text,
    email text,
    email_key text,
    external_id text,
    is_bot boolean,
    is_suspended boolean NOT NULL,
    is_erased boolean NOT NULL,
    preferences json NOT NULL,
    custom text,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.import_versions (
    import_id uuid NOT NULL,
    line bigint NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    version integer NOT NULL,
    payload json,
    attachments uuid[],
    replaced_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lock_rows (
    purpose text NOT NULL,
    key integer NOT NULL
);
CREATE TABLE public.log_epochs (
    epoch integer NOT NULL,
    first_pos bigint NOT NULL,
    system_identifier text NOT NULL,
    timeline integer NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    floor_pos bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.log_lock (
);
CREATE TABLE public.log_trimmer (
    pid integer,
    backend_start timestamp with time zone,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT log_trimmer_is_only_check CHECK (is_only)
);
CREATE TABLE public.log_trims (
    end_pos bigint NOT NULL,
    partition text NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    dropped_at timestamp with time zone
);
CREATE TABLE public.membership_spans (
    user_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    from_pos bigint NOT NULL,
    to_pos bigint
);
CREATE TABLE public.message_expiries (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.message_hides (
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE public.message_reaction_counts (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    emoji text NOT NULL COLLATE pg_catalog."C",
    count integer NOT NULL,
    created_at timestamp with time zone NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE public.message_reactions (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    user_id uuid NOT NULL,
    emoji text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.message_words (
    thread_id uuid NOT NULL,
    word text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);
CREATE TABLE public.node_channels (
    log text NOT NULL,
    presence text NOT NULL,
    key bytea NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT node_channels_is_only_check CHECK (is_only)
);
CREATE TABLE public.outbox (
    seq bigint NOT NULL,
    kind text NOT NULL,
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    other_id uuid,
    message_id uuid,
    payload json,
    attachments uuid[],
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['send'::text, 'add_member'::text, 'ensure_direct'::text])))
);
CREATE TABLE public.outbox_limits (
    text_bytes_max integer DEFAULT 16384 NOT NULL,
    payload_bytes_max integer DEFAULT 65536 NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT outbox_limits_is_only_check CHECK (is_only)
);
ALTER TABLE public.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.password_resets (
    expires_at timestamp with time zone NOT NULL,
    user_id uuid NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    code_digest bytea
);
CREATE TABLE public.presence (
    user_id uuid NOT NULL,
    node text NOT NULL
);
CREATE TABLE public.presence_nodes (
    node text NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    pos bigint
);
CREATE TABLE public.push_plan_lock (
);
CREATE TABLE public.push_secrets (
    name text NOT NULL,
    value bytea NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    renew_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL
);
CREATE TABLE public.push_targets (
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    platform text NOT NULL,
    token text NOT NULL,
    token_digest bytea NOT NULL,
    environment text,
    topic text,
    p256dh bytea,
    auth bytea,
    registered_at timestamp with time zone NOT NULL,
    decided_pos bigint NOT NULL,
    CONSTRAINT push_targets_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'development'::text]))),
    CONSTRAINT push_targets_platform_check CHECK ((platform = ANY (ARRAY['apns'::text, 'fcm'::text, 'webpush'::text])))
)
WITH (fillfactor='80');
CREATE UNLOGGED TABLE public.rate_limits (
    key bytea NOT NULL,
    full_at timestamp with time zone NOT NULL
);
CREATE TABLE public.receipt_marks (
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT receipt_marks_kind_check CHECK ((kind = ANY (ARRAY['read'::text, 'delivered'::text])))
);
CREATE TABLE public.receipt_news (
    thread_id uuid NOT NULL,
    user_id uuid NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.retention_walks (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE public.schema_functions (
    id integer NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_functions_id_check CHECK ((id = 1))
);
CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    breaking boolean NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.search_backlog (
    thread_id uuid NOT NULL,
    upto_seq bigint NOT NULL
);
CREATE TABLE public.search_stale (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    words text[] NOT NULL
);
CREATE UNLOGGED TABLE public.sign_in_failures (
    key bytea NOT NULL,
    failed integer NOT NULL,
    failed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.thread_counts (
    user_id uuid NOT NULL,
    count integer NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.thread_removals (
    thread_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.thread_trims (
    thread_id uuid NOT NULL,
    pos bigint NOT NULL
);
CREATE TABLE public.undelivered (
    thread_id uuid NOT NULL,
    pos bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.undelivered_checks (
    thread_id uuid NOT NULL,
    due_at timestamp with time zone NOT NULL
);
CREATE TABLE public.undelivered_files (
    thread_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.user_words (
    word text NOT NULL COLLATE pg_catalog."C",
    user_id uuid NOT NULL
);
CREATE TABLE public.webhook_batches (
    webhook_id uuid NOT NULL,
    n bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    positions bigint[] NOT NULL,
    event_ids text[] NOT NULL,
    statuses integer[] NOT NULL,
    tries integer[] NOT NULL
);
CREATE TABLE public.webhook_deliveries (
    webhook_id uuid NOT NULL,
    pos bigint NOT NULL,
    event_id text NOT NULL,
    thread_id uuid,
    at timestamp with time zone NOT NULL,
    state smallint NOT NULL,
    tries integer NOT NULL,
    status integer,
    reason text,
    tried_at timestamp with time zone,
    next_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_state_check CHECK (((state >= 0) AND (state <= 2)))
)
WITH (fillfactor='80');
CREATE TABLE public.webhook_states (
    webhook_id uuid NOT NULL,
    epoch integer NOT NULL,
    pos bigint NOT NULL,
    lost bigint DEFAULT 0 NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    node text DEFAULT ''::text NOT NULL,
    lease_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.admin_keys
    ADD CONSTRAINT admin_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.admin_keys
    ADD CONSTRAINT admin_keys_token_digest_key UNIQUE (token_digest);
ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT announcements_pkey PRIMARY KEY (kind, subject_id);
ALTER TABLE ONLY public.attachment_chunks
    ADD CONSTRAINT attachment_chunks_pkey PRIMARY KEY (attachment_id, variant, n);
ALTER TABLE ONLY public.attachment_garbage
    ADD CONSTRAINT attachment_garbage_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.attachment_place
    ADD CONSTRAINT attachment_place_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.attachment_receipts
    ADD CONSTRAINT attachment_receipts_pkey PRIMARY KEY (attachment_id, session_id);
ALTER TABLE ONLY public.attachment_uses
    ADD CONSTRAINT attachment_uses_pkey PRIMARY KEY (attachment_id, kind, holder_id, seq);
ALTER TABLE ONLY public.attachments
    ADD CONSTRAINT attachments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (user_id, blocked_id);
ALTER TABLE ONLY public.change_consumers
    ADD CONSTRAINT change_consumers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.command_runs
    ADD CONSTRAINT command_runs_pkey PRIMARY KEY (command_id, thread_id, message_id);
ALTER TABLE ONLY public.command_state
    ADD CONSTRAINT command_state_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_word_key UNIQUE (word);
ALTER TABLE ONLY public.device_marks
    ADD CONSTRAINT device_marks_pkey PRIMARY KEY (session_id, thread_id);
ALTER TABLE ONLY public.device_polls
    ADD CONSTRAINT device_polls_pkey PRIMARY KEY (session_id);
ALTER TABLE ONLY public.direct_aliases
    ADD CONSTRAINT direct_aliases_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.email_notices
    ADD CONSTRAINT email_notices_pkey PRIMARY KEY (email_key);
ALTER TABLE ONLY public.email_wishes
    ADD CONSTRAINT email_wishes_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.erasure_threads
    ADD CONSTRAINT erasure_threads_pkey PRIMARY KEY (user_id, thread_id);
ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (pos);
ALTER TABLE ONLY public.export_keys
    ADD CONSTRAINT export_keys_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.guest_threads
    ADD CONSTRAINT guest_threads_pkey PRIMARY KEY (user_id, thread_id);
ALTER TABLE ONLY public.held_contents
    ADD CONSTRAINT held_contents_pkey PRIMARY KEY (n);
ALTER TABLE ONLY public.held_contents
    ADD CONSTRAINT held_contents_thread_id_seq_version_key UNIQUE (thread_id, seq, version);
ALTER TABLE ONLY public.held_users
    ADD CONSTRAINT held_users_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.hooks
    ADD CONSTRAINT hooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.hooks
    ADD CONSTRAINT hooks_token_digest_key UNIQUE (token_digest);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller_id, key);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_code_digest_key UNIQUE (code_digest);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.lock_rows
    ADD CONSTRAINT lock_rows_pkey PRIMARY KEY (purpose, key);
ALTER TABLE ONLY public.log_epochs
    ADD CONSTRAINT log_epochs_pkey PRIMARY KEY (epoch);
ALTER TABLE ONLY public.log_trimmer
    ADD CONSTRAINT log_trimmer_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.log_trims
    ADD CONSTRAINT log_trims_pkey PRIMARY KEY (end_pos);
ALTER TABLE ONLY public.mail_codes
    ADD CONSTRAINT mail_codes_pkey PRIMARY KEY (email_key);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_email_key_kind_key UNIQUE (email_key, kind);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (thread_id, user_id);
ALTER TABLE ONLY public.membership_spans
    ADD CONSTRAINT membership_spans_pkey PRIMARY KEY (user_id, thread_id, from_pos);
ALTER TABLE ONLY public.message_edits
    ADD CONSTRAINT message_edits_pkey PRIMARY KEY (thread_id, seq, version);
ALTER TABLE ONLY public.message_expiries
    ADD CONSTRAINT message_expiries_pkey PRIMARY KEY (thread_id, seq);
ALTER TABLE ONLY public.message_hides
    ADD CONSTRAINT message_hides_pkey PRIMARY KEY (thread_id, user_id, seq);
ALTER TABLE ONLY public.message_reaction_counts
    ADD CONSTRAINT message_reaction_counts_pkey PRIMARY KEY (thread_id, seq, emoji);
ALTER TABLE ONLY public.message_reactions
    ADD CONSTRAINT message_reactions_pkey PRIMARY KEY (thread_id, seq, user_id, emoji);
ALTER TABLE ONLY public.message_words
    ADD CONSTRAINT message_words_pkey PRIMARY KEY (thread_id, word, seq);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (thread_id, seq);
ALTER TABLE ONLY public.node_channels
    ADD CONSTRAINT node_channels_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.outbox_failures
    ADD CONSTRAINT outbox_failures_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.outbox_limits
    ADD CONSTRAINT outbox_limits_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.policy_verdicts
    ADD CONSTRAINT policy_verdicts_pkey PRIMARY KEY (sender_id, thread_id, message_id, is_edit);
ALTER TABLE ONLY public.presence_nodes
    ADD CONSTRAINT presence_nodes_pkey PRIMARY KEY (node);
ALTER TABLE ONLY public.presence
    ADD CONSTRAINT presence_pkey PRIMARY KEY (user_id, node);
ALTER TABLE ONLY public.push_jobs
    ADD CONSTRAINT push_jobs_pkey PRIMARY KEY (session_id, pos);
ALTER TABLE ONLY public.push_secrets
    ADD CONSTRAINT push_secrets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.push_state
    ADD CONSTRAINT push_state_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.push_targets
    ADD CONSTRAINT push_targets_pkey PRIMARY KEY (session_id);
ALTER TABLE ONLY public.push_targets
    ADD CONSTRAINT push_targets_token_digest_key UNIQUE (token_digest);
ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.receipt_marks
    ADD CONSTRAINT receipt_marks_pkey PRIMARY KEY (thread_id, user_id, kind, seq);
ALTER TABLE ONLY public.receipt_news
    ADD CONSTRAINT receipt_news_pkey PRIMARY KEY (thread_id, user_id);
ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.retention_walks
    ADD CONSTRAINT retention_walks_pkey PRIMARY KEY (thread_id);
ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.search_backlog
    ADD CONSTRAINT search_backlog_pkey PRIMARY KEY (thread_id);
ALTER TABLE ONLY public.search_state
    ADD CONSTRAINT search_state_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_digest_key UNIQUE (token_digest);
ALTER TABLE ONLY public.sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.thread_counts
    ADD CONSTRAINT thread_counts_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.thread_removals
    ADD CONSTRAINT thread_removals_pkey PRIMARY KEY (thread_id);
ALTER TABLE ONLY public.thread_trims
    ADD CONSTRAINT thread_trims_pkey PRIMARY KEY (thread_id);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_direct_low_direct_high_key UNIQUE (direct_low, direct_high);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_room_key_key UNIQUE (room_key);
ALTER TABLE ONLY public.undelivered_files
    ADD CONSTRAINT undelivered_files_pkey PRIMARY KEY (thread_id, seq);
ALTER TABLE ONLY public.undelivered
    ADD CONSTRAINT undelivered_pkey PRIMARY KEY (thread_id, pos);
ALTER TABLE ONLY public.user_words
    ADD CONSTRAINT user_words_pkey PRIMARY KEY (word, user_id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_username_key_key UNIQUE (username_key);
ALTER TABLE ONLY public.webhook_batches
    ADD CONSTRAINT webhook_batches_pkey PRIMARY KEY (webhook_id, n);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (webhook_id, pos);
ALTER TABLE ONLY public.webhook_states
    ADD CONSTRAINT webhook_states_pkey PRIMARY KEY (webhook_id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
CREATE INDEX announcements_next ON public.announcements USING btree (at);
CREATE INDEX attachment_garbage_due ON public.attachment_garbage USING btree (next_at);
CREATE INDEX attachment_receipts_by_session ON public.attachment_receipts USING btree (session_id);
CREATE INDEX attachment_uses_by_holder ON public.attachment_uses USING btree (holder_id, seq);
CREATE INDEX attachments_by_owner ON public.attachments USING btree (owner_id, id) INCLUDE (stored_bytes);
CREATE INDEX attachments_due ON public.attachments USING btree (due_at) WHERE (due_at < 'infinity'::timestamp with time zone);
CREATE INDEX attachments_held ON public.attachments USING btree (id) INCLUDE (size) WHERE (state = 5);
CREATE INDEX attachments_here ON public.attachments USING btree (lease_until) WHERE ((state = ANY (ARRAY[2, 5])) AND (NOT (is_moved AND (thumbnail_is_moved OR (thumbnail_digest IS NULL)))));
CREATE INDEX attachments_moved ON public.attachments USING btree (lease_until) WHERE ((state = ANY (ARRAY[2, 5])) AND (is_moved OR thumbnail_is_moved));
CREATE INDEX attachments_to_check ON public.attachments USING btree (lease_until) WHERE (state = 1);
CREATE INDEX attachments_unused ON public.attachments USING btree (owner_id) WHERE (due_at IS NOT NULL);
CREATE INDEX blocks_by_blocked ON public.blocks USING btree (blocked_id, user_id);
CREATE INDEX blocks_listed ON public.blocks USING btree (user_id, created_at, blocked_id);
CREATE UNIQUE INDEX change_consumers_by_name ON public.change_consumers USING btree (name);
CREATE INDEX command_runs_by_time ON public.command_runs USING btree (command_id, due_at);
CREATE INDEX command_runs_by_user ON public.command_runs USING btree (user_id);
CREATE INDEX command_runs_running ON public.command_runs USING btree (command_id, due_at) WHERE is_running;
CREATE INDEX commands_by_user ON public.commands USING btree (user_id);
CREATE INDEX device_polls_by_node ON public.device_polls USING btree (node);
CREATE INDEX email_notices_by_age ON public.email_notices USING btree (at);
CREATE INDEX email_wishes_by_age ON public.email_wishes USING btree (asked_at);
CREATE INDEX erasure_threads_next ON public.erasure_threads USING btree (at);
CREATE INDEX events_by_thread ON ONLY public.events USING btree (uuid_hash(thread_id), pos) WHERE (user_id IS NULL);
CREATE INDEX events_by_user ON ONLY public.events USING btree (user_id, pos) WHERE (user_id IS NOT NULL);
CREATE INDEX held_contents_by_sender ON public.held_contents USING btree (sender_id, n);
CREATE INDEX held_contents_by_thread ON public.held_contents USING btree (thread_id, n);
CREATE INDEX holds_in_force ON public.holds USING btree (id) WHERE (released_at IS NULL);
CREATE INDEX holds_of_threads ON public.holds USING btree (thread_id) WHERE ((released_at IS NULL) AND (thread_id IS NOT NULL));
CREATE INDEX holds_of_users ON public.holds USING btree (user_id) WHERE ((released_at IS NULL) AND (user_id IS NOT NULL));
CREATE INDEX holds_to_sweep ON public.holds USING btree (released_at) WHERE ((released_at IS NOT NULL) AND (erased_at IS NULL));
CREATE INDEX hooks_by_user ON public.hooks USING btree (user_id);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX import_attachments_by_id ON public.import_attachments USING btree (import_id, id);
CREATE INDEX import_chunks_by_file ON public.import_chunks USING btree (import_id, attachment_id, variant, n);
CREATE INDEX invitations_by_deletion ON public.invitations USING btree (delete_at) WHERE (delete_at IS NOT NULL);
CREATE INDEX mail_codes_by_age ON public.mail_codes USING btree (counted_from);
CREATE INDEX mails_due ON public.mails USING btree (due_at);
CREATE INDEX members_archived ON public.members USING btree (thread_id, notify, muted_until) WHERE (archived AND (status = 'joined'::text));
CREATE INDEX members_by_user ON public.members USING btree (user_id, thread_id);
CREATE INDEX members_current ON public.members USING btree (user_id, thread_id) WHERE (status = ANY (ARRAY['joined'::text, 'invited'::text]));
CREATE INDEX members_invited ON public.members USING btree (thread_id, user_id) WHERE (status = 'invited'::text);
CREATE INDEX members_present ON public.members USING btree (thread_id, role, user_id) WHERE (status = ANY (ARRAY['joined'::text, 'invited'::text]));
CREATE INDEX message_expiries_due ON public.message_expiries USING btree (expires_at);
CREATE INDEX message_reactions_by_emoji ON public.message_reactions USING btree (thread_id, seq, emoji, created_at DESC, user_id);
CREATE INDEX message_reactions_by_user ON public.message_reactions USING btree (user_id, thread_id, seq);
CREATE UNIQUE INDEX messages_by_id ON public.messages USING btree (uuid_hash(thread_id), id);
CREATE INDEX messages_by_sender ON public.messages USING btree (((uuid_hash(sender_id) # uuid_hash(thread_id))), ((seq)::integer));
CREATE INDEX messages_uncounted ON public.messages USING btree (thread_id, seq) WHERE ((deleted_at IS NOT NULL) OR ((sender_id IS NULL) AND (counts IS NULL)));
CREATE INDEX messages_with_mentions ON public.messages USING btree (thread_id, seq) INCLUDE (mentions, sender_id) WHERE ((mentions <> '{}'::uuid[]) AND (deleted_at IS NULL));
CREATE INDEX outbox_by_thread ON public.outbox USING btree (thread_id, message_id);
CREATE INDEX outbox_failures_by_user ON public.outbox_failures USING btree (user_id);
CREATE INDEX password_resets_by_expiry ON public.password_resets USING btree (expires_at);
CREATE INDEX policy_verdicts_by_expiry ON public.policy_verdicts USING btree (expires_at);
CREATE INDEX presence_by_node ON public.presence USING btree (node);
CREATE INDEX push_jobs_by_time ON public.push_jobs USING btree (platform, due_at) WHERE (due_at < 'infinity'::timestamp with time zone);
CREATE INDEX push_targets_by_user ON public.push_targets USING btree (user_id);
CREATE INDEX rate_limits_by_time ON public.rate_limits USING btree (full_at);
CREATE INDEX reports_by_message ON public.reports USING btree (thread_id, seq) WHERE (thread_id IS NOT NULL);
CREATE INDEX reports_by_reporter ON public.reports USING btree (reporter_id, id);
CREATE INDEX reports_by_state ON public.reports USING btree (state, id);
CREATE INDEX reports_by_user ON public.reports USING btree (user_id);
CREATE INDEX reviews_by_decision ON public.reviews USING btree (decided_at) WHERE (decided_at IS NOT NULL);
CREATE INDEX reviews_by_message ON public.reviews USING btree (message_id, thread_id);
CREATE INDEX reviews_by_sender ON public.reviews USING btree (sender_id, id);
CREATE INDEX reviews_by_state ON public.reviews USING btree (state, id);
CREATE UNIQUE INDEX reviews_pending ON public.reviews USING btree (thread_id, message_id) WHERE (state = 'pending'::text);
CREATE INDEX search_stale_by_thread ON public.search_stale USING btree (thread_id, seq);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);
CREATE INDEX sign_in_failures_by_time ON public.sign_in_failures USING btree (failed_at);
CREATE INDEX thread_removals_next ON public.thread_removals USING btree (at);
CREATE UNIQUE INDEX threads_by_external_id ON public.threads USING btree (external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX threads_by_label ON public.threads USING gin (labels) WITH (fastupdate=off) WHERE (labels IS NOT NULL);
CREATE INDEX undelivered_checks_by_thread ON public.undelivered_checks USING btree (thread_id);
CREATE INDEX undelivered_checks_due ON public.undelivered_checks USING btree (due_at);
CREATE INDEX user_words_by_user ON public.user_words USING btree (user_id);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email_key) WHERE (email_key IS NOT NULL);
CREATE UNIQUE INDEX users_by_external_id ON public.users USING btree (external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX webhook_deliveries_by_state ON public.webhook_deliveries USING btree (webhook_id, state, pos);
