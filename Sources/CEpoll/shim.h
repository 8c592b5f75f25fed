// Linux's epoll and eventfd, which Swift's Glibc module doesn't export, as Bench uses them. No logic.
#ifndef PARLEY_CEPOLL_SHIM_H
#define PARLEY_CEPOLL_SHIM_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static const uint32_t cepoll_in = EPOLLIN;
static const uint32_t cepoll_out = EPOLLOUT;

static inline int cepoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int cepoll_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Adds, changes or removes a descriptor; `token` comes back with its events. 0, or -1 with errno.
static inline int cepoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t cepoll_token(const struct epoll_event *event) { return event->data.u64; }

#endif
