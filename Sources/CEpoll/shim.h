// Of Linux what Swift's Glibc module doesn't export, as Bench uses it: epoll, eventfd, names of threads. No logic.
#ifndef PARLEY_CEPOLL_SHIM_H
#define PARLEY_CEPOLL_SHIM_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static const uint32_t cepoll_in = EPOLLIN;
static const uint32_t cepoll_out = EPOLLOUT;

static inline int cepoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int cepoll_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Adds, changes or removes a descriptor; `token` comes back with its events. 0, or -1 with errno.
static inline int cepoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

/// Names the calling thread; at most 15 characters are kept.
static inline void cepoll_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline uint64_t cepoll_token(const struct epoll_event *event) { return event->data.u64; }

#endif
