/// Which of a container's databases is meant.
///
/// The raw values are those of `CKDatabase.Scope`. The numbers in a push payload differ; see
/// ``payloadNumber``.
public enum DatabaseScope: Int, Sendable, Hashable, CaseIterable, Codable {
  case `public` = 1
  case `private` = 2
  case shared = 3

  /// The number of this scope in a push payload (`dbs`): private 1, public 2, shared 3.
  public var payloadNumber: Int {
    switch self {
    case .private: 1
    case .public: 2
    case .shared: 3
    }
  }

  /// The scope with this number in a push payload, or nil for an unknown number.
  public init?(payloadNumber: Int) {
    guard let scope = Self.allCases.first(where: { $0.payloadNumber == payloadNumber }) else {
      return nil
    }
    self = scope
  }

  /// The word for this scope in a web-services path: `public`, `private` or `shared`.
  public var pathComponent: String {
    switch self {
    case .public: "public"
    case .private: "private"
    case .shared: "shared"
    }
  }

  /// The scope with this word in a web-services path.
  public init?(pathComponent: some StringProtocol) {
    guard let scope = Self.allCases.first(where: { $0.pathComponent == pathComponent }) else {
      return nil
    }
    self = scope
  }
}
