import CloudKit
import CloudKitModel
import Foundation
import FoundationNetworking
import JSONCoding
import PostgreSQLTesting
import StoreModel
import Testing
import Waiting

@testable import DatabaseAPI
@testable import SQLEngine
@testable import Storage

#if canImport(FoundationNetworking)
#endif

/// Three servers on one PostgreSQL. The clock of one is right, the others' are ten minutes fast and slow.
@Suite(
  .enabled(
    if: Program.isBuilt("petrel") && Installation.clockLibrary != nil,
    "the program petrel is not built, or faketime is not installed (make tools)"))
struct ServersWithOtherClocksTests {
  /// How far each server's clock is ahead, in seconds.
  private static let offsets = [0, 600, -600]
  /// The seconds that may pass between two reads of a clock, far less than the clocks differ.
  private static let tolerance = 120.0

  @Test(
    "They keep their leases, dispatch each change once, and go by the time of the database")
  func clocks() async throws {
    let installation = try await Installation()
    try await installation.start(Self.offsets)
    try await expectOtherClocks(installation)
    try await expectExpiryByTheStore(installation)
    try await installation.subscribe()
    let reader = try await expectReaders(installation)
    let saved = try await expectSteadyLeases(installation)
    try await eventually("everything is dispatched") {
      try await installation.store.outbox.undispatchedDatabases().isEmpty
    }
    #expect(try await installation.notifiedRecords() == saved)
    // The reader's token was made by the fast server, and the slow one reads with it.
    let first = try await installation.send("GET", "/aps?tok=\(reader)", to: 2)
    #expect(first.json["ck"]?["qry"]?["rid"]?.string == saved.first, "\(first.json)")
    try await installation.end()
  }

  private func isNear(_ timestamp: Int64?, _ seconds: Double = 0) -> Bool {
    guard let timestamp else { return false }
    return abs(Double(timestamp) / 1_000 - (Timestamp.now.seconds + seconds)) < Self.tolerance
  }

  /// Makes sure that there is something to be tested.
  private func expectOtherClocks(_ installation: Installation) async throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    for (server, offset) in Self.offsets.enumerated() {
      let date = try await installation.send("GET", "/health/live", to: server).date
      let time = try #require(format.date(from: date), "\(date)")
      #expect(isNear(Int64(time.timeIntervalSince1970 * 1_000), Double(offset)), "\(date)")
    }
  }

  private func expectExpiryByTheStore(_ installation: Installation) async throws {
    let (user, store) = (installation.user, installation.store)
    let valid = try await Account.makeToken(for: user, in: store.accounts, lifetime: 300, at: .now)
    let expired = try await Account.makeToken(
      for: user, in: store.accounts, lifetime: 60, at: Timestamp.now.advanced(bySeconds: -360))
    for server in Self.offsets.indices {
      for (token, status) in [(valid, 200), (expired, 401)] {
        let answer = try await installation.send(
          "GET", installation.target("database", "public/users/caller", token), to: server)
        #expect(answer.status == status, "at server \(server): \(answer.json)")
      }
    }
  }

  /// - Returns: a reader's token that the fast server made.
  private func expectReaders(_ installation: Installation) async throws -> String {
    var tokens: [String] = []
    for server in Self.offsets.indices {
      let answer = try await installation.send(
        "POST", installation.target("device", "tokens/create"),
        #"{"apnsEnvironment": "development"}"#, to: server)
      let token = try #require(answer.json["apnsToken"]?.string, "\(answer.json)")
      let device = try await CourierToken.registrations(
        ofReader: token, in: installation.store.devices
      ).first
      #expect(isNear(device?.registered.milliseconds), "at server \(server)")
      #expect(isNear(device?.expires?.milliseconds, 43_200), "at server \(server)")
      tokens.append(token)
    }
    return try #require(
      tokens[1].addingPercentEncoding(withAllowedCharacters: .alphanumerics))
  }

  /// Saves at each server in turn until all have renewed their registration twice.
  ///
  /// - Returns: the names of what was saved, in order.
  private func expectSteadyLeases(_ installation: Installation) async throws -> [String] {
    let store = installation.store
    let servers = try #require(store.servers)
    let beginning = try await servers.servers()
    #expect(beginning.count == 3)
    var names: [String] = []
    var holders: Set<Int64> = []
    try await eventually("all servers have renewed their registration twice") {
      for server in Self.offsets.indices {
        let name = "n\(names.count)"
        let answer = try await installation.send(
          "POST", installation.target("database", "private/records/modify"),
          """
          {"operations": [{"operationType": "create", "record": {
            "recordName": "\(name)", "recordType": "Note"}}]}
          """, to: server)
        let record = try #require(answer.json["records"]?.array?.first, "\(answer.json)")
        for time in ["created", "modified"] {
          #expect(isNear(record[time]?["timestamp"]?.int), "at server \(server): \(record)")
        }
        names.append(name)
      }
      let held = try await store.transactions.read { transaction in
        try transaction.connection.rows("SELECT holder FROM dispatch_leases", []) { $0.integer(0) }
      }
      holders.formUnion(held)
      let now = try await servers.servers()
      #expect(now.map(\.id) == beginning.map(\.id))
      return zip(beginning, now).allSatisfy {
        $1.aliveUntil.seconds - $0.aliveUntil.seconds > 2.5
      }
    }
    #expect(holders.count == 1, "the lease stays where it is")
    return names
  }
}

/// PostgreSQL and the servers.
private final class Installation {
  struct Answer {
    var status: Int
    var date: String
    var json: JSONValue
  }

  /// The library of Debian's package `faketime`, which shows programs another time than the real
  /// one.
  static let clockLibrary: String? = {
    let root = "/usr/lib"
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return folders.map { "\(root)/\($0)/faketime/libfaketimeMT.so.1" }.first {
      FileManager.default.fileExists(atPath: $0)
    }
  }()

  let folder: String
  let schema: PostgreSQLServer.Schema
  /// Beside the servers, as a tool is.
  let store: Store
  let user: User
  private let token: String
  private var servers: [(program: Program, port: Int)] = []

  init() async throws {
    folder = NSTemporaryDirectory() + "petrel-clocks-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    schema = try await PostgreSQLServer.shared.makeSchema()
    store = try await Store.open(
      at: .postgreSQL(try PostgreSQLAddress(schema.address), assets: folder + "/assets"),
      configuration: StoreConfiguration(role: .tool))
    user = try await store.accounts.addUser(named: "anna", at: .now)
    token = try await Account.makeToken(for: user, in: store.accounts, at: .now)
  }

  /// Starts a server for each clock, which is so many seconds ahead.
  func start(_ offsets: [Int]) async throws {
    let timers = try await makeTimerLibrary()
    let programs = try offsets.enumerated().map { number, offset in
      // What is measured by a clock that nobody can set goes on as it is.
      let clock =
        offset == 0
        ? [:]
        : [
          "LD_PRELOAD": "\(timers):\(Self.clockLibrary ?? "")",
          "FAKETIME": "\(offset > 0 ? "+" : "")\(offset)s",
          "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
      // The library adds a variable to the environment of the first program that loads it. Swift
      // finds the arguments of a process next to an unchanged environment, so another program runs
      // first.
      return try Program(
        "petrel",
        ["serve", "--data", folder + "/\(number)", "--port", "0", "--store", schema.address],
        environment: clock, through: ["/usr/bin/env"], in: folder)
    }
    for program in programs {
      let line = try await program.line(containing: "petrel listens on")
      let port = try #require(line.matches(of: /:([0-9]+)/).last.flatMap { Int($0.1) })
      servers.append((program, port))
    }
    try await eventually("all are registered") {
      try await self.store.servers?.servers().count == 3
    }
  }

  /// Makes a library that leaves timers unchanged. The library that shows another time confuses two
  /// kinds of timers: it treats those relative to the machine's start like those with a time of
  /// day, and moves them as well.
  private func makeTimerLibrary() async throws -> String {
    let (source, library) = (folder + "/timers.c", folder + "/timers.so")
    try """
    #include <sys/syscall.h>
    #include <unistd.h>
    int timerfd_settime(int timer, int flags, const void *next, void *last) {
      return syscall(SYS_timerfd_settime, timer, flags, next, last);
    }
    """.write(toFile: source, atomically: true, encoding: .utf8)
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-o", library, source]
    try compiler.run()
    try await eventually("the library is made") { !compiler.isRunning }
    try #require(compiler.terminationStatus == 0)
    return library
  }

  func end() async throws {
    for server in servers { server.program.signal(SIGTERM) }
    for server in servers { #expect(try await server.program.end() == 0) }
    await store.close()
    try await PostgreSQLServer.shared.drop(schema)
    try? FileManager.default.removeItem(atPath: folder)
  }

  func target(_ root: String, _ operation: String, _ token: String? = nil) -> String {
    let escaped =
      (token ?? self.token).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "/\(root)/1/\(Cloud.container)/development/\(operation)?ckWebAuthToken=\(escaped)"
  }

  func send(
    _ method: String, _ target: String, _ body: String? = nil, to server: Int
  ) async throws -> Answer {
    let url = try #require(URL(string: "http://127.0.0.1:\(servers[server].port)\(target)"))
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    let (data, response) = try await URLSession.shared.data(for: request)
    let answer = try #require(response as? HTTPURLResponse)
    return Answer(
      status: answer.statusCode, date: answer.value(forHTTPHeaderField: "Date") ?? "",
      json: (try? JSONValue(parsing: data)) ?? .null)
  }

  func subscribe() async throws {
    let answer = try await send(
      "POST", target("database", "private/subscriptions/modify"),
      """
      {"operations": [{"operationType": "create", "subscription": {
        "subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
        "zoneWide": true, "query": {"recordType": "Note"}}}]}
      """, to: 0)
    let saved = try #require(answer.json["subscriptions"]?.array?.first, "\(answer.json)")
    try #require(saved["serverErrorCode"] == nil, "\(answer.json)")
  }

  /// The names of the records that the user was notified of, as the log has them.
  func notifiedRecords() async throws -> [String] {
    let recipient = Recipient(
      userRecordName: user.userRecordName, container: Cloud.container, environment: .development)
    var names: [String] = []
    var token: String?
    while true {
      let page = try await store.notificationLog.notificationLog(
        of: recipient, since: token, limit: 1_000)
      for case .unread(let entry) in page.notifications {
        names.append(entry.notification.change.record?.recordID.recordName ?? "")
      }
      guard page.moreComing else { return names }
      token = page.token
    }
  }
}
