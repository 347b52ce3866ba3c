import HTTPService

/// The header fields of the CORS protocol (Fetch standard, section 3.2), which let pages of other
/// origins use the server.
///
/// The server reads no cookie on the routes for pages of any origin (``Route/Origins/any``). Therefore a
/// page of any origin may send requests there, and the tokens in a request decide what the request may
/// do. An API token may list the origins whose pages may use the token: see ``OriginRefusal``.
package enum CrossOrigin {
  /// The value of `Access-Control-Expose-Headers`: the header fields of an answer that a page of
  /// another origin may read, besides those that the CORS protocol always permits.
  private static let exposed =
    "X-Apple-CloudKit-Web-Auth-Token, X-Apple-Request-UUID, Retry-After, ETag, Accept-Ranges, "
    + "Content-Range, \(WebCourier.eventID)"
  /// Seconds for which a browser may reuse the answer to a preflight request.
  private static let maximumAge = 600

  /// Returns the answer to a preflight request, with status 204.
  ///
  /// It allows all header fields that the browser asks for, if their names are printable ASCII. The
  /// code that calls this adds the header fields of ``headers(forOrigin:method:)``.
  static func answer(toPreflight request: HTTPRequest) -> HTTPResponse {
    var headers = [
      ("Allow", methods), ("Access-Control-Allow-Methods", methods),
      ("Access-Control-Max-Age", String(maximumAge)),
    ]
    if let names = request.header("Access-Control-Request-Headers"), isSendable(names) {
      headers.append(("Access-Control-Allow-Headers", names))
    }
    return HTTPResponse(status: 204, headers: headers)
  }

  private static let methods = "GET, HEAD, POST, OPTIONS"

  /// Returns the header fields that let a page of the request's origin read the answer.
  ///
  /// - Parameters:
  ///   - origin: the value of the header field `Origin`; nil if the request has none.
  ///   - method: the method of the request. Without an origin, the answer to a GET gets `Vary`
  ///     alone, and other answers get nothing.
  static func headers(
    forOrigin origin: String?, method: String
  ) -> [(String, String)] {
    guard let origin, isSendable(origin) else {
      // `Vary` forbids a cache to use this answer later for a request with an origin.
      return method == "GET" ? [("Vary", "Origin")] : []
    }
    return [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"),
      ("Access-Control-Expose-Headers", exposed), ("Vary", "Origin"),
    ]
  }

  /// Returns the header fields of ``headers(forOrigin:method:)`` for a request that the HTTP server
  /// refused before a handler saw it.
  package static func headers(
    ofRefusedRequest request: [(name: String, value: String)]
  ) -> [(String, String)] {
    let origin = request.first { $0.name.lowercased() == "origin" }?.value
    return headers(forOrigin: origin, method: "POST")
  }

  /// Whether a text from a request may be repeated in a header field of the answer: it is printable
  /// ASCII. Other characters could add lines to the answer.
  private static func isSendable(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
