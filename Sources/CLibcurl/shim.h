// libcurl as Swift sees it: its options are set by variadic calls, which Swift can't make. No logic, only typed wrappers.
#ifndef PARLEY_CLIBCURL_SHIM_H
#define PARLEY_CLIBCURL_SHIM_H

// The type checks are macros around the variadic calls. The wrappers' typed parameters replace them.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

static const long parley_curl_global = CURL_GLOBAL_ALL;
static const long parley_curl_http_2 = CURL_HTTP_VERSION_2TLS;
static const long parley_curl_http_1_1 = CURL_HTTP_VERSION_1_1;
/// Returned by callbacks instead of a count of bytes.
static const size_t parley_curl_read_pause = CURL_READFUNC_PAUSE;
static const size_t parley_curl_read_abort = CURL_READFUNC_ABORT;
static const size_t parley_curl_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t parley_curl_error_size = CURL_ERROR_SIZE;

/// Reads or writes up to `size * count` bytes. Returns how many.
typedef size_t (*parley_curl_io)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode parley_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_io(CURL *easy, CURLoption option, parley_curl_io value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode parley_curl_set_progress(CURL *easy, curl_xferinfo_callback value) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode parley_curl_set_open_socket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode parley_curl_set_close_socket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

static inline CURLcode parley_curl_set_before_request(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLMcode parley_curl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// Returns the address that libcurl is about to connect to.
static inline const struct sockaddr *parley_curl_address(const struct curl_sockaddr *address) { return &address->addr; }

/// Returns the last status that the server sent: HTTP's, or SMTP's reply code. 0 for none.
static inline long parley_curl_status(CURL *easy) {
    long status = 0;
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// Returns the result in a message about the end of a transfer.
static inline CURLcode parley_curl_result(const CURLMsg *message) { return message->data.result; }

#endif
