/// A failure of the store itself. The failure of a single item of a request is an ``ItemFailure``
/// instead.
///
/// Use ``code`` to decide whether to try again, and show ``description`` to an administrator.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Later versions may have further codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code, such as `overloaded`.
    public let description: String

    /// The store cannot be opened or created.
    public static let cannotOpen = Code(description: "cannotOpen")
    /// The store was written by a newer version of Petrel.
    public static let newerSchema = Code(description: "newerSchema")
    /// The store was written by a version of Petrel from before the first release.
    public static let olderSchema = Code(description: "olderSchema")
    /// An SQL statement failed; its transaction was rolled back.
    public static let statementFailed = Code(description: "statementFailed")
    /// The transaction conflicted with another one and was rolled back; the caller can try again.
    public static let serializationFailure = Code(description: "serializationFailure")
    /// The database server cannot be reached; the transaction was rolled back.
    public static let unreachable = Code(description: "unreachable")
    /// A commit failed with an unknown outcome: the connection was lost before the answer came, or
    /// the disk failed.
    public static let outcomeUnknown = Code(description: "outcomeUnknown")
    /// The disk is full; the transaction was rolled back.
    public static let full = Code(description: "full")
    /// The disk failed to read or write; the transaction was rolled back, and a retry may succeed.
    /// After a failed `fsync` every call throws this code until the process is restarted
    /// (`Store.setUnsyncedHandler(_:)`).
    public static let diskFailed = Code(description: "diskFailed")
    /// Stored data cannot be read back, or the store is damaged (`Store.damage`).
    public static let corrupt = Code(description: "corrupt")
    /// More writes are waiting than the store accepts; try again later.
    public static let overloaded = Code(description: "overloaded")
    /// The bytes of an asset cannot be stored, read or removed.
    public static let assetFailed = Code(description: "assetFailed")
    /// The store was closed.
    public static let closed = Code(description: "closed")
    /// An object with this name exists already.
    public static let exists = Code(description: "exists")
    /// There is no object with this name.
    public static let notFound = Code(description: "notFound")
    /// The continuation or change token is not from this store, or is from another kind of request.
    public static let badContinuation = Code(description: "badContinuation")
    /// A text contains the character U+0000, which the database engine cannot store.
    public static let unkeptText = Code(description: "unkeptText")
    /// The dispatcher tried to dispatch changes before earlier changes of the same database.
    public static let outOfOrder = Code(description: "outOfOrder")
    /// This server no longer has the lease of the database, so it may not dispatch the changes.
    public static let leaseLost = Code(description: "leaseLost")
    /// The user of a write is being deleted, or was deleted recently.
    public static let userDeleted = Code(description: "userDeleted")
    /// The client cannot continue from its change token: start again without a token. Usually the
    /// store has deleted changes that the client has not read.
    public static let changeTokenExpired = Code(description: "changeTokenExpired")
  }

  /// The kind of failure.
  public var code: Code
  /// A text for a person to read, with the rule or failure, the refused value, and the next step.
  public var reason: String
  /// The failed statement without its arguments, if there is one.
  public var statement: String?

  /// Creates a failure. `statement` has no arguments.
  public init(_ code: Code, _ reason: String, statement: String? = nil) {
    self.code = code
    self.reason = reason
    self.statement = statement
  }

  /// Returns the ``Code/notFound`` error for a user name without an account.
  public static func noUser(named name: String) -> StoreError {
    StoreError(.notFound, "there is no user named '\(name)'; 'petrel users list' shows all")
  }

  public var description: String {
    statement.map { "\(reason) (statement: \($0))" } ?? reason
  }
}
