import CloudKitModel
import DatabaseAPI
import StoreModel

/// Who makes a request of the admin API.
struct AdminIdentity: LoggedCaller {
  /// The key that was shown with the request, or when the session began; nil for a program that has
  /// the store itself open, or came through the socket in its directory.
  var key: AdminKey?
  /// The browser's session; nil for a program that shows its key with each request.
  var session: ConsoleSession?

  /// A program that has the store itself open, or came through the socket in its directory: who may open the files there
  /// needs no key.
  static let local = AdminIdentity()

  var logName: String { key.map { "admin:\($0.identifier)" } ?? "owner" }

  /// Under which name records of the public database are changed.
  var userRecordName: String {
    guard let key else { return "_" + String(repeating: "0", count: 32) }
    return "_" + key.hash.prefix(16).hexadecimal
  }
}
