import CloudKit
import CloudKitModel
import Cryptography
import DatabaseAPI
import Foundation
import JSONCoding
import OutboundHTTP
import PostgreSQLTesting
import ProxySimulation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage

/// Three servers on one PostgreSQL, under load, with whatever may happen to them.
@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct ServersUnderFaultsTests {
  /// Each saves in a zone of its own, but for the last, which saves in the public database.
  private static let writers = 4
  private static let onceSubscriptions = 20
  /// The users who are notified of the public database, which is dispatched in parts.
  private static let listeners = (0..<6).map { "_listener\($0)" }

  @Test(
    "Whatever was acknowledged is there and in the log once, in order, and each delivery has its end"
  )
  func faults() async throws {
    let installation = try await Installation()
    do {
      try await installation.start()
      let load = try await Load(on: installation)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<Self.writers { group.addTask { try await load.write(as: writer) } }
        group.addTask {
          defer { load.end() }
          try await strike(installation, load)
        }
        try await group.waitForAll()
      }
      try await check(installation, load)
      await load.close()
    } catch {
      await installation.end()
      throw error
    }
    await installation.end()
  }

  /// Does to the servers what may happen to them, each time in the middle of saves.
  private func strike(_ installation: Installation, _ load: Load) async throws {
    try await load.goOn("before anything happens")

    try await installation.servers[0].kill()
    try await load.divide(into: 4)
    try await load.goOn("while a server is dead")
    try await installation.restart(0)
    try await load.goOn("with the server back")

    let paused = try await installation.serverID(of: 1)
    installation.servers[1].signal(SIGSTOP)
    try await eventually("the paused server is taken for gone") {
      try await !installation.registered().contains(paused)
    }
    try await load.goOn("while a server is paused")
    installation.servers[1].signal(SIGCONT)
    try await eventually("the server registers anew") {
      try await installation.registered().count == 3
    }
    try await load.goOn("with the server awake")

    try await installation.postgreSQL.restart()
    try await load.goOn("after PostgreSQL has gone down")
    try await load.divide(into: 2)

    let cutOff = try await installation.serverID(of: 2)
    for direction in HoldingProxy.Direction.allCases { installation.proxies[2].hold(direction) }
    try await eventually("the server that is cut off is taken for gone") {
      try await !installation.registered().contains(cutOff)
    }
    try await load.goOn("while a server is cut off")
    installation.proxies[2].cut()
    installation.proxies[2].release()
    try await eventually("the server registers anew") {
      try await installation.registered().count == 3
    }
    try await load.goOn("with all in order")

    installation.servers[0].signal(SIGTERM)
    #expect(try await installation.servers[0].end() == 0)
    try await load.goOn("with a server that went in order")
  }

  private func check(_ installation: Installation, _ load: Load) async throws {
    let store = installation.store
    let names = load.acknowledged
    for (number, written) in names.enumerated() {
      #expect(written.count > 10)
      let isPublic = number == Self.writers - 1
      let records = try await store.records.records(
        written.map {
          RecordID(
            recordName: $0, zoneID: isPublic ? .default : ZoneID(zoneName: "zone\(number)"))
        }, in: isPublic ? load.publicDatabase : load.database)
      #expect(records.allSatisfy { $0 != nil })
    }
    try await eventually("everything is dispatched") {
      try await store.outbox.undispatchedDatabases().isEmpty
    }
    let log = try await load.log(in: store)
    for (number, written) in names.dropLast().enumerated() {
      let notified = log.filter { $0.subscriptionID == "notes" && $0.zone == "zone\(number)" }
        .map(\.record)
      // A save without an answer may have been carried out, and then there is a notification of it.
      let saved = Set(notified)
      #expect(saved.count == notified.count, "writer \(number) was notified of once each")
      #expect(saved.isSuperset(of: written), "writer \(number)")
      #expect(notified == notified.sorted { Load.number(of: $0) < Load.number(of: $1) })
    }
    for listener in Self.listeners {
      let heard = try await load.log(of: listener, in: store).map(\.record)
      let saved = Set(heard)
      #expect(saved.count == heard.count, "\(listener) was notified of once each")
      #expect(saved.isSuperset(of: names[Self.writers - 1]), "\(listener)")
      #expect(heard == heard.sorted { Load.number(of: $0) < Load.number(of: $1) })
    }
    #expect(
      try await store.servers?.partition(of: load.publicDatabase) == Partition(parts: 2))
    for number in 0..<Self.onceSubscriptions {
      #expect(
        log.count { $0.subscriptionID == "once\(number)" } == 1, "once\(number) fires once")
    }
    try await eventually("each delivery has its outcome") {
      try await store.deliveries.owedDeliveryCount() == 0
    }
    let messages = load.receiver.messages.filter { $0.status == 204 }
    #expect(messages.allSatisfy { $0.isSigned })
    let told = Dictionary(grouping: messages) { $0.recordName ?? "" }
    #expect(Set(told.keys).isSuperset(of: names[Self.writers - 1]))
    // What was sent once more bears the same name.
    let identifiers = told.values.map { Set($0.map(\.id)).count }
    #expect(identifiers.allSatisfy { $0 == 1 })
    #expect(load.failures > 0, "the faults must have been noticed")
  }

  /// Saves at any of the servers, and what was acknowledged.
  fileprivate final class Load: Sendable {
    private struct State {
      var acknowledged: [[String]] = Array(repeating: [], count: writers)
      var failures = 0
      var isOver = false
    }

    let database: DatabaseID
    let publicDatabase: DatabaseID
    let receiver: WebhookReceiver
    private let installation: Installation
    private let token: String
    private let user: String
    // Foundation's sessions compute all the time that a server on a new connection does not answer.
    private let client: HTTPClient
    private let state = Mutex(State())

    init(on installation: Installation) async throws {
      self.installation = installation
      let store = installation.store
      let user = try await store.accounts.addUser(named: "anna", at: .now)
      token = try await Account.makeToken(for: user, in: store.accounts, at: .now)
      self.user = user.userRecordName
      database = try await store.databases.database(
        at: DatabaseAddress(
          container: Cloud.container, environment: .development, scope: .private,
          owner: user.userRecordName))
      publicDatabase = try await store.databases.database(
        at: DatabaseAddress(
          container: Cloud.container, environment: .development, scope: .public, owner: nil))
      receiver = try WebhookReceiver(refusals: 0)
      var configuration = HTTPClient.Configuration()
      configuration.time = 4
      configuration.allowsHTTP = true
      configuration.rules = .anywhere
      client = try HTTPClient(configuration)
      let operations = (0..<writers).map {
        #"{"operationType": "create", "zone": {"zoneID": {"zoneName": "zone\#($0)"}}}"#
      }
      _ = try await post(
        "database", "private/zones/modify",
        #"{"operations": [\#(operations.joined(separator: ","))]}"#, at: 0)
      let program = try await WebCaller(
        withKeyNamed: "feed", in: store.credentials,
        at: try #require(URL(string: "http://127.0.0.1:\(installation.port(of: 0))")))
      // A server asks for new keys every few seconds.
      var hook: JSONValue = [:]
      let address = receiver.url
      try await eventually("the server knows the key") {
        guard
          let made = try? await program.post(
            "webhooks/register", ["url": .string(address)], root: "device")
        else { return false }
        hook = made
        return true
      }
      receiver.expect(secret: try #require(hook["secret"]?.string, "\(hook)"))
      try await program.post(
        "public/subscriptions/modify",
        [
          "operations": [
            [
              "operationType": "create",
              "subscription": [
                "subscriptionID": "items", "subscriptionType": "query", "firesOn": ["create"],
                "query": ["recordType": "Item"], "notificationInfo": ["alertBody": "New"],
              ],
            ]
          ]
        ], root: "database")
      for listener in listeners {
        _ = try await store.subscriptions.modifySubscriptions(
          [
            .save(
              Subscription(
                subscriptionID: "items",
                kind: .query(
                  Query(recordType: "Item"), zoneID: nil, options: .firesOnRecordCreation)))
          ], of: listener, in: publicDatabase, timestamp: .now)
      }
      // Whoever saves names no device, so this reader is owed the notifications of what fires once.
      _ = try await post(
        "device", "tokens/create",
        #"{"apnsEnvironment": "development", "clientId": "reader"}"#, at: 0)
      try await divide(into: 3)
      try await subscribe("notes", to: "Note", #""firesOn": ["create"]"#)
      for number in 0..<onceSubscriptions {
        try await subscribe(
          "once\(number)", to: "Note", #""firesOn": ["create"], "firesOnce": true"#)
      }
    }

    private func subscribe(_ id: String, to type: String, _ more: String) async throws {
      let answer = try await post(
        "database", "private/subscriptions/modify",
        #"""
        {"operations": [{"operationType": "create", "subscription": {
          "subscriptionID": "\#(id)", "subscriptionType": "query", "zoneWide": true,
          \#(more),
          "query": {"recordType": "\#(type)"},
          "notificationInfo": {"alertBody": "\#(id)"}}}]}
        """#, at: 1)
      let saved = try #require(answer["subscriptions"]?.array?.first, "\(answer)")
      try #require(saved["serverErrorCode"] == nil, "\(answer)")
    }

    var acknowledged: [[String]] { state.withLock { $0.acknowledged } }
    var failures: Int { state.withLock { $0.failures } }

    func end() { state.withLock { $0.isOver = true } }

    func close() async { await client.close() }

    /// Has the public database dispatched in so many parts.
    func divide(into parts: Int) async throws {
      try await eventually("PostgreSQL can be told") {
        (try? await installation.store.servers?.partition(publicDatabase, into: parts)) != nil
      }
    }

    /// Waits until more is saved.
    func goOn(_ when: String) async throws {
      let before = acknowledged.reduce(0) { $0 + $1.count }
      try await eventually("records are saved \(when)", within: .seconds(60)) {
        acknowledged.reduce(0) { $0 + $1.count } >= before + 40
      }
    }

    /// Saves one record after the other in a zone of the writer's own, at one server and then another.
    func write(as writer: Int) async throws {
      var number = 0
      var server = writer
      while !state.withLock({ $0.isOver }) {
        let name = "w\(writer)-\(number)"
        number += 1
        while true {
          server = (server + 1) % 3
          if await save(name, by: writer, at: server) { break }
          state.withLock { $0.failures += 1 }
        }
        state.withLock { $0.acknowledged[writer].append(name) }
      }
    }

    private func save(_ name: String, by writer: Int, at server: Int) async -> Bool {
      let isPublic = writer == writers - 1
      let body = #"""
        {"zoneID": {"zoneName": "\#(isPublic ? "_defaultZone" : "zone\(writer)")"},
         "atomic": false, "operations": [{"operationType": "create", "record": {
           "recordName": "\#(name)", "recordType": "\#(isPublic ? "Item" : "Note")"}}]}
        """#
      let operation = "\(isPublic ? "public" : "private")/records/modify"
      guard
        let answer = try? await post("database", operation, body, at: server),
        let record = answer["records"]?.array?.first
      else { return false }
      // One that was in doubt may be there already.
      return record["serverErrorCode"] == nil || record["serverErrorCode"]?.string == "EXISTS"
    }

    private func post(
      _ root: String, _ operation: String, _ body: String, at server: Int
    ) async throws -> JSONValue {
      let escaped = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let url = try OutboundURL(
        "http://127.0.0.1:\(installation.port(of: server))/\(root)/1/"
          + "\(Cloud.container)/development/\(operation)?ckWebAuthToken=\(escaped)",
        allowsHTTP: true, rules: .anywhere)
      let answer = try await client.send(
        OutboundRequest(url: url, headers: [], body: Array(body.utf8)))
      return try JSONValue(parsing: Data(answer.body))
    }

    struct Line {
      var subscriptionID: String
      var zone: String
      var record: String
    }

    /// All that a user's log holds, that of who saves unless another is named; oldest first.
    func log(of user: String? = nil, in store: Store) async throws -> [Line] {
      let recipient = Recipient(
        userRecordName: user ?? self.user, container: Cloud.container, environment: .development)
      var lines: [Line] = []
      var token: String?
      while true {
        let page = try await store.notificationLog.notificationLog(
          of: recipient, since: token, limit: 1_000)
        for case .unread(let entry) in page.notifications {
          let notification = entry.notification
          lines.append(
            Line(
              subscriptionID: notification.subscription.subscriptionID,
              zone: notification.change.record?.recordID.zoneID.zoneName ?? "",
              record: notification.change.record?.recordID.recordName ?? ""))
        }
        guard page.moreComing else { return lines }
        token = page.token
      }
    }

    static func number(of name: String) -> Int {
      name.split(separator: "-").last.flatMap { Int($0) } ?? -1
    }
  }
}
