// The parts of Linux that Swift's Glibc module does not export: epoll, eventfd, names of threads, and users. No logic.
#ifndef PARLEY_CLINUX_SHIM_H
#define PARLEY_CLINUX_SHIM_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/types.h>

static const uint32_t clinux_epoll_in = EPOLLIN;
static const uint32_t clinux_epoll_out = EPOLLOUT;
static const uint32_t clinux_epoll_edge = EPOLLET;

static inline int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int clinux_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Adds, changes or removes a descriptor. Its events carry `token`. Returns 0, or -1 with errno.
static inline int clinux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t clinux_epoll_token(const struct epoll_event *event) { return event->data.u64; }

/// Names the calling thread. The kernel keeps at most 15 characters.
static inline void clinux_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// unistd.h declares these for GNU programs only. glibc applies them to all threads.
int setresuid(uid_t real, uid_t effective, uid_t saved);
int setresgid(gid_t real, gid_t effective, gid_t saved);

#endif
