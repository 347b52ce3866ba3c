/// A database of a container, with records, zones and subscriptions.
///
/// Each convenience method creates an operation of the quality `.userInitiated` and queues it. A
/// method with a completion handler calls the handler on a background queue. The `async` method
/// runs the same operation; cancelling the task cancels the operation, which then throws
/// `operationCancelled`.
///
/// A method for one item fails with the error of the item. A method for several items fails only
/// when the whole request fails, and otherwise gives each item its own result. A database can be
/// used from any thread.
open class CKDatabase: NSObject, @unchecked Sendable {
  /// The kind of a database: public, private or shared.
  public typealias Scope = CKDatabaseScope

  /// The kind of this database.
  public let databaseScope: Scope

  /// The client that sends requests, or the mistake in the configuration as an error.
  let client: Result<WebServicesClient, CKError>
  /// The defaults of operations that are added to this database.
  let operationDefaults: OperationDefaults
  /// The queue that starts operations.
  private let queue: OperationQueue

  /// Creates a database of a container.
  init(scope: Scope, client: Result<WebServicesClient, CKError>) {
    databaseScope = scope
    self.client = client
    operationDefaults = OperationDefaults()
    queue = .forOperations()
  }

  /// Creates a variant of a database: the same client and queue, other defaults for its operations.
  init(_ database: CKDatabase, _ operationDefaults: OperationDefaults) {
    databaseScope = database.databaseScope
    client = database.client
    self.operationDefaults = operationDefaults
    queue = database.queue
  }

  /// Queues an operation and sets its ``CKDatabaseOperation/database`` to this database.
  open func add(_ operation: CKDatabaseOperation) {
    operation.database = self
    queue.addOperation(operation)
  }

  /// Calls `body` with a variant of this database, and returns its result.
  ///
  /// Operations of the variant use `configuration` and `group` for each value that they do not set
  /// themselves.
  ///
  /// - Parameters:
  ///   - configuration: the values for operations; `nil` changes none.
  ///   - group: the group for operations; `nil` changes none.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) throws -> Result
  ) rethrows -> Result {
    try body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }

  /// Calls an asynchronous `body` with a variant of this database, and returns its result.
  ///
  /// Operations of the variant use `configuration` and `group` for each value that they do not set
  /// themselves.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: @Sendable (CKDatabase) async throws -> Result
  ) async rethrows -> Result {
    try await body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }
}
