/// Who makes a request.
public enum Caller: Sendable, Hashable {
  /// An unknown caller, who may do what everyone may.
  case anonymous
  /// A signed-in user.
  case user(userRecordName: String)
  /// A program that signs its requests with a server-to-server key. It has a name of its own, in the
  /// form of a user's, under which its records and subscriptions are stored.
  case serverKey(keyID: String, userRecordName: String)
  /// Whoever runs the server, or the server itself, acting under this name.
  case administrator(userRecordName: String)

  /// The name under which the caller's records and subscriptions are stored; nil for an anonymous
  /// caller.
  public var userRecordName: String? {
    switch self {
    case .anonymous: nil
    case .user(let name), .serverKey(_, let name), .administrator(let name): name
    }
  }

  public var isAdministrator: Bool {
    if case .administrator = self { true } else { false }
  }

  /// The user of this name; without one an anonymous caller.
  public static func user(named userRecordName: String?) -> Caller {
    userRecordName.map { .user(userRecordName: $0) } ?? .anonymous
  }
}
