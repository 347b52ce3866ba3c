import HTTPService
import WebServices

/// The error for a method that a path does not accept (RFC 9110, section 15.5.6).
///
/// The protocol has no error code for a wrong method, so the answer has the status 405 and the code
/// `BAD_REQUEST`.
package struct WrongMethod: Error {
  /// The methods that the path accepts, for the header field `Allow`.
  var allowed: [String]
  var reason: String

  package init(allowed: [String], reason: String) {
    self.allowed = allowed
    self.reason = reason
  }

  /// Throws the error if the method is not allowed. The operation is the name in its text.
  package static func check(
    _ method: String, of operation: String, allowed: [String]
  ) throws(WrongMethod) {
    guard !allowed.contains(method) else { return }
    throw WrongMethod(
      allowed: allowed,
      reason: "\(operation) takes \(allowed.joined(separator: " or ")), not \(method)")
  }

  /// Returns the answer with status 405 and the header field `Allow`.
  package func response(_ error: ServiceError) -> HTTPResponse {
    var response = HTTPResponse(error)
    response.status = 405
    response.headers.append(("Allow", allowed.joined(separator: ", ")))
    return response
  }
}
