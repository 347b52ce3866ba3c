package import CloudKitModel

extension CKError {
  /// Creates an error with a description for people.
  ///
  /// - Parameters:
  ///   - reason: the `localizedDescription`. A description in `userInfo` takes precedence.
  ///   - userInfo: the other values of the error, by their keys.
  package init(_ code: Code, _ reason: String, userInfo: [String: Any] = [:]) {
    self.init(
      code, userInfo: userInfo.merging([NSLocalizedDescriptionKey: reason]) { old, _ in old })
  }

  /// Creates the error for a broken rule of the data model, with the description of `error`.
  ///
  /// The code is `limitExceeded` for an exceeded limit, and `invalidArguments` for all other rules.
  package init(_ error: ModelError) {
    self.init(error.code == .limitExceeded ? .limitExceeded : .invalidArguments, error.reason)
  }
}
