internal import CloudKitModel
internal import WebServices

/// An operation on one database: the base class of the operations on records, zones and
/// subscriptions.
///
/// `CKDatabase.add(_:)` sets ``database`` and queues the operation. A subclass of the program
/// overrides ``CKOperation/main()`` if it needs to prepare the operation.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
  /// The database. The lock protects it: the program may set it from any thread.
  private let target = Locked<CKDatabase?>(nil)

  /// The database that the operation works with. Nil means the private database of the operation's
  /// container.
  open var database: CKDatabase? {
    get { target.withLock { $0 } }
    set { target.withLock { $0 = newValue } }
  }

  override var client: Result<WebServicesClient, CKError> { database?.client ?? super.client }

  override var ambientDefaults: OperationDefaults {
    database?.operationDefaults ?? super.ambientDefaults
  }

  var scope: DatabaseScope { database?.databaseScope.model ?? .private }
  var messageContext: MessageContext { .client(of: scope) }

  /// Returns a call of the protocol on this database.
  ///
  /// - Parameter body: The body of a POST; nil makes it a GET.
  func call(_ operation: String, body: Data?) -> ServiceCall {
    ServiceCall(operation: operation, scope: scope, body: body)
  }
}
