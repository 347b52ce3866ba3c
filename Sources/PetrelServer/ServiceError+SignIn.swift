import WebServices

extension ServiceError {
  /// The failure of what an anonymous caller may not do and a user may. It says how a user is told,
  /// for who takes the token for one of `Authorization`, which no call of the protocol reads.
  static func signInNeeded(for what: String) -> ServiceError {
    ServiceError(
      .authenticationRequired,
      "request needs authorization: \(what) needs a signed-in user, whose token is sent as "
        + "ckWebAuthToken in the query")
  }
}
