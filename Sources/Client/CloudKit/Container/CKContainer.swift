/// An app's data on a server: a public, a private and a shared database, and the user that the
/// program acts for.
///
/// `CKContainer.default()` and `CKContainer(identifier:)` find their server in environment
/// variables or in the file `petrel.json`; see ``PetrelConfiguration``. A container can be used
/// from any thread.
///
/// ```swift
/// let container = CKContainer(identifier: "iCloud.com.example.app")
/// let record = try await container.privateCloudDatabase.record(for: recordID)
/// ```
open class CKContainer: NSObject, @unchecked Sendable {
  /// The identifier, such as `iCloud.com.example.app`; `nil` for the default container when no
  /// identifier is configured.
  public let containerIdentifier: String?

  /// The database whose records everyone who uses the app can read, unless the schema's roles
  /// restrict a record type.
  public let publicCloudDatabase: CKDatabase
  /// The database of the user. Without a user its operations fail with `notAuthenticated`.
  public let privateCloudDatabase: CKDatabase
  /// The database with the zones that other users share with this user.
  public let sharedCloudDatabase: CKDatabase

  /// The client that sends requests, or the mistake in the configuration as an error. Each
  /// operation then fails with this error.
  let client: Result<WebServicesClient, CKError>
  /// The defaults of operations that are added to this container.
  let operationDefaults: OperationDefaults
  /// The queue that starts operations. The container and its configured variants share this queue.
  private let queue: OperationQueue

  /// The default container. A missing configuration gives a container whose operations all fail
  /// with `badContainer`.
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

  /// Returns the container that the configuration names. Each call returns the same object.
  ///
  /// If no container is configured, each operation fails with `badContainer`.
  open class func `default`() -> CKContainer { shared }

  /// Creates a container on the configured server.
  ///
  /// - Parameter containerIdentifier: an identifier that begins with `iCloud.` and has no `/`.
  ///   Another identifier makes each operation fail with `badContainer`.
  public convenience init(identifier containerIdentifier: String) {
    self.init(
      PetrelConfiguration.ambient.flatMap {
        Self.client(containerIdentifier, $0, transport: nil)
      }, identifier: containerIdentifier)
  }

  /// Creates a container with its own configuration, so that one program can act as several users
  /// and devices.
  ///
  /// This initializer is an addition of Petrel. An invalid server URL or identifier makes each
  /// operation fail with `badContainer`.
  public convenience init(
    identifier containerIdentifier: String, configuration: PetrelConfiguration
  ) {
    self.init(
      Self.client(containerIdentifier, configuration, transport: nil),
      identifier: containerIdentifier)
  }

  /// Creates a container whose requests go through `transport` instead of HTTP, for tests in one
  /// process.
  ///
  /// Such a container does not keep web auth tokens on disk.
  package convenience init(
    identifier containerIdentifier: String, configuration: PetrelConfiguration,
    transport: any WebServicesTransport
  ) {
    self.init(
      Self.client(containerIdentifier, configuration, transport: transport),
      identifier: containerIdentifier)
  }

  /// Creates a container and its three databases.
  private init(_ client: Result<WebServicesClient, CKError>, identifier: String?) {
    containerIdentifier = identifier
    self.client = client
    operationDefaults = OperationDefaults()
    queue = .forOperations()
    publicCloudDatabase = CKDatabase(scope: .public, client: client)
    privateCloudDatabase = CKDatabase(scope: .private, client: client)
    sharedCloudDatabase = CKDatabase(scope: .shared, client: client)
  }

  /// Creates a variant of a container: the same client and queue, other defaults for the operations
  /// of the container and its databases.
  private init(_ container: CKContainer, operationDefaults: OperationDefaults) {
    containerIdentifier = container.containerIdentifier
    client = container.client
    self.operationDefaults = operationDefaults
    queue = container.queue
    publicCloudDatabase = CKDatabase(container.publicCloudDatabase, operationDefaults)
    privateCloudDatabase = CKDatabase(container.privateCloudDatabase, operationDefaults)
    sharedCloudDatabase = CKDatabase(container.sharedCloudDatabase, operationDefaults)
  }

  /// Returns a client, or `badContainer` when the identifier or the URL is invalid.
  ///
  /// - Parameter transport: the way of requests to the server; `nil` means HTTP, and that web auth
  ///   tokens are kept on disk.
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

  /// Returns the database of a scope. Each call returns the same object.
  open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
    switch databaseScope {
    case .public: publicCloudDatabase
    case .private: privateCloudDatabase
    case .shared: sharedCloudDatabase
    }
  }

  // MARK: Operations

  /// Queues an operation on this container. A ``CKDatabaseOperation`` without a database goes to
  /// the private database.
  open func add(_ operation: CKOperation) {
    operation.setContainer(self)
    queue.addOperation(operation)
  }

  /// Calls `body` with a variant of this container, and returns its result.
  ///
  /// Operations of the variant and of its databases use `configuration` and `group` for each value
  /// that they do not set themselves.
  ///
  /// - Parameters:
  ///   - configuration: the values for operations; `nil` changes none.
  ///   - group: the group for operations; `nil` changes none.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKContainer) throws -> Result
  ) rethrows -> Result {
    try body(
      CKContainer(self, operationDefaults: .init(configuration: configuration, group: group)))
  }

  /// Calls an asynchronous `body` with a variant of this container, and returns its result.
  ///
  /// Operations of the variant and of its databases use `configuration` and `group` for each value
  /// that they do not set themselves.
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
  /// Creates a queue for operations whose start takes no time. They only wait for the server.
  static func forOperations() -> OperationQueue {
    let queue = OperationQueue()
    queue.underlyingQueue = starting
    return queue
  }

  // A serial queue gets a thread from Dispatch even when all threads of the global queues are
  // blocked. Operation queues do not keep the queue beneath them alive, so it is one for ever.
  /// The serial queue beneath all operation queues.
  ///
  /// Dispatch gives a serial queue a thread even when all threads of the global queues are blocked.
  /// An operation queue does not keep the queue beneath it alive, so this one lives as long as the
  /// process.
  private static let starting = DispatchQueue(label: "CloudKit")
}
