import HTTPService

/// What a browser has to be told before a page of another origin may use the server: the CORS
/// protocol (Fetch standard, section 3.2).
///
/// No path that this is for looks at cookies, so every page may ask; what it gets is decided by the
/// tokens that it brings.
package enum CrossOrigin {
  /// Header fields of answers that pages may read, besides those that they may always.
  private static let exposed =
    "X-Apple-CloudKit-Web-Auth-Token, X-Apple-Request-UUID, Retry-After, ETag, Accept-Ranges, "
    + "Content-Range"
  /// Seconds for which a browser need not ask again.
  private static let maximumAge = 600

  /// Whether the path is one that pages of any origin use.
  static func applies(to path: String) -> Bool {
    path.hasPrefix("/database/") || path.hasPrefix("/device/") || path == WebCourier.path
      || path.hasPrefix(AssetLinks.prefix)
  }

  /// The answer to a browser that asks before it sends a request.
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

  /// Header fields that let pages of the request's origin read the answer.
  static func headers(
    forOrigin origin: String?, method: String
  ) -> [(String, String)] {
    guard let origin, isSendable(origin) else {
      // A cache must not give the answer to a page of whatever origin later.
      return method == "GET" ? [("Vary", "Origin")] : []
    }
    return [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"),
      ("Access-Control-Expose-Headers", exposed), ("Vary", "Origin"),
    ]
  }

  /// The same for a request that the HTTP server refused by itself.
  package static func headers(
    ofRefusedRequest request: [(name: String, value: String)]
  ) -> [(String, String)] {
    let origin = request.first { $0.name.lowercased() == "origin" }?.value
    return headers(forOrigin: origin, method: "POST")
  }

  /// Whether a text from a request may stand in an answer's header.
  private static func isSendable(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
