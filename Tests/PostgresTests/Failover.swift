// The choice among several servers: hosts that do not answer, servers that accept no writes.

import EmbeddedPostgres
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Postgres

@Suite("A client of several servers", .serialized, .timeLimit(.minutes(2)))
struct Failover {
    @Test("tries the next host when one does not answer at all")
    func silentHost() async throws {
        // Accepts connections and sends nothing.
        let (silent, port) = try Sockets.listener()
        defer { close(silent) }
        let database = try await TestCluster.shared().createDatabase()
        let directory = try #require(database.firstMatch(of: /host='([^']+)'/)?.1)
        let conninfo = database.replacing("host='\(directory)'", with: "host='127.0.0.1,\(directory)'")
            .replacing("port=5432", with: "port=\(port),5432")
        try await withClient(conninfo: conninfo, { $0.connectTimeout = .milliseconds(300) }) { client in
            let answer = try await client.run("select 7::int4").first?.int4(0)
            #expect(answer == 7)
        }
    }

    /// Like an address that moves: here a symbolic link to the socket's directory.
    @Test("leaves a read-only server for the primary")
    func readOnly() async throws {
        let primary = try await TestCluster.own()
        let database = try await primary.createDatabase()
        let standby = try await primary.standby()
        let place = try TemporaryDirectory()
        func point(to cluster: TestCluster) throws {
            let target = try #require(cluster.conninfo(database: "x").firstMatch(of: /host='([^']+)'/)?.1)
            unlink(place.path + "/now")
            symlink(String(target), place.path + "/now")
        }
        let source = try #require(database.firstMatch(of: /host='([^']+)'/)?.1)
        let conninfo = database.replacing("host='\(source)'", with: "host='\(place.path)/now'")
        try point(to: standby)
        try await withClient(connections: 3, conninfo: conninfo) { client in
            await #expect(throws: PostgresError.self) { try await client.run("create table here ()") }
            // Reads continue on that server.
            #expect(try await client.run("select pg_is_in_recovery()").first?.bool(0) == true)
            try point(to: primary)
            try await eventually("a table on the primary") { (try? await client.run("create table here ()")) != nil }
            for _ in 0..<6 { #expect(try await client.run("select pg_is_in_recovery()").first?.bool(0) == false) }
        }
        await primary.close()
        await standby.close()
    }

    @Test("begins with the host after the one that was silent, and keeps the others' order")
    func hosts() {
        let hosts = HostList(conninfo: "host=a,b,c port=1,2,3 dbname=x")
        #expect(hosts.count == 3 && hosts.words(from: 0).isEmpty)
        #expect(hosts.words(from: 1).map { "\($0.0)=\($0.1)" } == ["host=b,c,a", "port=2,3,1"])
        // A single port for all hosts stays unchanged; a single host is not a list.
        #expect(HostList(conninfo: "postgresql://u@a,b/x?port=9").words(from: 1).map(\.1).first == "b,a")
        #expect(HostList(conninfo: "host=a port=1").count == 1)
        #expect(HostList(conninfo: "no equals sign").count == 1)
    }
}
