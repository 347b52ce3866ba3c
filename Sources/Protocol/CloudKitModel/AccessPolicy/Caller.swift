/// The identity of the client that sends a request.
public enum Caller: Sendable, Hashable {
  /// A caller without a user's credentials. An anonymous caller has only the permissions of the
  /// role `_world`.
  case anonymous
  /// A signed-in user.
  case user(userRecordName: String)
  /// A program that signs its requests with a server-to-server key. The key has its own user record
  /// name. The server stores the key's records and subscriptions under that name.
  case serverKey(keyID: String, userRecordName: String)
  /// The administrator of the server, or the server itself. The server stores the record name as
  /// the author of the administrator's changes.
  case administrator(userRecordName: String)

  /// The name under which the server stores the caller's records and subscriptions; nil for an
  /// anonymous caller.
  public var userRecordName: String? {
    switch self {
    case .anonymous: nil
    case .user(let name), .serverKey(_, let name), .administrator(let name): name
    }
  }

  /// Whether the caller is the administrator, who has full access to each database.
  public var isAdministrator: Bool {
    if case .administrator = self { true } else { false }
  }

  /// Returns the user of this name, or an anonymous caller when the name is nil.
  public static func user(named userRecordName: String?) -> Caller {
    userRecordName.map { .user(userRecordName: $0) } ?? .anonymous
  }
}
