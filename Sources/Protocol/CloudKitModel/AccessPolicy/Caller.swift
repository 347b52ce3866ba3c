/// The identity that makes a request.
public enum Caller: Sendable, Hashable {
  /// A caller without credentials of a user. It has the permissions of the role `_world` alone.
  case anonymous
  /// A signed-in user.
  case user(userRecordName: String)
  /// A program that signs its requests with a server-to-server key. The key has a record name of
  /// its own, in the style of a user's. The server stores the key's records and subscriptions under
  /// that name.
  case serverKey(keyID: String, userRecordName: String)
  /// The administrator of the server, or the server itself. The record name stands in the changes
  /// that the administrator makes.
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
