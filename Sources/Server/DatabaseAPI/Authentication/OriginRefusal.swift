import WebServices

/// The refusal of a request from a page whose origin is not in the list of the API token.
///
/// The answer has no CORS header fields, so the browser does not let the page read the answer.
struct OriginRefusal: Error {
  var origin: String
  var tokenName: String

  var serviceError: ServiceError {
    ServiceError(
      .authenticationFailed,
      "ckAPIToken: the API token '\(tokenName)' is not for pages from '\(origin)'; make one with "
        + "'petrel keys add-api-token --origins'")
  }
}
