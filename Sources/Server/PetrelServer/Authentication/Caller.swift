/// Who makes a request.
public enum Caller: Sendable, Hashable {
  /// Nobody who is known: may do what everyone may.
  case anonymous
  /// A signed-in user.
  case user(userRecordName: String)
  /// A program that signs its requests with a server-to-server key. It has a name of its own, in the
  /// form of a user's, under which its records and subscriptions stand.
  case serverKey(keyID: String, userRecordName: String)

  /// The name that the caller's records and subscriptions bear; nil for an anonymous one.
  public var userRecordName: String? {
    switch self {
    case .anonymous: nil
    case .user(let name), .serverKey(_, let name): name
    }
  }
}
