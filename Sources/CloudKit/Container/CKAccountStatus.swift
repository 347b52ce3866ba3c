/// Whether there is an account.
public enum CKAccountStatus: Int, Sendable {
  /// It could not be found out; see the error.
  case couldNotDetermine = 0
  /// There is one, and it can be used.
  case available = 1
  /// The system's settings forbid the account.
  case restricted = 2
  /// There is none: the requests name no user that the server knows.
  case noAccount = 3
  /// There is one that must first sign in again.
  case temporarilyUnavailable = 4
}

extension Notification.Name {
  /// Posted when the account status changes. Kept for source compatibility: the account of a
  /// program is that of its configuration, and does not change while it runs.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
