/// The notification of a database subscription: something in a custom zone of the database has
/// changed.
///
/// A payload that does not say which kind of subscription fired is read as this class too. In both
/// cases, fetch the changes of the database.
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
  /// The scope of the database. If the payload does not name the scope, the raw value is 0. Only
  /// `default` and `@unknown default` match it.
  public let databaseScope: CKDatabase.Scope

  init(_ contents: Contents, databaseScope: CKDatabase.Scope) {
    self.databaseScope = databaseScope
    super.init(contents, type: .database)
  }

  open override var description: String { described(", \(databaseScope) database") }
}
