/// An app's data on a server: three databases, and the user that the program acts for.
///
/// `CKContainer.default()` and `CKContainer(identifier:)` find their server in the environment or
/// in `petrel.json`; see ``PetrelConfiguration``.
open class CKContainer: NSObject, @unchecked Sendable {
  /// Such as `iCloud.com.example.app`; nil when the default container is not configured.
  public let containerIdentifier: String?

  /// Readable by everyone who uses the app.
  public let publicCloudDatabase: CKDatabase
  /// The user's own.
  public let privateCloudDatabase: CKDatabase
  /// What others share with the user.
  public let sharedCloudDatabase: CKDatabase

  /// The way to the server; the error tells what is wrong with the configuration.
  let client: Result<WebServicesClient, CKError>
  let operationDefaults: OperationDefaults
  private let queue: OperationQueue

  private static let shared = CKContainer(
    PetrelConfiguration.ambient.flatMap { configuration in
      guard let identifier = configuration.containerIdentifier else {
        let error = CKError(
          .badContainer,
          "no default container is configured: set PETREL_CONTAINER, or write 'container' in "
            + PetrelConfiguration.fileName)
        PetrelConfiguration.warn(error.localizedDescription)
        return .failure(error)
      }
      return client(identifier, configuration, transport: nil)
    }, identifier: PetrelConfiguration.ambient.value?.containerIdentifier)

  /// The container that the configuration names. Always the same object.
  open class func `default`() -> CKContainer { shared }

  /// A container of the configured server. Identifiers begin with `iCloud.`; another one makes
  /// each operation fail with `badContainer`.
  public convenience init(identifier containerIdentifier: String) {
    self.init(
      PetrelConfiguration.ambient.flatMap {
        Self.client(containerIdentifier, $0, transport: nil)
      }, identifier: containerIdentifier)
  }

  /// A container with a configuration of its own, so that one program can act as several users and
  /// devices. Petrel's own.
  public convenience init(
    identifier containerIdentifier: String, configuration: PetrelConfiguration
  ) {
    self.init(
      Self.client(containerIdentifier, configuration, transport: nil),
      identifier: containerIdentifier)
  }

  /// A container whose requests go another way than HTTP.
  package convenience init(
    identifier containerIdentifier: String, configuration: PetrelConfiguration,
    transport: any WebServicesTransport
  ) {
    self.init(
      Self.client(containerIdentifier, configuration, transport: transport),
      identifier: containerIdentifier)
  }

  private init(_ client: Result<WebServicesClient, CKError>, identifier: String?) {
    containerIdentifier = identifier
    self.client = client
    operationDefaults = OperationDefaults()
    queue = .forOperations()
    publicCloudDatabase = CKDatabase(scope: .public, client: client)
    privateCloudDatabase = CKDatabase(scope: .private, client: client)
    sharedCloudDatabase = CKDatabase(scope: .shared, client: client)
  }

  /// The same container with other defaults for its operations and those of its databases.
  private init(_ container: CKContainer, operationDefaults: OperationDefaults) {
    containerIdentifier = container.containerIdentifier
    client = container.client
    self.operationDefaults = operationDefaults
    queue = container.queue
    publicCloudDatabase = CKDatabase(container.publicCloudDatabase, operationDefaults)
    privateCloudDatabase = CKDatabase(container.privateCloudDatabase, operationDefaults)
    sharedCloudDatabase = CKDatabase(container.sharedCloudDatabase, operationDefaults)
  }

  private static func client(
    _ identifier: String, _ configuration: PetrelConfiguration,
    transport: (any WebServicesTransport)?
  ) -> Result<WebServicesClient, CKError> {
    do throws(CKError) {
      return .success(
        try WebServicesClient(
          containerIdentifier: identifier, configuration: configuration, transport: transport,
          keepsSession: transport == nil))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Databases

  open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
    switch databaseScope {
    case .public: publicCloudDatabase
    case .private: privateCloudDatabase
    case .shared: sharedCloudDatabase
    }
  }

  // MARK: Operations

  /// Queues an operation. Operations on a database without one go to the private database.
  open func add(_ operation: CKOperation) {
    operation.setContainer(self)
    queue.addOperation(operation)
  }

  /// Runs `body` with a container whose operations, and those of its databases, use this
  /// configuration and group where their own are silent.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKContainer) throws -> Result
  ) rethrows -> Result {
    try body(
      CKContainer(self, operationDefaults: .init(configuration: configuration, group: group)))
  }

  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: @Sendable (CKContainer) async throws -> Result
  ) async rethrows -> Result {
    try await body(
      CKContainer(self, operationDefaults: .init(configuration: configuration, group: group)))
  }
}

extension OperationQueue {
  /// A queue for operations that only wait: starting one takes no time.
  static func forOperations() -> OperationQueue {
    let queue = OperationQueue()
    queue.underlyingQueue = starting
    return queue
  }

  // A serial queue gets a thread from Dispatch even when all threads of the global queues are
  // blocked. Operation queues do not keep the queue beneath them alive, so it is one for ever.
  private static let starting = DispatchQueue(label: "CloudKit")
}
