/// The state of the user's account, as `CKContainer.accountStatus()` returns it.
public enum CKAccountStatus: Int, Sendable {
  /// The request to the server failed. The error of the call gives the reason.
  case couldNotDetermine = 0
  /// The server knows the user and accepts the credentials.
  case available = 1
  /// The settings of the system forbid the account. Petrel never reports this status.
  case restricted = 2
  /// The requests name no user, or a user whom the server does not accept.
  case noAccount = 3
  /// The account exists, but its user must sign in again. Petrel never reports this status.
  case temporarilyUnavailable = 4
}

extension Notification.Name {
  /// Posted when the account status changes between available and not available.
  ///
  /// The client learns the status from the answers to requests. An account is available if the
  /// server accepts the user of a request. It is not available if the server refuses a request
  /// because it names no valid user. The first answer that shows the status posts nothing.
  ///
  /// The client posts the notification on the background queue of the operation that got the
  /// answer. The object of the notification is `nil`. Call `CKContainer.accountStatus()` for the
  /// present status.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
