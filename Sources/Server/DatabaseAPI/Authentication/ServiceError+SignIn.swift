import WebServices

extension ServiceError {
  /// The failure of what an anonymous caller may not do and a user may.
  ///
  /// It says where the token goes, since a caller who has sent it in `Authorization`, which no call
  /// of the protocol reads, is anonymous too.
  static func signInNeeded(for what: String) -> ServiceError {
    ServiceError(
      .authenticationRequired,
      "request needs authorization: \(what) needs a signed-in user, whose token is sent as "
        + "ckWebAuthToken in the query")
  }
}
