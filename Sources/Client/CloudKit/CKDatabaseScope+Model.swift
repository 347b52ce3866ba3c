package import CloudKitModel

extension CKDatabaseScope {
  /// The case of the raw value 0.
  ///
  /// The case is marked unavailable, so code does not have to handle it in a `switch`. Code can only create it from its
  /// bits. The compiler numbers cases without values in the order of their declaration, so the first case has the bits
  /// 0.
  static var undisclosed: Self { unsafeBitCast(UInt8(0), to: Self.self) }

  /// Creates the scope that corresponds to a scope of the data model.
  package init(_ model: DatabaseScope) {
    switch model {
    case .public: self = .public
    case .private: self = .private
    case .shared: self = .shared
    }
  }

  /// The corresponding scope of the data model, which the server uses too.
  ///
  /// Do not call it on ``undisclosed``: the `switch` has no branch for that case.
  package var model: DatabaseScope {
    switch self {
    case .public: .public
    case .private: .private
    case .shared: .shared
    }
  }
}
