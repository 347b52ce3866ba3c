import WebServices

extension ServiceError {
  /// Returns the error `AUTHENTICATION_REQUIRED`, for an action that a signed-in user may do and an
  /// anonymous caller may not.
  ///
  /// The reason says where the token belongs. Some clients send the token in the header field
  /// `Authorization`. No operation reads that field, so these clients are anonymous.
  ///
  /// - Parameter what: the subject of the sentence, such as `records/modify`.
  static func signInNeeded(for what: String) -> ServiceError {
    ServiceError(
      .authenticationRequired,
      "request needs authorization: \(what) needs a signed-in user, whose token is sent as "
        + "ckWebAuthToken in the query")
  }
}
