package import CloudKitModel

extension CKError {
  /// An error with a text for people.
  package init(_ code: Code, _ reason: String, userInfo: [String: Any] = [:]) {
    self.init(
      code, userInfo: userInfo.merging([NSLocalizedDescriptionKey: reason]) { old, _ in old })
  }

  /// The error that a broken rule of the data model becomes, with the same text.
  package init(_ error: ModelError) {
    self.init(error.code == .limitExceeded ? .limitExceeded : .invalidArguments, error.reason)
  }
}
