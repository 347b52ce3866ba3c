import WebServices

/// A web app's user has to sign in again, for the web auth token is unknown or has expired.
struct SessionEnd: Error {
  /// What the request brought besides.
  var credentials: Credentials
  var reason: String
}
