import HTTPService
import WebServices

/// A method that a path does not take (RFC 9110, section 15.5.6).
///
/// The protocol has no code for it: the answer has the status 405 and the code `BAD_REQUEST`.
package struct WrongMethod: Error {
  var allowed: [String]
  var reason: String

  package init(allowed: [String], reason: String) {
    self.allowed = allowed
    self.reason = reason
  }

  package static func check(
    _ method: String, of operation: String, allowed: [String]
  ) throws(WrongMethod) {
    guard !allowed.contains(method) else { return }
    throw WrongMethod(
      allowed: allowed,
      reason: "\(operation) takes \(allowed.joined(separator: " or ")), not \(method)")
  }

  package func response(_ error: ServiceError) -> HTTPResponse {
    var response = HTTPResponse(error)
    response.status = 405
    response.headers.append(("Allow", allowed.joined(separator: ", ")))
    return response
  }
}
