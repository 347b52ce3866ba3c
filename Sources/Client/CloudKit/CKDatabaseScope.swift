/// The kind of a container's database: public, private or shared. Apps write `CKDatabase.Scope`.
///
/// The raw values are those of Apple's framework. Push payloads number the databases differently: private 1, public 2,
/// shared 3.
public enum CKDatabaseScope: Int, Sendable {
  /// The scope of a notification whose payload names no database.
  ///
  /// Code cannot name or create this case, as on Apple's systems. In a `switch`, `default` and `@unknown default` match
  /// it. A `switch` with neither traps on it.
  @available(*, unavailable)
  case unknown = 0
  /// The database whose records everyone who uses the app can read, unless the schema's roles restrict a record type.
  /// By default, writing needs a signed-in user.
  case `public` = 1
  /// The database that only its user can read and write.
  case `private` = 2
  /// The database with the zones and records that other users share with this user.
  case shared = 3
}
