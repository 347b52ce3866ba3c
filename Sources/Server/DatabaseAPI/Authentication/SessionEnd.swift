import WebServices

/// The end of a web app's session: its web auth token is not valid for the request any more, so the
/// user must sign in again.
///
/// The token is unknown, has expired, or belongs to another container or environment.
struct SessionEnd: Error {
  /// The other credentials of the request, for the URL of the sign-in page.
  var credentials: Credentials
  var reason: String
}
