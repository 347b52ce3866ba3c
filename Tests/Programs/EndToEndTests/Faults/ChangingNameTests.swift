import Foundation
import HTTPService
import Testing

/// Names whose addresses a stranger chooses, and changes when he likes: what a webhook's URL may have. A
/// program asks as the server does, through the system's resolver and a name server of the test.
@Suite(
  .enabled(if: Program.isBuilt("OutboundProbe"), "the program OutboundProbe is not built"),
  .enabled(if: NameServer.canListen, "port 53 is not for this user"),
  .enabled(if: Program.canRun("petrel", through: ["/usr/bin/unshare", "--mount"]), "no own mounts"))
struct ChangingNameTests {
  /// The only address that may be connected to and has a server, one that may be and has none, and some of
  /// the machine that may not be.
  private static let (open, vacant) = ("127.0.0.2", "127.0.0.5")
  private static let closed =
    ["127.0.0.3", "127.0.0.1"] + (Trap(at: "::1", port: 0).map { $0.stop() } == nil ? [] : ["::1"])

  private struct World {
    let names: NameServer
    let folder: String
    let port: Int
    let traps: [Trap]

    /// Makes requests to names, one after the other, and returns their results. The name `-` clears
    /// the cache of names.
    ///
    /// - Parameter seconds: The time limit to connect.
    func ask(_ names: [String], within seconds: Double = 10) async throws -> [String] {
      let program = try Program(
        "OutboundProbe",
        ["\(open)/32,\(vacant)/32", "\(seconds)"]
          + names.map { $0 == "-" ? $0 : "http://\($0):\(port)/" },
        through: [
          "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
          "mount --bind \(folder)/resolv.conf /etc/resolv.conf && exec \"$@\"", "sh",
        ], in: folder)
      #expect(try await program.end() == 0, "\(program.output)")
      return program.output.split(separator: "\n").map(String.init)
    }

    /// Connections to addresses that may not be connected to.
    func caught() -> Int { traps.reduce(0) { $0 + $1.take() } }
  }

  private func withWorld(_ body: (World) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-names-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = try #require(NameServer())
    defer { names.stop() }
    // The resolver has much more patience than a request.
    try "nameserver \(names.address)\noptions timeout:30 attempts:5\n".write(
      toFile: folder + "/resolv.conf", atomically: true, encoding: .utf8)
    let (server, traps) = try await Self.listen()
    let world = World(names: names, folder: folder, port: server.port, traps: traps)
    do {
      try await body(world)
    } catch {
      await server.stop(within: .zero)
      throw error
    }
    for trap in traps { trap.stop() }
    await server.stop(within: .zero)
  }

  /// A server, and traps at the same port of the other addresses. Other tests have servers, too.
  private static func listen() async throws -> (HTTPServer, [Trap]) {
    var configuration = HTTPServer.Configuration()
    configuration.address = open
    for _ in 0..<100 {
      let server = HTTPServer(configuration: configuration) { _ in HTTPResponse(status: 204) }
      try server.start()
      let traps = closed.compactMap { Trap(at: $0, port: server.port) }
      if traps.count == closed.count { return (server, traps) }
      for trap in traps { trap.stop() }
      await server.stop(within: .zero)
    }
    throw Program.Ended(output: "no port is free at each of \(closed)")
  }

  /// Forms of forbidden addresses of this machine, those by which an IPv4 address is reached among them.
  private static let forbidden = [
    "127.0.0.3", "127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.3", "::ffff:0.0.0.0",
    "::ffff:0:127.0.0.3", "::127.0.0.3", "64:ff9b::7f00:3", "2002:7f00:3::1",
  ]

  @Test("of a name's addresses only those are connected to that are allowed, wherever they stand")
  func mixed() async throws {
    try await withWorld { world in
      var names: [String] = []
      for (number, address) in Self.forbidden.enumerated() {
        for (place, answer) in [
          [address, Self.open], [Self.open, address], [address, "10.0.0.1", Self.open, address],
        ].enumerated() {
          names.append("mixed-\(number)-\(place).petrel.test")
          world.names.script(names[names.count - 1], [answer])
        }
      }
      // libcurl could not try so many within its time to connect, if it did not learn of each
      // refusal at once.
      names.append("behind.petrel.test")
      world.names.script(names[names.count - 1], [Self.forbidden + [Self.open]])
      let outcomes = try await world.ask(names)
      #expect(outcomes == Array(repeating: "204", count: names.count))
      #expect(world.caught() == 0)
      #expect(names.allSatisfy { world.names.count(of: $0) == 1 })
    }
  }

  @Test("a name that has forbidden addresses alone is refused without a connection")
  func forbidden() async throws {
    try await withWorld { world in
      var names: [String] = []
      for (number, address) in Self.forbidden.enumerated() {
        names.append("forbidden-\(number).petrel.test")
        world.names.script(names[number], [[address]])
      }
      names.append("forbidden-all.petrel.test")
      world.names.script(names[names.count - 1], [Self.forbidden])
      let outcomes = try await world.ask(names)
      #expect(outcomes == Array(repeating: "addressRefused", count: names.count))
      #expect(world.caught() == 0)
    }
  }

  @Test(
    "a name that means a forbidden address the next time is refused then, and taken when it is good"
  )
  func changing() async throws {
    try await withWorld { world in
      let turns = "turns.petrel.test"
      world.names.script(turns, [[Self.open], ["127.0.0.3"], ["::1"], [Self.open]])
      let gone = "gone.petrel.test"
      world.names.script(gone, [[Self.vacant], ["127.0.0.3", Self.vacant], ["127.0.0.3"]])
      let outcomes = try await world.ask([
        turns, "-", turns, "-", turns, "-", turns, "-", gone, "-", gone, "-", gone,
        "-", "nobody.petrel.test",
      ])
      #expect(
        outcomes == [
          "204", "addressRefused", "addressRefused", "204", "unreachable", "unreachable",
          "addressRefused", "unreachable",
        ])
      #expect(world.caught() == 0)
      // A client that knows the name goes on with the address that it has looked at.
      let known = "known.petrel.test"
      world.names.script(known, [[Self.open], ["127.0.0.3"]])
      #expect(try await world.ask([known, known, known]) == ["204", "204", "204"])
      #expect(world.names.count(of: known) == 1)
      #expect(world.caught() == 0)
    }
  }

  @Test("a name server that is silent about one name holds up no request to others")
  func silent() async throws {
    try await withWorld { world in
      world.names.keepSilent(about: "silent.petrel.test")
      world.names.script("good.petrel.test", [[Self.open]])
      let outcomes = try await world.ask(
        ["silent.petrel.test", "good.petrel.test"], within: 0.5)
      #expect(outcomes == ["timedOut", "204"])
    }
  }
}
