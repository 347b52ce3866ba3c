internal import CloudKitModel
internal import Cryptography
internal import DatabaseAPI
import Foundation
internal import HTTPService
internal import PetrelServer
internal import StoreModel
internal import Synchronization
internal import WebServices

/// The users and devices of a cloud. Each is made when a test first names it.
///
/// A test names them without waiting; whatever asks the cloud for something waits until all that
/// were named before are there. So a device gets the pushes for every change that is made after it
/// was named, and for no other.
final class Accounts: Sendable {
  struct Device: Sendable, Hashable {
    var container: String
    var user: String
    var name: String
  }

  private struct State {
    /// By users' names.
    var tokens: [String: String] = [:]
    var registered: Set<Device> = []
    /// The last that was begun; it comes after all others.
    var preparation: Task<Void, any Error>?
  }

  /// Web auth tokens outlive every test's clock: a hundred years, in seconds.
  private static let tokenLifetime = 100 * 365 * 86_400.0

  private let store: any AccountStore & SessionStore
  private let service: CloudService
  let names: UserNames
  private let clock: @Sendable () -> Timestamp
  private let environment: ContainerEnvironment
  private let executor: any TaskExecutor
  private let state = Mutex(State())

  init(
    store: any AccountStore & SessionStore, service: CloudService, names: UserNames,
    environment: ContainerEnvironment, executor: any TaskExecutor,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.service = service
    self.names = names
    self.environment = environment
    self.executor = executor
    self.clock = clock
  }

  /// The web auth token of a user.
  func token(of user: String) -> String {
    state.withLock { state in
      if let token = state.tokens[user] { return token }
      let token = UUID().uuidString
      state.tokens[user] = token
      prepare(&state) { try await self.add(user, token: token) }
      return token
    }
  }

  /// Registers a device for pushes, as an app does at its launch.
  func register(_ device: Device) {
    let token = token(of: device.user)
    state.withLock { state in
      guard state.registered.insert(device).inserted else { return }
      prepare(&state) { try await self.register(device, webAuthToken: token) }
    }
  }

  /// Comes back when all users and devices that were named are there.
  func ready() async throws {
    try await state.withLock { $0.preparation }?.value
  }

  private func prepare(
    _ state: inout State, _ work: @escaping @Sendable () async throws -> Void
  ) {
    let before = state.preparation
    state.preparation = Task(executorPreference: executor) {
      try await before?.value
      try await work()
    }
  }

  private func add(_ name: String, token: String) async throws {
    let user = try await store.addUser(named: name, at: clock())
    names.add(name, recordName: user.userRecordName)
    try await Account.addToken(
      token, for: user, in: store, lifetime: Self.tokenLifetime, at: clock())
  }

  private func register(_ device: Device, webAuthToken: String) async throws {
    // Pushes go to the devices that are there when a change is dispatched: what was changed before
    // this device was named is not for it.
    await service.settle()
    let path = ServicePath(
      container: device.container, environment: environment, scope: nil,
      operation: "tokens/register")
    var request = HTTPRequest(method: "POST", target: path.description)
    request.query = [("ckWebAuthToken", webAuthToken), ("clientId", device.name)]
    let names = [device.container, device.user, device.name]
    request.body =
      TokenRequest(
        apnsEnvironment: environment == .production ? .production : .development,
        apnsToken: SHA256.hash(names.joined(separator: "\0").utf8)
          .map { String(format: "%02x", $0) }.joined(),
        clientID: device.name
      ).body
    let response = await service.respond(to: request)
    guard response.status == 200 else {
      throw TestCloudError(
        .notPrepared, "device '\(device.name)' of '\(device.user)' cannot be registered")
    }
  }
}
