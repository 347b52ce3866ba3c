package import CloudKitModel

extension CKDatabaseScope {
  package init(_ model: DatabaseScope) {
    switch model {
    case .public: self = .public
    case .private: self = .private
    case .shared: self = .shared
    }
  }

  package var model: DatabaseScope {
    switch self {
    case .public: .public
    case .private: .private
    case .shared: .shared
    }
  }
}
