extension CKError: CustomStringConvertible {
  /// The code with its number and the text for people, as in
  /// `<CKError: notAuthenticated (9); "the web auth token is not known here">`.
  public var description: String {
    "<CKError: \(code) (\(code.rawValue)); \"\(localizedDescription)\">"
  }
}
