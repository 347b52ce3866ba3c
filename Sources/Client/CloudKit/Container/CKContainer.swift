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

  /// The database that all users of the app share. Everyone can read its records, unless the roles
  /// of the schema restrict a record type.
  public let publicCloudDatabase: CKDatabase
  /// The user's own database. If no user is signed in, its operations fail with `notAuthenticated`.
  public let privateCloudDatabase: CKDatabase
  /// The database with the zones that other users share with this user. A zone appears in it when the
  /// user has accepted a share of the zone; see ``CKAcceptSharesOperation``.
  public let sharedCloudDatabase: CKDatabase

  /// The client that sends requests. If the configuration has a mistake, the value is an error that
  /// describes it, and each operation fails with this error.
  let client: Result<WebServicesClient, CKError>
  /// The values of settings that operations do not set themselves. Only the variants that
  /// `configuredWith` makes have such values.
  let operationDefaults: OperationDefaults
  /// The queue that starts operations. The variants that `configuredWith` makes from this container
  /// share the queue.
  private let queue: OperationQueue

  /// The default container. If the configuration is missing or has a mistake, each operation of the
  /// container fails with `badContainer`.
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
      return AmbientClients.client(identifier, configuration)
    }, identifier: PetrelConfiguration.ambient.value?.containerIdentifier)

  /// Returns the container that the configuration names. Each call returns the same object.
  ///
  /// If no container is configured, each operation fails with `badContainer`.
  open class func `default`() -> CKContainer { shared }

  /// Creates a container on the configured server.
  ///
  /// - Parameter containerIdentifier: the identifier. It begins with `iCloud.`, continues after
  ///   that, and has no `/`. With another identifier, each operation fails with `badContainer`.
  public required convenience init(identifier containerIdentifier: String) {
    self.init(
      PetrelConfiguration.ambient.flatMap {
        AmbientClients.client(containerIdentifier, $0)
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
  /// The container does not keep web auth tokens on disk.
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

  /// Creates a variant of a container. The variant has the same client and queue, and other
  /// settings for the operations of the container and of its databases.
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
  /// - Parameter transport: the transport of requests to the server. `nil` means HTTP; the client
  ///   then also keeps web auth tokens on disk.
  static func client(
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
  ///
  /// - Precondition: The scope is one of the three. Otherwise the program stops.
  open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
    switch databaseScope.model {
    case .public: publicCloudDatabase
    case .private: privateCloudDatabase
    case .shared: sharedCloudDatabase
    }
  }

  // MARK: Operations

  /// Queues an operation on this container. A ``CKDatabaseOperation`` without a database uses the
  /// private database.
  open func add(_ operation: CKOperation) {
    operation.setContainer(self)
    queue.addOperation(operation)
  }

  /// Calls `body` with a variant of this container, and returns its result.
  ///
  /// The settings apply to the operations of the variant and of its databases. A setting of an
  /// operation comes from the first of these that sets it: the operation, the operation's own
  /// group, `configuration`, and the default configuration of `group`.
  ///
  /// - Parameters:
  ///   - configuration: the settings for operations; `nil` adds none.
  ///   - group: the group with further settings, in its ``CKOperationGroup/defaultConfiguration``;
  ///     `nil` adds none.
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
  /// The settings apply to the operations of the variant and of its databases. A setting of an
  /// operation comes from the first of these that sets it: the operation, the operation's own
  /// group, `configuration`, and the default configuration of `group`.
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
  /// Creates a queue that starts operations. The start of an operation returns at once, and no
  /// thread waits for the server.
  static func forOperations() -> OperationQueue {
    let queue = OperationQueue()
    queue.underlyingQueue = starting
    return queue
  }

  /// The serial queue on which all operation queues start their operations.
  ///
  /// Dispatch supplies a thread for a serial queue even when all threads of the global queues are
  /// blocked. An operation queue does not keep its `underlyingQueue` alive, so this queue lives as
  /// long as the process.
  private static let starting = DispatchQueue(label: "CloudKit")
}
