/// A failure of the store itself. What is wrong with a single item of a request is an
/// ``ItemFailure`` instead.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The store cannot be opened or made.
    public static let cannotOpen = Code(description: "cannotOpen")
    /// The store was written by a newer version of Petrel.
    public static let newerSchema = Code(description: "newerSchema")
    /// The store was written by a version of Petrel from before the first release.
    public static let olderSchema = Code(description: "olderSchema")
    /// A statement failed; nothing of its transaction was kept.
    public static let statementFailed = Code(description: "statementFailed")
    /// The transaction and another one got in each other's way; nothing of it was kept, and it can be
    /// tried again.
    public static let serializationFailure = Code(description: "serializationFailure")
    /// The database server cannot be reached; nothing of the transaction was kept.
    public static let unreachable = Code(description: "unreachable")
    /// A commit failed in a way that tells nothing of whether it is there: the connection was lost
    /// before its answer came, or the disk failed.
    public static let outcomeUnknown = Code(description: "outcomeUnknown")
    /// The disk has no room; nothing of the transaction was kept.
    public static let full = Code(description: "full")
    /// The disk failed to read or write; nothing of the transaction was kept, and it may go well again.
    public static let diskFailed = Code(description: "diskFailed")
    /// What is stored cannot be read back.
    public static let corrupt = Code(description: "corrupt")
    /// More writes are waiting than the store accepts; try again later.
    public static let overloaded = Code(description: "overloaded")
    /// The bytes of an asset cannot be kept, read or removed.
    public static let assetFailed = Code(description: "assetFailed")
    /// The store was closed.
    public static let closed = Code(description: "closed")
    /// Something with this name exists already.
    public static let exists = Code(description: "exists")
    /// There is nothing of this name.
    public static let notFound = Code(description: "notFound")
    /// A continuation marker or change token is not one of this store's.
    public static let badContinuation = Code(description: "badContinuation")
    /// A text has the character U+0000, which the engine does not keep in texts.
    public static let unkeptText = Code(description: "unkeptText")
    /// Changes were to be dispatched before others that come first.
    public static let outOfOrder = Code(description: "outOfOrder")
    /// Another server dispatches the changes of the database by now.
    public static let leaseLost = Code(description: "leaseLost")
    /// The user who would write is being deleted, or was.
    public static let userDeleted = Code(description: "userDeleted")
    /// A change token is older than what the store still knows of; start without one.
    public static let changeTokenExpired = Code(description: "changeTokenExpired")
  }

  public var code: Code
  /// What was wrong, with which value, and what to do.
  public var reason: String
  /// The statement that failed, without its arguments, where there is one.
  public var statement: String?

  public init(_ code: Code, _ reason: String, statement: String? = nil) {
    self.code = code
    self.reason = reason
    self.statement = statement
  }

  /// There is no user of this name.
  public static func noUser(named name: String) -> StoreError {
    StoreError(.notFound, "there is no user named '\(name)'; 'petrel users list' shows all")
  }

  public var description: String {
    statement.map { "\(reason) (statement: \($0))" } ?? reason
  }
}
