/// The scope of a database in its container.
///
/// The raw values are those of `CKDatabase.Scope`. The numbers in a push payload differ; see
/// ``payloadNumber``.
public enum DatabaseScope: Int, Sendable, Hashable, CaseIterable, Codable {
  /// The database that all users of the container share.
  case `public` = 1
  /// The database of one user. Other users see only the records that this user shares.
  case `private` = 2
  /// A user's view of the zones and records that other users share with this user.
  case shared = 3

  /// The number of the scope in a push payload (`dbs`): private 1, public 2, shared 3.
  public var payloadNumber: Int {
    switch self {
    case .private: 1
    case .public: 2
    case .shared: 3
    }
  }

  /// Creates the scope with this number in a push payload; nil for an unknown number.
  public init?(payloadNumber: Int) {
    guard let scope = Self.allCases.first(where: { $0.payloadNumber == payloadNumber }) else {
      return nil
    }
    self = scope
  }

  /// The word for the scope in the path of a request: `public`, `private` or `shared`.
  public var pathComponent: String {
    switch self {
    case .public: "public"
    case .private: "private"
    case .shared: "shared"
    }
  }

  /// Creates the scope with this word in the path of a request; nil for an unknown word.
  public init?(pathComponent: some StringProtocol) {
    guard let scope = Self.allCases.first(where: { $0.pathComponent == pathComponent }) else {
      return nil
    }
    self = scope
  }
}
