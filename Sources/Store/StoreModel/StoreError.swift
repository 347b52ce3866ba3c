/// A failure of the store itself. The failure of a single item of a request is an ``ItemFailure``
/// instead.
///
/// Compare ``code`` to decide about a retry, and show ``description`` to an administrator.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Codes may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code, such as `overloaded`.
    public let description: String

    /// The store cannot be opened or made.
    public static let cannotOpen = Code(description: "cannotOpen")
    /// The store was written by a newer version of Petrel.
    public static let newerSchema = Code(description: "newerSchema")
    /// The store was written by a version of Petrel from before the first release.
    public static let olderSchema = Code(description: "olderSchema")
    /// A statement failed; its transaction was rolled back.
    public static let statementFailed = Code(description: "statementFailed")
    /// The transaction conflicted with another one and was rolled back; it can be retried.
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
    /// (``DamageReporting/setUnsyncedHandler(_:)``).
    public static let diskFailed = Code(description: "diskFailed")
    /// Stored data cannot be read back, or the store is damaged (``DamageReporting/damage``).
    public static let corrupt = Code(description: "corrupt")
    /// More writes are waiting than the store accepts; try again later.
    public static let overloaded = Code(description: "overloaded")
    /// The bytes of an asset cannot be kept, read or removed.
    public static let assetFailed = Code(description: "assetFailed")
    /// The store was closed.
    public static let closed = Code(description: "closed")
    /// An object with this name exists already.
    public static let exists = Code(description: "exists")
    /// There is no object with this name.
    public static let notFound = Code(description: "notFound")
    /// A continuation marker or change token is not one of this store's.
    public static let badContinuation = Code(description: "badContinuation")
    /// A text contains the character U+0000, which the engine cannot store in texts.
    public static let unkeptText = Code(description: "unkeptText")
    /// Changes were to be dispatched before earlier ones.
    public static let outOfOrder = Code(description: "outOfOrder")
    /// Another server now dispatches the changes of the database.
    public static let leaseLost = Code(description: "leaseLost")
    /// The user who makes the write is being deleted, or was deleted.
    public static let userDeleted = Code(description: "userDeleted")
    /// A change token is older than the store's history; start without a token.
    public static let changeTokenExpired = Code(description: "changeTokenExpired")
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence for a person to read: the rule or failure, the refused value, and the next step.
  public var reason: String
  /// The failed statement without its arguments, if there is one.
  public var statement: String?

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - reason: a sentence for a person to read.
  ///   - statement: the SQL of the failed statement, without its arguments; nil if no statement
  ///     failed.
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
