import CloudKit

/// The class of UIKit that the guide's code names.
final class UIApplication {}

/// An app's delegate, as far as the guide shows it.
final class AppDelegate {
  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    Task {
      try await CKContainer.default().registerForRemoteNotifications(deviceToken: deviceToken)
    }
  }
}
