// What parley-thumbnailer may do once it has seen a byte of a stranger's picture: read it, compute, write the result.
import CSeccomp
import Glibc

/// The sandbox could not be installed. The process must not read a picture.
package struct SandboxFailure: Error, CustomStringConvertible {
    let step: StaticString
    let code: Int32

    package var description: String { "\(step): \(String(cString: strerror(code)))" }
}

/// The limits of a process that decodes a picture, enforced by the kernel.
package enum Sandbox {
    package static let memoryByteCountMax: UInt = 512 << 20
    package static let processorSecondsMax: UInt = 5

    /// Gives up every right but those to read descriptor 0, to write to 1 and 2, to use memory and to exit. A later
    /// system call of another kind kills the process. This cannot be undone.
    package static func install() throws(SandboxFailure) {
        try check("close descriptors", closeDescriptors())
        try check("RLIMIT_AS", parley_limit_memory(memoryByteCountMax))
        // SIGXCPU at the soft limit says why the process was killed. At the hard limit it is SIGKILL.
        try check("RLIMIT_CPU", parley_limit_processor(processorSecondsMax, processorSecondsMax + 1))
        try check("RLIMIT_FSIZE", parley_forbid_files())
        try check("RLIMIT_NPROC", parley_forbid_processes())
        try check("RLIMIT_NOFILE", parley_forbid_descriptors())
        try check("RLIMIT_CORE", parley_forbid_core_dumps())
        try check("PR_SET_NO_NEW_PRIVS", parley_no_new_privileges())
        try check("PR_SET_DUMPABLE", parley_not_dumpable())
        try filterSystemCalls()
    }

    /// Closes all descriptors above 2.
    private static func closeDescriptors() -> Int32 {
        guard parley_close_from(3) != 0 else { return 0 }
        // An older kernel, or a container's filter that does not know the call.
        for descriptor in 3..<max(3, min(65_536, Int32(sysconf(Int32(_SC_OPEN_MAX))))) { close(descriptor) }
        return 0
    }

    private static func check(_ step: StaticString, _ result: Int32) throws(SandboxFailure) {
        guard result == 0 else { throw SandboxFailure(step: step, code: errno) }
    }

    /// Calls that are allowed whatever their arguments. glibc's qsort asks sysinfo for the size of memory.
    static let allowed = [
        "exit", "exit_group", "munmap", "mremap", "brk", "madvise", "futex", "clock_gettime", "rt_sigreturn", "sysinfo",
    ]

    private static func filterSystemCalls() throws(SandboxFailure) {
        guard let filter = seccomp_init(SCMP_ACT_KILL_PROCESS) else {
            throw SandboxFailure(step: "seccomp_init", code: ENOMEM)
        }
        defer { seccomp_release(filter) }
        for name in allowed { try allow(name, in: filter) }
        try allow("read", where: [argument(0, equals: 0)], in: filter)
        try allow("write", where: [argument(0, equals: 1)], in: filter)
        try allow("write", where: [argument(0, equals: 2)], in: filter)
        for name in ["mmap", "mprotect"] { try allow(name, where: [isNotExecutable], in: filter) }
        try checkNegated("seccomp_load", seccomp_load(filter))
    }

    private static func allow(
        _ name: String, where conditions: [scmp_arg_cmp] = [], in filter: scmp_filter_ctx
    ) throws(SandboxFailure) {
        let call = seccomp_syscall_resolve_name(name)
        let result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, UInt32(conditions.count), conditions)
        try checkNegated("seccomp_rule_add", result)
    }

    private static func argument(_ index: UInt32, equals value: UInt64) -> scmp_arg_cmp {
        scmp_arg_cmp(arg: index, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
    }

    /// The third argument of mmap and mprotect lacks PROT_EXEC.
    private static let isNotExecutable = scmp_arg_cmp(
        arg: 2, op: SCMP_CMP_MASKED_EQ, datum_a: UInt64(PROT_EXEC), datum_b: 0)

    /// libseccomp returns a negated errno.
    private static func checkNegated(_ step: StaticString, _ result: Int32) throws(SandboxFailure) {
        guard result == 0 else { throw SandboxFailure(step: step, code: -result) }
    }
}
