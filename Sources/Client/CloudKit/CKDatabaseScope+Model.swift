package import CloudKitModel

extension CKDatabaseScope {
  /// The scope of a notification whose payload names no database, as with Apple's framework.
  static var undisclosed: Self { Self(number: 0) }

  package init(_ model: DatabaseScope) {
    switch model {
    case .public: self = .public
    case .private: self = .private
    case .shared: self = .shared
    }
  }

  /// The corresponding scope of the data model, which the server uses too.
  ///
  /// - Precondition: The scope is one of the three. Otherwise the program stops: no container has
  ///   such a database.
  package var model: DatabaseScope {
    switch self {
    case .public: return .public
    case .private: return .private
    case .shared: return .shared
    @unknown default: stopForInvalidArgument("CKDatabase.Scope: there is no scope \(rawValue)")
    }
  }
}
