/// A database of a container, with records, zones and subscriptions.
///
/// Each convenience method creates an operation and queues it. The quality of service is
/// `.userInitiated`, unless `configuredWith` sets another. A method with a completion handler calls
/// the handler on a background queue. An `async` method runs the same operation. If its task is
/// cancelled, the operation is cancelled too, and the method throws `operationCancelled`.
///
/// A method for one item fails with the error of the item. In most methods for several items, each
/// item has its own result, and the method fails only when the whole request fails. Two kinds of
/// methods also fail when a single item fails: those that return a plain list of records, zones or
/// subscriptions, and `modifyRecords` with `atomically`.
///
/// A database can be used from any thread.
open class CKDatabase: NSObject, @unchecked Sendable {
  /// The kind of a database: public, private or shared.
  public typealias Scope = CKDatabaseScope

  /// The kind of this database.
  public let databaseScope: Scope

  /// The client that sends requests. If the configuration has a mistake, the value is an error that
  /// describes it, and each operation fails with this error.
  let client: Result<WebServicesClient, CKError>
  /// The values of settings that operations do not set themselves. Only the variants that
  /// `configuredWith` makes have such values.
  let operationDefaults: OperationDefaults
  /// The queue that starts operations. The variants that `configuredWith` makes from this database
  /// share the queue.
  private let queue: OperationQueue

  init(scope: Scope, client: Result<WebServicesClient, CKError>) {
    databaseScope = scope
    self.client = client
    operationDefaults = OperationDefaults()
    queue = .forOperations()
  }

  /// Creates a variant of a database. The variant has the same client and queue, and other settings
  /// for its operations.
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
  /// The settings apply to the operations of the variant. A setting of an operation comes from the
  /// first of these that sets it: the operation, the operation's own group, `configuration`, and
  /// the default configuration of `group`.
  ///
  /// - Parameters:
  ///   - configuration: the settings for operations; `nil` adds none.
  ///   - group: the group with further settings, in its ``CKOperationGroup/defaultConfiguration``;
  ///     `nil` adds none.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) throws -> Result
  ) rethrows -> Result {
    try body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }

  /// Calls an asynchronous `body` with a variant of this database, and returns its result.
  ///
  /// The settings apply to the operations of the variant. A setting of an operation comes from the
  /// first of these that sets it: the operation, the operation's own group, `configuration`, and
  /// the default configuration of `group`.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: @Sendable (CKDatabase) async throws -> Result
  ) async rethrows -> Result {
    try await body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }
}
