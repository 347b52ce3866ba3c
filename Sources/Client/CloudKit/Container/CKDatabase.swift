/// One database of a container.
///
/// Its methods make operations of quality `.userInitiated` and queue them; the forms with a
/// completion handler call it on a background queue, the `async` forms are the same operations,
/// cancelled when their task is. Methods for one item fail with the item's own error; those for
/// several fail only when the whole request does, and give each item its own result.
open class CKDatabase: NSObject, @unchecked Sendable {
  public typealias Scope = CKDatabaseScope

  /// Whether it is the public, the private or the shared database.
  public let databaseScope: Scope

  let client: Result<WebServicesClient, CKError>
  let operationDefaults: OperationDefaults
  private let queue: OperationQueue

  init(scope: Scope, client: Result<WebServicesClient, CKError>) {
    databaseScope = scope
    self.client = client
    operationDefaults = OperationDefaults()
    queue = .forOperations()
  }

  /// The same database with other defaults for its operations.
  init(_ database: CKDatabase, _ operationDefaults: OperationDefaults) {
    databaseScope = database.databaseScope
    client = database.client
    self.operationDefaults = operationDefaults
    queue = database.queue
  }

  /// Queues an operation, and makes this its database.
  open func add(_ operation: CKDatabaseOperation) {
    operation.database = self
    queue.addOperation(operation)
  }

  /// Runs `body` with a database whose operations use this configuration and group where their own
  /// are silent.
  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) throws -> Result
  ) rethrows -> Result {
    try body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }

  @discardableResult
  open func configuredWith<Result>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: @Sendable (CKDatabase) async throws -> Result
  ) async rethrows -> Result {
    try await body(CKDatabase(self, .init(configuration: configuration, group: group)))
  }
}
