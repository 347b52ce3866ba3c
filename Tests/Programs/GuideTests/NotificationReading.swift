import CloudKit

/// The loops of the reference pages that read notifications.
enum NotificationReading {
  /// Prints the alerts of a device until the task is cancelled.
  static func printAlerts(of container: CKContainer) async throws {
    let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
    for try await userInfo in container.remoteNotifications() {
      let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
      print(notification?.petrelAlert(from: strings).body ?? "Something changed")
    }
  }

  /// Shows the notifications since a token, marks them as read, and returns the next token.
  static func read(
    _ container: CKContainer, since token: CKServerChangeToken?,
    reloadFromTheDatabases: () -> Void, show: (CKNotification) -> Void
  ) async throws -> CKServerChangeToken? {
    var savedToken = token
    let log = try await container.petrelNotifications(since: savedToken)
    if log.isRestart { reloadFromTheDatabases() }
    for entry in log.notifications where entry.notificationType != .readNotification {
      show(entry)
    }
    savedToken = log.token
    try await container.petrelMarkRead(log.notifications)
    return savedToken
  }
}
