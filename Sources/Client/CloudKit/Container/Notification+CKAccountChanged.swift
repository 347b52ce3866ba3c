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
