import WebServices

/// The end of a web app's session: the web auth token is unknown or has expired, so the user must
/// sign in again.
struct SessionEnd: Error {
  /// The other credentials of the request, for the URL of the sign-in page.
  var credentials: Credentials
  /// The sentence for the client.
  var reason: String
}
