/// That a database subscription fired: something in a custom zone of the database changed.
///
/// A payload that was cut down so far that its kind is lost is read as one of these too: it means
/// "fetch the changes".
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
  /// The database; a scope of the raw value 0 where the payload does not say.
  public let databaseScope: CKDatabase.Scope

  init(_ contents: Contents, databaseScope: CKDatabase.Scope) {
    self.databaseScope = databaseScope
    super.init(contents, type: .database)
  }

  open override var description: String { described(", \(databaseScope) database") }
}
