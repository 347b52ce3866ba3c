import WebServices

/// The refusal of an API token for a page whose origin the token does not list.
///
/// The answer has no CORS header fields, so the browser does not show it to the page.
struct OriginRefusal: Error {
  /// The origin that the browser sent.
  var origin: String
  /// The name of the API token, for the reason.
  var tokenName: String

  /// The error object: `AUTHENTICATION_FAILED`.
  var serviceError: ServiceError {
    ServiceError(
      .authenticationFailed,
      "ckAPIToken: the API token '\(tokenName)' is not for pages from '\(origin)'; make one with "
        + "'petrel keys add-api-token --origins'")
  }
}
