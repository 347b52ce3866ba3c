import WebServices

extension ServiceError {
  /// Returns the error for an action that an anonymous caller may not do and a signed-in user may.
  ///
  /// The reason says where the token belongs. A client may have sent the token in `Authorization`,
  /// which no operation reads, and is then anonymous.
  ///
  /// - Parameter what: the subject of the sentence, such as `records/modify`.
  static func signInNeeded(for what: String) -> ServiceError {
    ServiceError(
      .authenticationRequired,
      "request needs authorization: \(what) needs a signed-in user, whose token is sent as "
        + "ckWebAuthToken in the query")
  }
}
