// A private nginx with nchan for one run: its configuration, start and stop.
import Glibc
import Linux

/// A running nginx on a free port of 127.0.0.1, in a temporary directory.
struct NchanServer: Sendable {
    static let subscribing = "/sub/"
    static let publishing = "/pub/"

    let endpoint: Endpoint
    let pid: Int
    private let process: ChildProcess
    private let directory: ScratchDirectory

    /// The paths at which Debian and other distributions install nginx.
    private static let programs = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
    private static let modules = [
        "/usr/lib/nginx/modules/ngx_nchan_module.so", "/usr/lib64/nginx/modules/ngx_nchan_module.so",
        "/usr/local/lib/nginx/modules/ngx_nchan_module.so",
    ]

    static func start() async throws -> NchanServer {
        guard let program = programs.first(where: { access($0, X_OK) == 0 }),
            let module = modules.first(where: { access($0, R_OK) == 0 })
        else {
            throw BenchFailure("nginx with nchan is not installed (Debian: apt install nginx libnginx-mod-nchan)")
        }
        let directory = try ScratchDirectory()
        do {
            return try await start(program, module: module, in: directory)
        } catch {
            directory.remove()
            throw error
        }
    }

    private static func start(
        _ program: String, module: String, in directory: ScratchDirectory
    ) async throws -> NchanServer {
        let port = try freePort()
        let endpoint = try Endpoint(url: "http://127.0.0.1:\(port)")
        try directory.write(configuration(module: module, directory: directory.path, port: port), to: "nginx.conf")
        let process = try await directory.start(
            program, ["-p", directory.path, "-c", directory.file("nginx.conf")], output: "output")
        let server = NchanServer(endpoint: endpoint, pid: Int(process.pid), process: process, directory: directory)
        do {
            try await server.waitUntilReady()
        } catch {
            await process.end()
            throw error
        }
        return server
    }

    /// Stops the server and removes its files.
    func stop() async {
        await process.end()
        directory.remove()
    }

    /// Returns how many subscribers wait on all channels.
    func subscriberCount() async throws -> Int {
        let text = try await Calls.run([Call("GET", "/status", status: 200)], at: endpoint)[0].text
        let line = text.split(separator: "\n").first { $0.hasPrefix("subscribers:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private func waitUntilReady() async throws {
        for _ in 0..<200 {
            guard process.isRunning else { break }
            do {
                _ = try await subscriberCount()
                return
            } catch is BenchFailure {
                // The server is not listening yet.
                try await Task.sleep(for: .milliseconds(25))
            }
        }
        throw BenchFailure("nginx with nchan did not start: \(directory.read("output"))")
    }

    /// One worker: a channel lives in one worker, and a second worker would only compete for the cores.
    private static func configuration(module: String, directory: String, port: Int) -> String {
        """
        load_module \(module);
        daemon off;
        \(getuid() == 0 ? "user root;" : "")
        worker_processes 1;
        worker_rlimit_nofile 65536;
        error_log stderr error;
        pid "\(directory)/pid";
        events { worker_connections 20000; }
        http {
            access_log off;
            keepalive_requests 1000000;
            keepalive_timeout 300;
            client_body_temp_path "\(directory)/body";
            proxy_temp_path "\(directory)/proxy";
            fastcgi_temp_path "\(directory)/fastcgi";
            uwsgi_temp_path "\(directory)/uwsgi";
            scgi_temp_path "\(directory)/scgi";
            nchan_shared_memory_size 64M;
            server {
                listen 127.0.0.1:\(port) backlog=4096;
                location ~ ^\(publishing)(\\w+)$ {
                    nchan_publisher http;
                    nchan_channel_id $1;
                    nchan_message_buffer_length 20;
                }
                location ~ ^\(subscribing)(\\w+)$ {
                    nchan_subscriber longpoll;
                    nchan_channel_id $1;
                    nchan_subscriber_first_message newest;
                    nchan_subscriber_timeout 300;
                }
                location = /status { nchan_stub_status; }
            }
        }

        """
    }

    /// Returns a port that is free now.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        guard code == 0 else { throw SystemFailure(code: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
