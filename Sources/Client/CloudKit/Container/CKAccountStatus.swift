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
  /// Posted when the account status changes: when the server refuses the program's user whom it
  /// accepted before, or the reverse. It is noticed with the answer to any request, and posted on
  /// that request's queue, without an object; ask `CKContainer.accountStatus()` what it is now.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
