// OpenSSL's libssl as Swift sees it: some of its calls are macros, which Swift can't use. No logic, only typed wrappers.
#ifndef PARLEY_CLIBSSL_SHIM_H
#define PARLEY_CLIBSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static const uint64_t parley_ssl_no_renegotiation = SSL_OP_NO_RENEGOTIATION;

/// Refuses versions older than TLS 1.2. Returns 1, or 0 for an error.
static inline long parley_ssl_require_tls_1_2(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline long parley_ssl_turn_off_cache(SSL_CTX *context) {
    return SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// Makes connections free their buffers of 16 KiB each while they hold no bytes.
static inline long parley_ssl_release_buffers(SSL_CTX *context) {
    return SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// Returns the issuers that are sent with the certificate. They belong to the context.
static inline STACK_OF(X509) *parley_ssl_chain(SSL_CTX *context) {
    STACK_OF(X509) *chain = NULL;
    SSL_CTX_get0_chain_certs(context, &chain);
    return chain;
}

/// Marks the outcome of a read for which there are no bytes yet.
static inline void parley_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline void parley_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

#endif
