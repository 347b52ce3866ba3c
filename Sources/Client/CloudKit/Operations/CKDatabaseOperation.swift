internal import CloudKitModel
internal import WebServices

/// Work with one database: the base of the operations on records, zones and subscriptions.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
  private let target = Locked<CKDatabase?>(nil)

  /// The database; nil means the private database of the operation's container.
  open var database: CKDatabase? {
    get { target.withLock { $0 } }
    set { target.withLock { $0 = newValue } }
  }

  override var client: Result<WebServicesClient, CKError> { database?.client ?? super.client }

  override var ambientDefaults: OperationDefaults {
    database?.operationDefaults ?? super.ambientDefaults
  }

  var scope: DatabaseScope { database?.databaseScope.model ?? .private }

  /// How this database's messages are written and read.
  var messageContext: MessageContext { .client(of: scope) }

  func call(_ operation: String, body: Data?) -> ServiceCall {
    ServiceCall(operation: operation, scope: scope, body: body)
  }
}
