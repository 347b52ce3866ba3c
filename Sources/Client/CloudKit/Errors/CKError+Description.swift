extension CKError: CustomStringConvertible {
  /// The name and number of the code, and the description for people, as in
  /// `<CKError: notAuthenticated (9); "the web auth token is not known here">`.
  public var description: String {
    "<CKError: \(code) (\(code.rawValue)); \"\(localizedDescription)\">"
  }
}
