import WebServices

/// A page uses an API token that is not for pages of its origin. Its browser is not given leave to
/// show it the answer.
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
