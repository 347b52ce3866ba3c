import CloudKitModel
import Storage

/// Who makes a request of the admin API.
struct AdminIdentity: Sendable {
  /// The key that was shown with the request, or when the session began.
  var key: AdminKey
  /// The browser's session; nil for a program that shows its key with each request.
  var session: ConsoleSession?
}
