/// The state of the user's account, as `CKContainer.accountStatus()` returns it.
public enum CKAccountStatus: Int, Sendable {
  /// The server could not be asked. The error of the call gives the reason.
  case couldNotDetermine = 0
  /// The server knows the user and accepts the credentials.
  case available = 1
  /// The settings of the system forbid the account. Petrel never reports this status.
  case restricted = 2
  /// There is no account: the requests name no user that the server accepts.
  case noAccount = 3
  /// The account exists, but its user must sign in again. Petrel never reports this status.
  case temporarilyUnavailable = 4
}

extension Notification.Name {
  /// Posted when the account status changes between available and not available.
  ///
  /// The client notices a change in the answer to any request: the server refuses a user whom it
  /// accepted before, or accepts a user whom it refused. The first answer that a container gets
  /// posts nothing. The notification is posted on the queue of that request, with `nil` as its
  /// object. Call `CKContainer.accountStatus()` for the present status.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
