extension HTTPRequest {
  /// The fields of a form that a browser sent in the body, in order, with names and values decoded.
  /// Empty if the body's type is not `application/x-www-form-urlencoded`.
  public var formFields: [(name: String, value: String)] {
    let type = header("Content-Type")?.prefix { $0 != ";" }.lowercased()
    guard type?.hasPrefix("application/x-www-form-urlencoded") ?? false else { return [] }
    return RequestTarget.parameters(String(decoding: body, as: UTF8.self))
  }
}
