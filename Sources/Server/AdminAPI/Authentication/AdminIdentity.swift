import CloudKitModel
import DatabaseAPI
import StoreModel

/// The authenticated caller of a request to the admin API.
struct AdminIdentity: LoggedCaller {
  /// The admin key of the request or of its session. Nil for a program that has the store open
  /// itself, or that connects to the socket file in the data directory.
  var key: AdminKey?
  /// The browser's session; nil for a caller that is not a browser.
  var session: ConsoleSession?

  /// The identity of a program that has the store open itself, or that connects to the socket file
  /// in the data directory. The permissions of these files protect the store, so the program needs
  /// no key.
  static let local = AdminIdentity()

  /// The caller's name in the log: `admin:` and the key's identifier, or `owner`.
  var logName: String { key.map { "admin:\($0.identifier)" } ?? "owner" }

  /// The user record name that the store writes as creator or modifier of the public records that
  /// this caller changes. It is `_` and the first 16 bytes of the key's hash in hexadecimal;
  /// without a key, `_` and 32 zeros.
  var userRecordName: String {
    guard let key else { return "_" + String(repeating: "0", count: 32) }
    return "_" + key.hash.prefix(16).hexadecimal
  }
}
