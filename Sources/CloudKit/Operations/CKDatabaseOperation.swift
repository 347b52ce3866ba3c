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

  func call(_ operation: String, body: Data?, isIdempotent: Bool = true) -> ServiceCall {
    ServiceCall(operation: operation, scope: scope, body: body, isIdempotent: isIdempotent)
  }

  /// Reads an answer; what cannot be read is an internal error.
  func read<Response>(
    _ read: () throws(ServiceError) -> Response
  ) throws(CKError) -> Response {
    do throws(ServiceError) {
      return try read()
    } catch {
      throw CKError(unreadableAnswer: error)
    }
  }

  /// Pairs what was asked with what was answered, which the protocol puts in the same order.
  func pair<Item, Answer>(
    _ items: [Item], with answers: [Answer]
  ) throws(CKError) -> [(Item, Answer)] {
    guard items.count == answers.count else {
      throw CKError(
        .internalError,
        "the server answered for \(answers.count) items, \(items.count) were asked")
    }
    return Array(zip(items, answers))
  }
}
