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
/// Starting one takes milliseconds: give each test its own. Nothing of it is shared with another, so
/// that tests can run in parallel. It ends with the last reference to it and its containers, or with
/// ``stop()``.
///
/// The cloud answers on a queue of its own: it also answers code that blocks threads while it waits.
public final class TestCloud: Sendable {
  /// How a cloud is set up.
  public struct Configuration: Sendable {
    /// The container of ``TestCloud/container(user:device:identifier:registersForPushes:)`` where a
    /// test names none. Others exist as soon as they are named.
    public var containerIdentifier = "iCloud.org.example.tests"
    /// The environment of all containers.
    public var environment = PetrelConfiguration.Environment.development
    /// When the cloud's clock begins. It stands still until ``TestClock/advance(by:)``.
    public var startDate = Date()
    /// The pushes that are kept; beyond it the oldest are dropped.
    public var pushLimit = 10_000

    public init() {}
  }

  let configuration: Configuration
  let executor = QueueExecutor()
  let accounts: Accounts
  let service: CloudService
  let log: PushLog
  let requests = RequestsUnderWay()
  let faults = Mutex(FaultPlan<TestFault>())
  let pushFaults: PushFaults
  private let store: any Store
  private let face: TestClock.Face
  private let isStopped = Mutex(false)
  /// Where the devices keep their long-lived operations. It is made when one begins, and goes with
  /// the cloud.
  let stateDirectory = FileManager.default.temporaryDirectory
    .appendingPathComponent("petrel-testing-\(UUID().uuidString)", isDirectory: true)

  /// Where requests seem to go; the name exists nowhere (RFC 2606).
  static let serverURL: URL = {
    var components = URLComponents()
    components.scheme = "http"
    components.host = "petrel.invalid"
    // A scheme and a host always make a URL.
    return components.url!
  }()

  /// Starts a cloud without any data.
  ///
  /// - Throws: ``TestCloudError`` when there is no room for it.
  public init(configuration: Configuration = Configuration()) async throws {
    let store: any Store
    do {
      // Nothing can be deployed to a cloud in memory.
      var storeConfiguration = StoreConfiguration()
      storeConfiguration.fixedEnvironments = []
      store = try await SQLStore.inMemory(configuration: storeConfiguration)
    } catch {
      throw TestCloudError(.cannotStart, "a store in memory cannot be made: \(error)")
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

  /// A container as one device of a user sees it. Users and devices exist as soon as they are named;
  /// the same names stand for the same account and device each time.
  ///
  /// - Parameters:
  ///   - user: any name; nil for a device on which nobody is signed in.
  ///   - device: any name. Devices of different users never are the same one.
  ///   - identifier: the container's; nil means that of the configuration.
  ///   - registersForPushes: whether the device receives pushes from now on, as with an app that has
  ///     called `registerForRemoteNotifications()`. An app that calls Petrel's
  ///     `CKContainer.registerForRemoteNotifications(deviceToken:)` itself needs false, or it
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

  /// The cloud's clock, which stands still until it is advanced.
  public var clock: TestClock { TestClock(face: face, service: service) }

  /// Comes back when all that was saved or deleted so far has had its effect: requests that have
  /// reached the cloud are answered, every change has been matched with the subscriptions, and every
  /// push is with its device.
  ///
  /// Pushes that APNs could not take (``fail(nextPush:user:device:times:)``) are not waited for:
  /// they are sent again once the clock has been advanced. Neither are operations that the app has
  /// queued and that have sent nothing yet. Comes back at once when there is nothing to wait for, and
  /// when the cloud was stopped.
  public func settle() async {
    try? await accounts.ready()
    await requests.finished()
    await service.settle()
  }

  /// Ends the cloud. Requests fail from then on with `networkFailure`, and ``pushes`` ends.
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

  /// An operation that ends removes its own folder. A removal that finds one gone amid its work gives
  /// up, and is tried again.
  private static func removeState(_ directory: URL) {
    for _ in 0..<20 where FileManager.default.fileExists(atPath: directory.path) {
      // What stays lies in the temporary directory.
      try? FileManager.default.removeItem(at: directory)
    }
  }

  var hasStopped: Bool { isStopped.withLock { $0 } }
}
