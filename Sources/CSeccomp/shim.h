// libseccomp as Swift sees it, and two system calls that Swift can't make because they are variadic. No logic.
#ifndef PARLEY_CSECCOMP_SHIM_H
#define PARLEY_CSECCOMP_SHIM_H

#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Sets the soft and the hard limit, which may differ. Returns 0, or -1 with errno.
static inline int parley_limit_memory(rlim_t bytes) {
    return setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}
static inline int parley_limit_processor(rlim_t soft, rlim_t hard) {
    return setrlimit(RLIMIT_CPU, &(struct rlimit){soft, hard});
}
static inline int parley_forbid_files(void) { return setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}); }
static inline int parley_forbid_processes(void) { return setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}); }
static inline int parley_forbid_descriptors(void) { return setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}); }
static inline int parley_forbid_core_dumps(void) { return setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); }

static inline int parley_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int parley_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Closes all descriptors from `first` on. The system call is in Linux since 5.9.
static inline int parley_close_from(unsigned first) { return (int)syscall(SYS_close_range, first, ~0U, 0); }

#endif
