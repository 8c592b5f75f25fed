// A process in the sandbox of parley-thumbnailer that then does one thing, which its argument names. Only for tests.
import Glibc
import ThumbnailSandbox

@main
enum SandboxProbe {
    static func main() {
        let action = CommandLine.arguments.dropFirst().first ?? ""
        do {
            try Sandbox.install()
        } catch {
            exit(4)
        }
        switch action {
        case "echo":
            var byte: UInt8 = 0
            guard read(0, &byte, 1) == 1, write(1, &byte, 1) == 1 else { exit(1) }
        case "open": _ = open("/etc/passwd", O_RDONLY)
        case "socket": _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        case "fork": _ = daemon(1, 1)
        case "thread":
            var thread = pthread_t()
            pthread_create(&thread, nil, { _ in nil }, nil)
        case "exec": _ = execve("/bin/true", [nil], [nil])
        case "kill": _ = kill(getppid(), 0)
        case "executable-memory": _ = map(PROT_READ | PROT_WRITE | PROT_EXEC)
        case "made-executable":
            let page = map(PROT_READ | PROT_WRITE)
            mprotect(page, 4_096, PROT_READ | PROT_EXEC)
        case "descriptor-3":
            var byte: UInt8 = 0
            _ = write(3, &byte, 1)
        case "memory":
            // Refused, so the call returns.
            exit(malloc(512 << 20) == nil ? 0 : 1)
        case "processor": while true { _ = clock() }
        default: exit(2)
        }
        exit(0)
    }

    private static func map(_ protection: Int32) -> UnsafeMutableRawPointer? {
        mmap(nil, 4_096, protection, Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS), -1, 0)
    }
}
