/// The result of the handler for the head of a request, before the server receives the body.
public enum HTTPDecision: Sendable {
  /// The answer, for which the body is not needed. The server drops the body.
  case answer(HTTPResponse)

  /// The request needs its body.
  ///
  /// - `account`: a text for the user to whom the bytes of the body count; `nil` if only the
  ///   address of the client has a share of the bytes.
  /// - `then`: answers the request with its body. It runs once at most: not if the client leaves or
  ///   the body is refused.
  case receive(account: String? = nil, then: @Sendable (HTTPRequest) async -> HTTPResponse)
}
