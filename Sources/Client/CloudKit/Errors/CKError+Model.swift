package import CloudKitModel

extension CKError {
  /// Creates an error with a description for people. The `userInfo` also has the description under
  /// `CKErrorDescription`, where public code reads it.
  ///
  /// - Parameter reason: the `localizedDescription`. A description in `userInfo` takes precedence.
  package init(_ code: Code, _ reason: String, userInfo: [String: Any] = [:]) {
    let texts = [NSLocalizedDescriptionKey: reason, "CKErrorDescription": reason]
    self.init(code, userInfo: userInfo.merging(texts) { old, _ in old })
  }

  /// Creates the error for a broken rule of the data model, with the description of `error`.
  ///
  /// The code is `limitExceeded` for an exceeded limit, and `invalidArguments` for all other rules.
  package init(_ error: ModelError) {
    self.init(error.code == .limitExceeded ? .limitExceeded : .invalidArguments, error.reason)
  }
}
