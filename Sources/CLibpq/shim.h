// libpq, with typed wrappers for macros and for calls that Swift cannot import. No logic.
#ifndef PARLEY_CLIBPQ_SHIM_H
#define PARLEY_CLIBPQ_SHIM_H

#include <dlfcn.h>
#include <libpq-fe.h>
#include <stddef.h>

/// Fields of an error or notice, for `PQresultErrorField`. Swift does not import character constants.
static const int parley_diag_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int parley_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int parley_diag_message_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int parley_diag_message_detail = PG_DIAG_MESSAGE_DETAIL;
static const int parley_diag_message_hint = PG_DIAG_MESSAGE_HINT;
static const int parley_diag_constraint_name = PG_DIAG_CONSTRAINT_NAME;
static const int parley_diag_statement_position = PG_DIAG_STATEMENT_POSITION;
static const int parley_diag_source_function = PG_DIAG_SOURCE_FUNCTION;

/// Returns how many bytes OpenSSL has decrypted that libpq has not read yet. epoll does not see these bytes: a thread
/// that waits for the socket while some are left may wait forever. `SSL_pending` is looked up at run time, because
/// libpq loads OpenSSL and this target does not link it.
static inline int parley_tls_pending(PGconn *conn) {
    void *ssl = PQsslStruct(conn, "OpenSSL");
    if (ssl == NULL) {
        return 0;
    }
    int (*pending)(const void *) = (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_pending");
    return pending == NULL ? 0 : pending(ssl);
}

#endif
