package import CloudKitModel

extension CKDatabaseScope {
  /// The case of the raw value 0, which is unavailable so that no code has to switch over it. Only its bits can make it: the
  /// compiler numbers cases without values in the order of their declaration.
  static var undisclosed: Self { unsafeBitCast(UInt8(0), to: Self.self) }

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
