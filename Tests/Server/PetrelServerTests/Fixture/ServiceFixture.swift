import CloudKitModel
import Foundation
import JSONCoding
import OutboundHTTP
import PostgreSQLTesting
import PushChannels
import SQLEngine
import Storage
import Synchronization
import Testing

@testable import Configuration
@testable import DatabaseAPI
@testable import Logging
@testable import PetrelServer

/// A user who can make requests.
struct TestUser: Sendable {
  var name: String
  var recordName: String
  var token: String
}

/// The settings that a test chooses for its server.
struct ServiceSettings: Sendable {
  /// How long the courier holds a poll, in seconds: longer than any test that waits for an answer.
  var pollTime = 20.0
  var publicURL: String?
  /// How far dates of signed requests may be off, in seconds.
  var signatureWindow = 600.0
  var containers: [String: ServerConfiguration.Container] = [:]
  var signIn = ServerConfiguration.SignIn()
  var limits = ServerConfiguration.Limits()
  var webPush: WebPushSettings?
  var webhooks: WebhookSettings?
  var admin = ServerConfiguration.Admin()
  var metrics = ServerConfiguration.Metrics()
  /// Where the server listens.
  var address = "127.0.0.1"
  var log = ServerLog.silent
  /// The PostgreSQL that has the store; nil for a file, unless all tests run on PostgreSQL.
  var postgreSQL: String?
  /// Whether the server is started before the test begins.
  var starts = true
}

/// A server over a store in a file, with two users.
final class Service: Sendable {
  static let container = "iCloud.com.example.app"

  let directory: String
  let alice: TestUser
  let bob: TestUser
  /// The time that the server goes by.
  let clock: TestClock
  private let state: Mutex<State>
  let configuration: ServerConfiguration
  private let log: ServerLog

  private struct State {
    var store: Store
    var server: Server
  }

  var store: Store { state.withLock { $0.store } }
  var server: Server { state.withLock { $0.server } }
  var client: ServiceClient { ServiceClient(port: server.port) }
  var operations: OperationTable { server.service.operations }

  fileprivate init(directory: String, settings: ServiceSettings) async throws {
    self.directory = directory
    var configuration = ServerConfiguration(dataDirectory: directory)
    configuration.port = 0
    configuration.courierPollTime = settings.pollTime
    configuration.publicURL = settings.publicURL
    configuration.signatureWindow = settings.signatureWindow
    configuration.containers = settings.containers
    configuration.signIn = settings.signIn
    configuration.limits = settings.limits
    configuration.channels.webPush = settings.webPush
    configuration.channels.webhooks = settings.webhooks
    configuration.admin = settings.admin
    configuration.metrics = settings.metrics
    configuration.address = settings.address
    configuration.postgreSQL = try settings.postgreSQL.map { try PostgreSQLAddress($0) }
    log = settings.log
    self.configuration = configuration
    clock = TestClock()
    let store = try await Store.open(
      at: configuration.storeLocation, configuration: Self.storeConfiguration)
    alice = try await Self.addUser("alice", to: store)
    bob = try await Self.addUser("bob", to: store)
    let server = try Server(
      configuration: configuration, store: store, log: log, clock: clock.read)
    state = Mutex(State(store: store, server: server))
    if settings.starts { try server.start() }
  }

  static var storeConfiguration: StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 2048
    return configuration
  }

  static func addUser(_ name: String, to store: Store) async throws -> TestUser {
    let user = try await store.accounts.addUser(named: name, at: .now)
    return TestUser(
      name: name, recordName: user.userRecordName,
      token: try await Account.makeToken(for: user, in: store.accounts, at: .now))
  }

  /// Stops the server, closes the store, and starts both anew from the file.
  ///
  /// - Parameter configure: changes the configuration that the test began with, for this start alone.
  func restart(
    configureStore: (inout StoreConfiguration) -> Void = { _ in },
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) async throws {
    var configuration = configuration
    configure(&configuration)
    await server.stop()
    await store.close()
    var storeConfiguration = Self.storeConfiguration
    configureStore(&storeConfiguration)
    let store = try await Store.open(
      at: configuration.storeLocation, configuration: storeConfiguration)
    let server = try Server(
      configuration: configuration, store: store, log: log, clock: clock.read)
    state.withLock { $0 = State(store: store, server: server) }
    try server.start()
  }

  // MARK: Requests

  /// Posts to an operation such as `public/records/modify`.
  func post(
    _ operation: String, _ body: String, as user: TestUser?, device: String? = nil,
    in environment: ContainerEnvironment = .development
  ) async throws -> Answer {
    try await client.send(
      "POST", target(operation, as: user, device: device, in: environment), body: Data(body.utf8))
  }

  func get(_ operation: String, as user: TestUser?) async throws -> Answer {
    try await client.send("GET", target(operation, as: user))
  }

  func target(
    _ operation: String, as user: TestUser?, device: String? = nil,
    in environment: ContainerEnvironment = .development
  ) -> String {
    var query: [String] = []
    if let user { query.append("ckWebAuthToken=\(Self.escaped(user.token))") }
    if let device { query.append("clientId=\(device)") }
    let isOfDevices = ["tokens/", "notifications/", "webPush/", "webhooks/", "server/"].contains {
      operation.hasPrefix($0)
    }
    let prefix = isOfDevices ? "device" : "database"
    return "/\(prefix)/1/\(Self.container)/\(environment.rawValue)/\(operation)?"
      + query.joined(separator: "&")
  }

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  /// One operation on a record of type Note, as JSON.
  static func operation(
    _ kind: String, _ name: String, _ fields: String = "", tag: String? = nil,
    zone: String? = nil, type: String? = "Note"
  ) -> String {
    let members = [
      #""recordName": "\#(name)""#, type.map { #""recordType": "\#($0)""# },
      tag.map { #""recordChangeTag": "\#($0)""# },
      zone.map { #""zoneID": {"zoneName": "\#($0)"}"# }, #""fields": {\#(fields)}"#,
    ]
    return #"{"operationType": "\#(kind)", "record": {"#
      + members.compactMap { $0 }.joined(separator: ", ") + "}}"
  }

  /// Sends operations that ``operation(_:_:_:tag:zone:type:)`` made.
  func modify(
    _ operations: String..., in database: String = "public", as user: TestUser? = nil,
    atomic: Bool = true, device: String? = nil, more: String = ""
  ) async throws -> Answer {
    try await post(
      "\(database)/records/modify",
      #"{"operations": [\#(operations.joined(separator: ", "))], "atomic": \#(atomic)\#(more)}"#,
      as: user ?? alice, device: device)
  }

  func lookup(
    _ names: String..., in database: String = "public", zone: String = "_defaultZone",
    as user: TestUser? = nil, more: String = ""
  ) async throws -> Answer {
    let records = names.map { #"{"recordName": "\#($0)"}"# }.joined(separator: ", ")
    return try await post(
      "\(database)/records/lookup",
      #"{"records": [\#(records)], "zoneID": {"zoneName": "\#(zone)"}\#(more)}"#,
      as: user ?? alice)
  }

  func makeZone(_ name: String, as user: TestUser? = nil) async throws {
    let answer = try await post(
      "private/zones/modify",
      #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "\#(name)"}}}]}"#,
      as: user ?? alice)
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  /// Saves one subscription from a JSON object. By default the test expects success.
  @discardableResult
  func subscribe(
    _ subscription: String, in database: String = "public", as user: TestUser? = nil
  ) async throws -> JSONValue {
    let answer = try await post(
      "\(database)/subscriptions/modify",
      #"{"operations": [{"operationType": "create", "subscription": \#(subscription)}]}"#,
      as: user ?? alice)
    try #require(answer.status == 200, "\(answer.json)")
    return answer[0]
  }

  // MARK: Web courier

  /// Makes a web courier token and answers the path of its URL.
  func makeReader(as user: TestUser, device: String = "reader") async throws -> String {
    let answer = try await post(
      "tokens/create", #"{"apnsEnvironment": "development", "clientId": "\#(device)"}"#, as: user)
    let url = try #require(answer.json["webcourierURL"]?.string, "\(answer.json)")
    return try #require(url.range(of: "/aps?").map { String(url[$0.lowerBound...]) })
  }

  func poll(_ path: String) async throws -> Answer {
    try await client.send("GET", path)
  }
}

extension WebPushSettings {
  /// Settings under which push services on this machine are sent to.
  static func toThisMachine(trusting authorityFile: String) -> Self {
    var settings = Self(subject: "mailto:ops@example.com")
    settings.outbound.allowedNetworks = ["127.0.0.0/8"].compactMap(IPNetwork.init)
    settings.outbound.authorityFile = authorityFile
    return settings
  }
}

/// A clock that tests move.
final class TestClock: Sendable {
  private let offset = Mutex(0.0)
  private let stopped = Mutex<Timestamp?>(nil)

  func advance(bySeconds seconds: Double) { offset.withLock { $0 += seconds } }

  /// From now on it only moves when it is moved, however long the test takes.
  func stop() { stopped.withLock { $0 = .now } }

  var read: @Sendable () -> Timestamp {
    {
      let now = self.stopped.withLock { $0 } ?? .now
      return now.advanced(bySeconds: self.offset.withLock { $0 })
    }
  }
}

/// Runs `body` with a server over a store in a file; with `PETREL_TEST_STORE=postgres` in the
/// environment, over one in PostgreSQL.
func withService(
  _ settings: ServiceSettings = ServiceSettings(),
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Service) async throws -> Void
) async throws {
  guard ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] == "postgres",
    settings.postgreSQL == nil
  else { return try await withServiceWhereTold(settings, sourceLocation: sourceLocation, body) }
  let schema = try await PostgreSQLServer.shared.makeStore()
  var settings = settings
  settings.postgreSQL = schema.address
  try await withServiceWhereTold(settings, sourceLocation: sourceLocation, body)
  try await PostgreSQLServer.shared.drop(schema)
}

/// Runs `body` with a server, which must serve still when `body` is done.
private func withServiceWhereTold(
  _ settings: ServiceSettings, sourceLocation: SourceLocation,
  _ body: (Service) async throws -> Void
) async throws {
  let directory = NSTemporaryDirectory() + "petrel-server-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let service = try await Service(directory: directory, settings: settings)
  do {
    try await body(service)
    var health = try await service.client.send(
      "GET", service.target("public/users/caller", as: service.alice))
    if health.status == 401,
      let user = try await service.store.accounts.user(named: service.alice.name)
    {
      // A test may let her token expire.
      var alice = service.alice
      alice.token = try await Account.makeToken(
        for: user, in: service.store.accounts, at: service.clock.read())
      health = try await service.client.send(
        "GET", service.target("public/users/caller", as: alice))
    }
    #expect(
      health.json["userRecordName"]?.string == service.alice.recordName,
      "the server must serve still: \(health.status) \(health.json)",
      sourceLocation: sourceLocation)
  } catch {
    await service.server.stop()
    await service.store.close()
    throw error
  }
  await service.server.stop()
  await service.store.close()
}
