import APNsSimulation
import ChangeDispatch
import CloudKit
import CloudKitModel
import Configuration
import Cryptography
import DatabaseAPI
import JSONCoding
import PetrelServer
import PushChannels
import Storage
import StoreModel
import Waiting

/// A whole cloud: a server over an SQLite file, an APNs simulator over TLS that knows its provider
/// key, and users with tokens.
actor Cloud {
  nonisolated static let container = "iCloud.org.example.EndToEnd"
  nonisolated static let topic = "org.example.EndToEnd"
  /// How long a test waits for what must come.
  nonisolated static let patience = Patience.usual

  nonisolated let directory: String
  nonisolated let authority: CertificateAuthority
  nonisolated let providerKey: ES256PrivateKey
  nonisolated let container: ServerConfiguration.Container
  /// The clock of the server and the simulator.
  nonisolated let clock: CloudClock
  private(set) var simulator: APNsSimulator
  private(set) var store: Store
  private(set) var server: Server
  private var tokens: [String: String] = [:]
  private(set) var serverPort: Int
  private var sentinels: Set<String> = []
  /// The devices that watch for sentinels. What is dispatched after their registration goes to
  /// them too.
  private var sentinelTokens: Set<String?> = []
  private var sentinelCount = 0

  static let keyID = "ENDTOEND01"
  static let teamID = "ENDTEAM001"

  /// Runs `body` with a cloud of its own and takes the cloud down afterwards.
  static func run(
    settings: ServerConfiguration.Container = ServerConfiguration.Container(),
    topics: [String] = [topic], _ body: (Cloud) async throws -> Void
  ) async throws {
    let cloud = try await Cloud(settings: settings, topics: topics)
    do {
      try await body(cloud)
    } catch {
      await cloud.end()
      throw error
    }
    await cloud.end()
  }

  private init(settings: ServerConfiguration.Container, topics: [String]) async throws {
    directory =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("petrel-end-to-end-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    clock = CloudClock()
    authority = try CertificateAuthority(commonName: "End-to-end APNs")
    providerKey = try ES256PrivateKey()
    simulator = try await APNsSimulator.start(
      Self.simulatorConfiguration(
        authority, providerKey, clock, directory: directory, port: 0))
    let keyFile = directory + "/AuthKey.p8"
    try providerKey.pem.write(toFile: keyFile, atomically: true, encoding: .utf8)
    var container = settings
    container.channels.apns = APNsSettings(
      topics: topics,
      credential: .key(file: keyFile, keyID: Self.keyID, teamID: Self.teamID),
      host: "127.0.0.1", port: simulator.port, authorityFile: directory + "/authority.pem")
    self.container = container
    store = try await Self.openStore(in: directory)
    server = try Self.makeServer(directory, container, store, clock, port: 0)
    try server.start()
    serverPort = server.port
  }

  private static func simulatorConfiguration(
    _ authority: CertificateAuthority, _ key: ES256PrivateKey, _ clock: CloudClock,
    directory: String, port: Int
  ) -> APNsSimulator.Configuration {
    var configuration = APNsSimulator.Configuration()
    configuration.clock = clock.read
    configuration.port = port
    configuration.authority = authority
    configuration.authorityCertificatePath = directory + "/authority.pem"
    configuration.keys = [
      ProviderKey(keyID: keyID, teamID: teamID, publicKey: key.publicKey)
    ]
    return configuration
  }

  private static func openStore(in directory: String) async throws -> Store {
    try await Store.open(
      at: ServerConfiguration(dataDirectory: directory).storePath)
  }

  private static func makeServer(
    _ directory: String, _ container: ServerConfiguration.Container, _ store: Store,
    _ clock: CloudClock, port: Int
  ) throws -> Server {
    var configuration = ServerConfiguration(dataDirectory: directory)
    configuration.port = port
    configuration.containers = [Self.container: container]
    return try Server(
      configuration: configuration, store: store, log: .silent, clock: clock.read)
  }

  private func end() async {
    await server.stop()
    await store.close()
    await simulator.stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  // MARK: Stopping and starting

  /// Stops the server; its store stays open.
  func stopServer() async {
    await server.stop()
  }

  /// Opens the file that a program has left, with no server over it.
  func openStore() async throws {
    store = try await Self.openStore(in: directory)
  }

  /// Starts a stopped server again, at the same port, on the file that the last one left.
  func startServer() async throws {
    await store.close()
    store = try await Self.openStore(in: directory)
    server = try Self.makeServer(directory, container, store, clock, port: serverPort)
    try server.start()
  }

  func stopSimulator() async {
    await simulator.stop()
  }

  /// Starts a simulator in the place of the stopped one.
  func startSimulator() async throws {
    simulator = try await APNsSimulator.start(
      Self.simulatorConfiguration(
        authority, providerKey, clock, directory: directory, port: simulator.port))
  }

  // MARK: Users and devices

  /// The web auth token of a user, who is added on first use.
  func token(of user: String) async throws -> String {
    if let token = tokens[user] { return token }
    try await addUser(named: user, profile: UserProfile())
    return try await token(of: user)
  }

  /// Adds a user of whom something is known.
  @discardableResult
  func addUser(named name: String, profile: UserProfile) async throws -> User {
    let user = try await store.accounts.addUser(named: name, profile: profile, at: .now)
    tokens[name] = try await Account.makeToken(for: user, in: store.accounts, at: .now)
    return user
  }

  /// Lets a user's token expire that many seconds from now, and starts the server again, which
  /// forgets what it knew of tokens.
  func expireToken(of name: String, inSeconds seconds: Double) async throws {
    let token = try await token(of: name)
    let user = try await Account.user(named: name, in: store.accounts)
    try await store.accounts.addWebAuthToken(
      WebAuthToken(
        hash: SHA256.hash(token.utf8), userRecordName: user.userRecordName, created: .now,
        expires: Timestamp.now.advanced(bySeconds: seconds)))
    await stopServer()
    try await startServer()
  }

  /// A token of a user that was good until a second ago.
  func expiredToken(of user: String) async throws -> String {
    _ = try await token(of: user)
    let known = try await Account.user(named: user, in: store.accounts)
    return try await Account.makeToken(
      for: known, in: store.accounts, lifetime: 60, at: Timestamp.now.advanced(bySeconds: -61))
  }

  /// The container as one device of a user sees it.
  func container(of user: String, device: String) async throws -> CKContainer {
    container(token: try await token(of: user), device: "\(user)-\(device)")
  }

  /// The container as someone with this token, or without any, sees it.
  func container(token: String?, device: String) -> CKContainer {
    CKContainer(
      identifier: Self.container,
      configuration: PetrelConfiguration(
        serverURL: serverURL, webAuthToken: token, deviceID: device))
  }

  /// The same, for a device that is registered for pushes.
  @discardableResult
  func registeredContainer(of user: String, device: String) async throws -> CKContainer {
    let container = try await container(of: user, device: device)
    try await container.registerForRemoteNotifications(
      deviceToken: Self.deviceToken(of: user, device: device))
    return container
  }

  var serverURL: URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = "127.0.0.1"
    components.port = serverPort
    return components.url!
  }

  /// The APNs token of a user's device.
  nonisolated static func deviceToken(of user: String, device: String) -> Data {
    Data(SHA256.hash("\(user) \(device)".utf8))
  }

  /// The APNs token as it stands in a push's path.
  nonisolated static func deviceTokenText(of user: String, device: String) -> String {
    deviceToken(of: user, device: device).map { String(format: "%02x", $0) }.joined()
  }

  // MARK: Pushes

  private static let sentinelType = "Sentinel"
  private static let sentinelSubscription = "sentinel"

  /// Returns all pushes that were accepted so far, without those of sentinels. It waits until no
  /// push can be on its way for changes that are known to be saved.
  ///
  /// Changes of a database are dispatched in order. The method saves a sentinel record after all
  /// others. When its push has arrived and no delivery is open, all pushes have been sent.
  func settledPushes(
    of user: String = "anna", in scope: CKDatabase.Scope = .private
  ) async throws -> [ReceivedPush] {
    let watcher = "sentinel-\(scope.rawValue)"
    let database = try await container(of: user, device: "sentinel-writer").database(with: scope)
    let id = Self.sentinelSubscription + watcher
    if sentinels.insert("\(user) \(scope.rawValue)").inserted {
      sentinelTokens.insert(Self.deviceTokenText(of: user, device: watcher))
      try await registeredContainer(of: user, device: watcher)
      try await database.save(
        CKQuerySubscription(
          recordType: Self.sentinelType, predicate: NSPredicate(value: true), subscriptionID: id))
    }
    sentinelCount += 1
    let name = "sentinel-\(sentinelCount)"
    try await database.save(
      CKRecord(recordType: Self.sentinelType, recordID: CKRecord.ID(recordName: name)))
    let token = Self.deviceTokenText(of: user, device: watcher)
    try await simulator.waitForPushes(count: 1, within: Self.patience) {
      $0.isAccepted && $0.deviceToken == token && $0.recordName == name
    }
    let server = server
    try await eventually("all is delivered") {
      let metrics = server.deliveryMetrics
      return metrics.underWay == 0 && metrics.waiting == 0
    }
    return simulator.received.filter {
      $0.isAccepted && !sentinelTokens.contains($0.deviceToken)
        && !($0.subscriptionID ?? "").hasPrefix(Self.sentinelSubscription)
    }
  }

  /// The first accepted pushes for a device of a user; waits for them.
  @discardableResult
  func pushes(
    _ count: Int = 1, to user: String = "anna", device: String = "phone"
  ) async throws -> [ReceivedPush] {
    let token = Self.deviceTokenText(of: user, device: device)
    return try await simulator.waitForPushes(count: count, within: Self.patience) {
      $0.isAccepted && $0.deviceToken == token
    }
  }
}
