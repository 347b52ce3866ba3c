import CloudKitModel
import Cryptography
import Foundation
import Testing
import WebPushSimulation

@testable import DatabaseAPI

/// A server with somebody of every kind: who is let in, and who must not be.
struct AccessWorld: Sendable {
  /// Checks that a world can do without, to see that the tables notice.
  enum Hole: Hashable, CaseIterable {
    case revokedAPIToken, expiredToken, foreignSession, revokedKey, oldDate, serverKeyIsUser,
      otherMember
  }

  /// A container that requires no API token, unlike the fixture's container.
  static let open = "iCloud.com.example.open"
  static let foreign = "iCloud.com.example.foreign"

  let service: Service
  let holes: Set<Hole>
  let apiToken: String
  let revokedAPIToken: String
  let foreignAPIToken: String
  let productionAPIToken: String
  let limitedAPIToken: String
  let key: SigningClient
  let openKey: SigningClient
  let revokedKey: SigningClient
  let foreignKey: SigningClient
  let productionKey: SigningClient
  /// Of Alice, in the fixture's container.
  let session: String
  let expiredSession: String
  let foreignSession: String
  let productionSession: String
  let endedSession: String
  let expiredToken: String
  let endedToken: String
  let courierToken: String
  let adminKey: String
  let consoleCookie: String

  static var settings: ServiceSettings {
    var settings = ServiceSettings(pollTime: 0)
    settings.webPush = .init(subject: "mailto:ops@example.com")
    settings.webhooks = .init()
    settings.webhooks?.webhooksPerKey = 1000
    settings.webPush?.browsersPerUser = 1000
    return settings
  }

  init(_ service: Service, holes: Set<Hole> = []) async throws {
    self.service = service
    self.holes = holes
    let store = service.store
    let now = service.clock.read()
    func addAPIToken(
      _ container: String, _ environment: ContainerEnvironment = .development,
      origins: [String] = []
    ) async throws -> String {
      try await Registration.addAPIToken(
        named: "t", container: container, environment: environment,
        origins: try origins.map { try WebOrigin(parsing: $0) }, to: store.credentials, at: now)
    }
    func revoke(_ text: String) async throws {
      _ = try await Registration.revoke(
        text, of: store.credentials, and: store.adminAccess, at: now)
    }
    func addKey(
      _ container: String, _ environment: ContainerEnvironment = .development
    ) async throws -> SigningClient {
      try await SigningClient(service, container: container, environment: environment)
    }
    apiToken = try await addAPIToken(Service.container)
    limitedAPIToken = try await addAPIToken(
      Service.container, origins: ["https://app.example.com"])
    productionAPIToken = try await addAPIToken(Service.container, .production)
    foreignAPIToken = try await addAPIToken(Self.foreign)
    revokedAPIToken = try await addAPIToken(Service.container)
    if !holes.contains(.revokedAPIToken) { try await revoke(revokedAPIToken) }

    key = try await addKey(Service.container)
    openKey = try await addKey(Self.open)
    revokedKey = try await addKey(Service.container)
    if !holes.contains(.revokedKey) { try await revoke(revokedKey.keyID) }
    foreignKey = try await addKey(Self.foreign)
    productionKey = try await addKey(Service.container, .production)

    let carol = try await Service.addUser("carol", to: store)
    func addSession(
      of user: TestUser, _ container: String = Service.container,
      _ environment: ContainerEnvironment = .development, age: Double = 0
    ) async throws -> String {
      let account = try #require(try await store.accounts.user(named: user.name))
      return try await Account.makeSessionToken(
        for: account, container: container, environment: environment, staysSignedIn: false,
        in: store.accounts, at: now.advanced(bySeconds: -age))
    }
    session = try await addSession(of: service.alice)
    expiredSession = try await addSession(
      of: service.alice, age: holes.contains(.expiredToken) ? 0 : 1801)
    foreignSession = try await addSession(
      of: service.alice, holes.contains(.foreignSession) ? Service.container : Self.foreign)
    productionSession = try await addSession(of: service.alice, Service.container, .production)
    endedSession = try await addSession(of: carol)
    endedToken = carol.token
    _ = try await Account.signOut(userNamed: "carol", everywhere: true, in: store.accounts, at: now)
    let alice = try #require(try await store.accounts.user(named: service.alice.name))
    expiredToken = try await Account.makeToken(
      for: alice, in: store.accounts, lifetime: 60,
      at: now.advanced(bySeconds: holes.contains(.expiredToken) ? 0 : -61))
    let reader = try await service.makeReader(as: service.alice)
    courierToken = try #require(
      reader.components(separatedBy: "tok=").last?.components(separatedBy: "&").first)
    adminKey = try await service.addAdminKey()
    consoleCookie = try await service.beginConsoleSession(adminKey)
    try await fill()
  }

  /// Gives Alice something to find.
  private func fill() async throws {
    for database in ["public", "private"] {
      let file = try await service.uploaded(
        Data("bytes".utf8), record: "there", field: "file", in: database)
      let saved = try await service.modify(
        Service.operation("create", "there", #""file": {"value": \#(file.text)}"#), in: database)
      try #require(saved.outcomes == ["ok"])
      try await service.subscribe(
        #"{"subscriptionID": "there", "subscriptionType": "query", "firesOn": ["create"], "#
          + #""query": {"recordType": "Note"}}"#, in: database)
    }
    try await service.makeZone("Notes")
    let elsewhere = try await service.client.send(
      "POST",
      Call("public", "records/modify").path(Self.open)
        + "?ckWebAuthToken=\(Service.escaped(service.alice.token))",
      body: Data(#"{"operations": [\#(Service.operation("create", "there"))]}"#.utf8))
    try #require(elsewhere.outcomes == ["ok"])
  }

  /// Runs `body` with a world.
  static func with(
    _ holes: Set<Hole> = [], _ body: (AccessWorld) async throws -> Void
  ) async throws {
    try await withService(settings) { service in
      try await body(try await AccessWorld(service, holes: holes))
    }
  }

  // MARK: Requests

  /// A call of an operation, without who makes it.
  struct Call {
    /// `public`, `private` or `shared`; empty for what belongs to a whole container.
    var scope: String
    var operation: String
    var body = "{}"

    init(_ scope: String, _ operation: String, body: String = "{}") {
      self.scope = scope
      self.operation = operation
      self.body = body
    }

    func path(_ container: String) -> String {
      scope.isEmpty
        ? "/device/1/\(container)/development/\(operation)"
        : "/database/1/\(container)/development/\(scope)/\(operation)"
    }
  }

  /// The credentials of a request.
  struct Shown {
    var container = Service.container
    var query: [(String, String)] = []
    var headers = ""
    /// Signs the call's path and body.
    var sign: ((String, String) throws -> String)?
  }

  func send(_ call: Call, _ shown: Shown) async throws -> Answer {
    let path = call.path(shown.container)
    let query = shown.query.map { "\($0.0)=\(Service.escaped($0.1))" }.joined(separator: "&")
    let headers = try shown.headers + (shown.sign?(path, call.body) ?? "")
    return try await service.client.send(
      "POST", query.isEmpty ? path : "\(path)?\(query)", headers: headers,
      body: Data(call.body.utf8))
  }
}

/// A server-to-server client that signs in the test's own process.
struct SigningClient: Sendable {
  let service: Service
  let privateKey: ES256PrivateKey
  let keyID: String
  let userRecordName: String

  init(
    _ service: Service, container: String, environment: ContainerEnvironment = .development
  ) async throws {
    self.service = service
    privateKey = try ES256PrivateKey()
    let key = try await Registration.addServerKey(
      named: "feed", container: container, environment: environment,
      publicKey: privateKey.publicKey, to: service.store.credentials, at: service.clock.read())
    keyID = key.keyID
    userRecordName = key.userRecordName
  }

  /// The header fields of a signed request.
  ///
  /// - Parameters:
  ///   - shown: the ID that the request shows, if it is another's.
  ///   - seconds: from now to the request's date.
  ///   - change: changes the message that is signed.
  func headers(
    _ path: String, _ body: String, showing shown: String? = nil, after seconds: Double = 0,
    change: (String) -> String = { $0 }
  ) throws -> String {
    let milliseconds = service.clock.read().advanced(bySeconds: seconds).milliseconds
    let date = Timestamp(milliseconds: milliseconds / 1000 * 1000).iso8601
    let hash = Data(SHA256.hash(body.utf8)).base64EncodedString()
    let signature = try privateKey.signature(for: change("\(date):\(hash):\(path)").utf8)
    let fields = [
      ("KeyID", shown ?? keyID), ("ISO8601Date", date),
      ("SignatureV1", Data(signature.der).base64EncodedString()),
    ]
    return fields.map { "X-Apple-CloudKit-Request-\($0): \($1)\r\n" }.joined()
  }
}
