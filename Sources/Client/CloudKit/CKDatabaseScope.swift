/// Which of a container's databases is meant.
public enum CKDatabaseScope: Int, Sendable {
  /// What a notification says whose payload names no database. Code can neither name nor make it, as on Apple's systems:
  /// `default` and `@unknown default` take it, and a switch that has neither traps on it.
  @available(*, unavailable)
  case unknown = 0
  /// Readable by everyone who uses the app.
  case `public` = 1
  /// The user's own.
  case `private` = 2
  /// What others share with the user.
  case shared = 3
}
