/// Which of a container's databases is meant.
public enum CKDatabaseScope: Int, Sendable {
  /// Readable by everyone who uses the app.
  case `public` = 1
  /// The user's own.
  case `private` = 2
  /// What others share with the user.
  case shared = 3
}
