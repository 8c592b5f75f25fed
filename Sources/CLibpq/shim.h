// What Postgres needs of C: libpq itself, and the parts of Linux that Swift's Glibc module doesn't export.
// No logic lives here, only typed wrappers for macros and for what Swift cannot call.
#ifndef PARLEY_CLIBPQ_SHIM_H
#define PARLEY_CLIBPQ_SHIM_H

#include <dlfcn.h>
#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static const uint32_t parley_epoll_in = EPOLLIN;
static const uint32_t parley_epoll_out = EPOLLOUT;
static const uint32_t parley_epoll_edge = EPOLLET;

/// Fields of an error or notice, for `PQresultErrorField`: Swift does not import character constants.
static const int parley_diag_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int parley_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int parley_diag_message_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int parley_diag_message_detail = PG_DIAG_MESSAGE_DETAIL;
static const int parley_diag_message_hint = PG_DIAG_MESSAGE_HINT;
static const int parley_diag_constraint_name = PG_DIAG_CONSTRAINT_NAME;
static const int parley_diag_statement_position = PG_DIAG_STATEMENT_POSITION;
static const int parley_diag_source_function = PG_DIAG_SOURCE_FUNCTION;

/// Names the calling thread; at most 15 characters are kept.
static inline void parley_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline int parley_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int parley_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Adds, changes or removes a descriptor; `token` comes back with its events. 0, or -1 with errno.
static inline int parley_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t parley_epoll_token(const struct epoll_event *event) { return event->data.u64; }

/// Bytes that OpenSSL has decrypted and libpq has not read yet. epoll cannot see them: who waits for the socket
/// while some are left waits for ever. Looked up at run time, since libpq brings OpenSSL along and we link none.
static inline int parley_tls_pending(PGconn *conn) {
    void *ssl = PQsslStruct(conn, "OpenSSL");
    if (ssl == NULL) {
        return 0;
    }
    int (*pending)(const void *) = (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_pending");
    return pending == NULL ? 0 : pending(ssl);
}

#endif
