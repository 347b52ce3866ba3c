package import CloudKitModel

extension CKError {
  /// Creates an error with a description for people.
  ///
  /// - Parameters:
  ///   - reason: the `localizedDescription`. A description in `userInfo` takes precedence.
  ///   - userInfo: other values of the error.
  package init(_ code: Code, _ reason: String, userInfo: [String: Any] = [:]) {
    self.init(
      code, userInfo: userInfo.merging([NSLocalizedDescriptionKey: reason]) { old, _ in old })
  }

  /// Creates the error for a broken rule of the data model, with the same text.
  ///
  /// The code is `limitExceeded` for a passed limit, and `invalidArguments` for all other rules.
  package init(_ error: ModelError) {
    self.init(error.code == .limitExceeded ? .limitExceeded : .invalidArguments, error.reason)
  }
}
