internal import ChangeDispatch
public import CloudKit
internal import CloudKitModel
internal import Configuration
internal import PetrelServer
internal import Storage
internal import StoreModel
internal import Synchronization

/// A whole cloud in the test's own process: Petrel's server without sockets, with its data in
/// memory. It has any number of users and devices.
///
/// ```swift
/// let cloud = try await TestCloud()
/// let phone = cloud.container(user: "anna", device: "iphone")
/// let tablet = cloud.container(user: "anna", device: "ipad")
///
/// try await tablet.privateCloudDatabase.save(
///   CKQuerySubscription(
///     recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
///     options: .firesOnRecordCreation))
/// try await phone.privateCloudDatabase.save(CKRecord(recordType: "Note"))
///
/// let pushes = await cloud.pushes(to: "anna", device: "ipad")
/// #expect(pushes.map(\.notification?.subscriptionID) == ["notes"])
/// ```
///
/// A cloud starts in milliseconds, so give each test its own. Two clouds share nothing, so tests
/// can run in parallel. A cloud ends with ``stop()``, or when the last reference to it and to its
/// containers is gone.
///
/// The cloud runs on a queue of its own. So it also answers code that blocks its thread while it
/// waits. Any thread may call the methods.
public final class TestCloud: Sendable {
  /// The settings of a cloud.
  public struct Configuration: Sendable {
    /// The identifier of the container that
    /// ``TestCloud/container(user:device:identifier:registersForPushes:)`` returns if a test names
    /// none. Other containers exist as soon as a test names them.
    public var containerIdentifier = "iCloud.org.example.tests"
    /// The environment of all containers.
    public var environment = PetrelConfiguration.Environment.development
    /// The first time of the cloud's clock. The time changes only by ``TestClock/advance(by:)``.
    public var startDate = Date()
    /// The number of pushes that the cloud keeps; less than 1 counts as 1. When more pushes come,
    /// the cloud deletes the oldest.
    public var pushLimit = 10_000

    /// Creates settings with the development environment and a clock that starts now.
    public init() {}
  }

  let configuration: Configuration
  let executor = QueueExecutor()
  let accounts: Accounts
  let service: CloudService
  let log: PushLog
  /// The requests under way, except the long polls for notifications.
  let requests = RequestsUnderWay()
  let polls = RequestsUnderWay()
  let faults = Mutex(FaultPlan<TestFault>())
  let pushFaults: PushFaults
  private let store: Store
  private let face: TestClock.Face
  private let isStopped = Mutex(false)
  /// The folder in which the devices keep their long-lived operations. The first such operation
  /// creates the folder. The cloud removes the folder when it ends.
  let stateDirectory = FileManager.default.temporaryDirectory
    .appendingPathComponent("petrel-testing-\(UUID().uuidString)", isDirectory: true)

  /// The base URL of all requests. No connection is made to it: the name `petrel.invalid` never
  /// exists (RFC 2606).
  static let serverURL: URL = {
    var components = URLComponents()
    components.scheme = "http"
    components.host = "petrel.invalid"
    // A scheme and a host always make a URL.
    return components.url!
  }()

  /// Starts a cloud without any data.
  ///
  /// - Throws: ``TestCloudError/Code/cannotStart`` if the store in memory cannot be created.
  public init(configuration: Configuration = Configuration()) async throws {
    let store: Store
    do {
      // No environment gets a fixed schema, because a schema cannot be deployed to a cloud in
      // memory.
      var storeConfiguration = StoreConfiguration()
      storeConfiguration.fixedEnvironments = []
      store = try await Store.inMemory(configuration: storeConfiguration)
    } catch {
      throw TestCloudError(.cannotStart, "a store in memory cannot be created: \(error)")
    }
    self.store = store
    self.configuration = configuration
    let face = TestClock.Face(configuration.startDate)
    self.face = face
    let clock: @Sendable () -> Timestamp = { face.now }
    let log = PushLog(limit: configuration.pushLimit)
    self.log = log
    let pushFaults = PushFaults()
    self.pushFaults = pushFaults
    let names = UserNames()
    service = CloudService(
      configuration: ServerConfiguration(dataDirectory: ""), store: store, clock: clock,
      executor: executor, publicURL: { Self.serverURL.absoluteString },
      route: { device in
        let receiver = PushReceiver(device: device, user: names[device.userRecordName])
        return receiver.route(log: log, faults: pushFaults, clock: clock)
      })
    accounts = Accounts(
      store: store.accounts, service: service, names: names,
      environment: configuration.environment == .production ? .production : .development,
      executor: executor, clock: clock)
    service.start()
  }

  deinit {
    guard !isStopped.withLock({ $0 }) else { return }
    log.close()
    let (service, store, stateDirectory) = (service, store, stateDirectory)
    Task(executorPreference: executor) {
      await service.stop()
      await store.close()
      Self.removeState(stateDirectory)
    }
  }

  // MARK: Users and devices

  /// Returns a container as one device of a user sees it. Users and devices exist as soon as a test
  /// names them. The same names stand for the same user and device in each call.
  ///
  /// - Parameters:
  ///   - user: any name of a user; nil for a device without a signed-in user. If the name is an
  ///     e-mail address, owners of shares can invite the user by this address.
  ///   - device: any name of a device. Devices of two users with the same name are different
  ///     devices.
  ///   - identifier: the container's identifier; nil for ``Configuration/containerIdentifier``.
  ///   - registersForPushes: whether the device receives pushes from now on, like the device of an
  ///     app that has called `registerForRemoteNotifications()`. It has no effect if `user` is nil.
  ///     Pass false for an app that calls Petrel's
  ///     `CKContainer.registerForRemoteNotifications(deviceToken:)` itself. Otherwise the device
  ///     receives each push twice.
  public func container(
    user: String?, device: String = "device", identifier: String? = nil,
    registersForPushes: Bool = true
  ) -> CKContainer {
    let identifier = identifier ?? configuration.containerIdentifier
    if let user, registersForPushes {
      accounts.register(Accounts.Device(container: identifier, user: user, name: device))
    }
    return container(
      user: user, device: device, identifier: identifier,
      transport: InProcessTransport(cloud: self, user: user, device: device, meetsFaults: true))
  }

  func container(
    user: String?, device: String, identifier: String, transport: InProcessTransport
  ) -> CKContainer {
    CKContainer(
      identifier: identifier,
      configuration: PetrelConfiguration(
        serverURL: transport.serverURL, containerIdentifier: identifier,
        webAuthToken: user.map { accounts.token(of: $0) }, deviceID: device,
        environment: configuration.environment, stateDirectory: stateDirectory),
      transport: transport)
  }

  // MARK: Time

  /// The cloud's clock. Its time does not change until a test advances it.
  public var clock: TestClock { TestClock(face: face, service: service) }

  /// Waits until all saves and deletions so far have had their effects. Then the requests that have
  /// reached the cloud are answered, the changes are matched with the subscriptions, and the
  /// devices have their pushes. A `CKSyncEngine` has sent the changes that were pending, and has fetched
  /// after its pushes.
  ///
  /// The call does not wait for these:
  ///
  /// - Pushes that APNs could not accept (``fail(nextPush:user:device:times:)``). The cloud sends
  ///   them again after a test has advanced the clock.
  /// - Operations that the app has queued and that have not sent their request yet.
  /// - A `CKSyncEngine` that repeats work after more than two seconds, because it has failed.
  ///
  /// The call returns at once if there is nothing to wait for, or if the cloud was stopped. A delegate
  /// of a `CKSyncEngine` must not call the method, which would wait for the delegate.
  public func settle() async {
    // An error is ignored here: each request to the cloud reports it.
    try? await accounts.ready()
    repeat {
      await requests.finished()
      await service.settle()
      await finishAnsweredPolls()
      // A notification that a poll has brought can make an engine send requests.
    } while requests.count > 0
  }

  /// Waits until each poll has nothing to read, or the client has its answer.
  private func finishAnsweredPolls() async {
    while !hasStopped, polls.count > service.suspendedPollCount { await Task.yield() }
  }

  /// Stops the cloud. Later requests fail with `networkFailure`, and the loops over ``pushes`` end.
  /// A second call has no effect.
  public func stop() async {
    let wasStopped = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return isStopped
    }
    guard !wasStopped else { return }
    await service.stop()
    await store.close()
    log.close()
    Self.removeState(stateDirectory)
  }

  /// Removes the folder of long-lived operations. The removal fails if an operation that ends
  /// removes its own folder at the same time, so there are up to 20 attempts.
  private static func removeState(_ directory: URL) {
    for _ in 0..<20 where FileManager.default.fileExists(atPath: directory.path) {
      // A failure is ignored: the folder is in the temporary directory.
      try? FileManager.default.removeItem(at: directory)
    }
  }

  var hasStopped: Bool { isStopped.withLock { $0 } }
}
