internal import ChangeDispatch
public import CloudKit
internal import CloudKitModel
internal import Configuration
internal import PetrelServer
internal import Storage
internal import StoreModel
internal import Synchronization

/// A whole cloud in the test's own process: Petrel's server on a store in memory, without sockets,
/// with any number of users and devices.
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
/// can run in parallel. A cloud ends with ``stop()``, or with the last reference to it and its
/// containers.
///
/// The cloud answers on a queue of its own. So it also answers code that blocks threads while it
/// waits. Any thread may call the methods.
public final class TestCloud: Sendable {
  /// The settings of a cloud.
  public struct Configuration: Sendable {
    /// The container that ``TestCloud/container(user:device:identifier:registersForPushes:)``
    /// returns if a test names none. Other containers exist as soon as a test names them.
    public var containerIdentifier = "iCloud.org.example.tests"
    /// The environment of all containers.
    public var environment = PetrelConfiguration.Environment.development
    /// The start of the cloud's clock, which stands still until ``TestClock/advance(by:)``.
    public var startDate = Date()
    /// The number of pushes that the cloud keeps, at least 1. Beyond it the oldest are dropped.
    public var pushLimit = 10_000

    /// Settings for one container in the development environment, with a clock that starts now.
    public init() {}
  }

  /// The settings.
  let configuration: Configuration
  /// The queue on which the cloud runs its tasks.
  let executor = QueueExecutor()
  /// The users and devices.
  let accounts: Accounts
  /// Petrel's server without its sockets.
  let service: CloudService
  /// The pushes that devices received.
  let log: PushLog
  /// The count of requests under way, without the long polls.
  let requests = RequestsUnderWay()
  /// The faults of requests that are still to come.
  let faults = Mutex(FaultPlan<TestFault>())
  /// The faults of pushes that are still to come.
  let pushFaults: PushFaults
  private let store: any Store
  private let face: TestClock.Face
  private let isStopped = Mutex(false)
  /// The folder in which the devices keep their long-lived operations. The first such operation
  /// creates the folder; it is removed when the cloud ends.
  let stateDirectory = FileManager.default.temporaryDirectory
    .appendingPathComponent("petrel-testing-\(UUID().uuidString)", isDirectory: true)

  /// The URL to which requests seem to go. The name `petrel.invalid` never exists (RFC 2606).
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
    let store: any Store
    do {
      // Nothing can be deployed to a cloud in memory.
      var storeConfiguration = StoreConfiguration()
      storeConfiguration.fixedEnvironments = []
      store = try await SQLStore.inMemory(configuration: storeConfiguration)
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
  /// names them. The same names stand for the same account and device each time.
  ///
  /// - Parameters:
  ///   - user: any name; nil for a device without a signed-in user.
  ///   - device: any name. Two users may have devices of the same name, which are different
  ///     devices.
  ///   - identifier: the container's identifier; nil for that of the configuration.
  ///   - registersForPushes: whether the device receives pushes from now on, as with an app that
  ///     has called `registerForRemoteNotifications()`. Pass false for an app that calls Petrel's
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

  /// Returns a container that sends its requests over a given transport.
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

  /// The cloud's clock, which stands still until a test advances it.
  public var clock: TestClock { TestClock(face: face, service: service) }

  /// Returns when all saves and deletions so far have had their effects. Requests that have reached
  /// the cloud are answered, every change has been matched with the subscriptions, and every push
  /// is with its device.
  ///
  /// The call does not wait for two things. Pushes that APNs could not take
  /// (``fail(nextPush:user:device:times:)``) are sent again after the clock has been advanced.
  /// Operations that the app has queued may not have sent a request yet. The call returns at once
  /// if there is nothing to wait for, and if the cloud was stopped.
  public func settle() async {
    try? await accounts.ready()
    await requests.finished()
    await service.settle()
  }

  /// Ends the cloud. From then on requests fail with `networkFailure`, and ``pushes`` ends. A
  /// second call has no effect.
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

  /// Removes the folder of long-lived operations. An operation that ends removes its own folder at
  /// the same time, and then the removal fails and is retried.
  private static func removeState(_ directory: URL) {
    for _ in 0..<20 where FileManager.default.fileExists(atPath: directory.path) {
      // A failure is ignored: the folder is in the temporary directory.
      try? FileManager.default.removeItem(at: directory)
    }
  }

  /// Whether ``stop()`` was called.
  var hasStopped: Bool { isStopped.withLock { $0 } }
}
