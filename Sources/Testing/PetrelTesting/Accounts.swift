internal import CloudKitModel
internal import Cryptography
internal import DatabaseAPI
import Foundation
internal import HTTPService
internal import PetrelServer
internal import Storage
internal import StoreModel
internal import Synchronization
internal import WebServices

/// The users and devices of a ``TestCloud``. The cloud creates a user or a device when a test first
/// names it.
///
/// The call that names a user or a device returns at once. Each request to the cloud first waits
/// until all users and devices that were named before exist (``ready()``). So a device gets the
/// pushes for changes that were made after the test named it, and not for earlier changes. A lock
/// protects the state, so any thread may call the methods.
final class Accounts: Sendable {
  /// A device of a user, registered for the pushes of one container.
  struct Device: Sendable, Hashable {
    var container: String
    /// The user's name in the test.
    var user: String
    /// The device's name in the test.
    var name: String
  }

  /// The values that the lock protects.
  private struct State {
    var tokens: [String: String] = [:]
    /// The devices that are registered, or that a task is going to register.
    var registered: Set<Device> = []
    /// The newest task that creates a user or registers a device; nil before the first task. Each
    /// task waits for the task before.
    var preparation: Task<Void, any Error>?
  }

  /// The lifetime of web auth tokens in seconds: a hundred years, so that they outlive the clock of
  /// every test.
  private static let tokenLifetime = 100 * 365 * 86_400.0

  private let store: AccountService
  private let service: CloudService
  let names: UserNames
  private let clock: @Sendable () -> Timestamp
  private let environment: ContainerEnvironment
  private let executor: any TaskExecutor
  private let state = Mutex(State())

  init(
    store: AccountService, service: CloudService, names: UserNames,
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

  func token(of user: String) -> String {
    state.withLock { state in
      if let token = state.tokens[user] { return token }
      let token = UUID().uuidString
      state.tokens[user] = token
      prepare(&state) { try await self.add(user, token: token) }
      return token
    }
  }

  /// Registers a device for pushes, as an app does at its launch. Does nothing if the device was
  /// registered before.
  func register(_ device: Device) {
    let token = token(of: device.user)
    state.withLock { state in
      guard state.registered.insert(device).inserted else { return }
      prepare(&state) { try await self.register(device, webAuthToken: token) }
    }
  }

  /// Returns when all users and devices that were named exist.
  ///
  /// - Throws: the error of the first user or device that could not be created.
  func ready() async throws {
    try await state.withLock { $0.preparation }?.value
  }

  /// Starts a task that does the work after the earlier tasks. The caller must hold the lock.
  private func prepare(
    _ state: inout State, _ work: @escaping @Sendable () async throws -> Void
  ) {
    let before = state.preparation
    state.preparation = Task(executorPreference: executor) {
      try await before?.value
      try await work()
    }
  }

  /// Creates a user in the store, with a web auth token. A name that is an e-mail address is also
  /// the user's address.
  private func add(_ name: String, token: String) async throws {
    // Any other name is just a name.
    let profile = try? UserProfile(emailAddress: name, phoneNumber: nil, nameComponents: nil)
    let user = try await store.addUser(named: name, profile: profile ?? UserProfile(), at: clock())
    names.add(name, recordName: user.userRecordName)
    try await Account.addToken(
      token, for: user, in: store, lifetime: Self.tokenLifetime, at: clock())
  }

  /// Registers a device by the request `tokens/register`. The device token is derived from the
  /// names of the container, the user and the device.
  ///
  /// - Throws: ``TestCloudError/Code/notPrepared`` if the service refuses the request.
  private func register(_ device: Device, webAuthToken: String) async throws {
    // A push goes to the devices that are registered when its change is dispatched. So the method
    // first waits until earlier changes are dispatched.
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
