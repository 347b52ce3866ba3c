import CloudKitModel
import WebServices

/// Who may call which operation.
extension AccessPolicy {
  /// Whether a caller may call an operation on a database. What it may do with single records is decided when
  /// they are known.
  ///
  /// - Parameter scope: the database's; nil for an operation on a container.
  /// - Returns: nil where the caller may; otherwise `ACCESS_DENIED`, `BAD_REQUEST` with the reason code
  ///   `BAD_DATABASE`, or `AUTHENTICATION_REQUIRED` where a user might.
  static func refusal(
    of caller: Caller, calling operation: Operation, in scope: DatabaseScope?
  ) -> ServiceError? {
    switch caller {
    case .administrator:
      return operation.refusal(in: scope)
    case .serverKey:
      if let scope, scope != .public {
        return ServiceError(
          .accessDenied,
          "a server-to-server key may use the public database only, not the "
            + "\(scope.pathComponent) one")
      }
      if operation.callers == .users {
        return ServiceError(
          .accessDenied,
          "\(operation.name) needs a signed-in user; a server-to-server key is none")
      }
    case .anonymous, .user:
      if operation.callers == .programs {
        return ServiceError(
          .accessDenied, "\(operation.name) is for programs with a server-to-server key")
      }
    }
    if let refusal = operation.refusal(in: scope) { return refusal }
    let isPrivate = scope.map { $0 != .public } ?? false
    if caller == .anonymous, isPrivate || operation.callers != .everyone {
      return .signInNeeded(for: operation.name)
    }
    return nil
  }
}

extension Operation {
  /// Why nobody can call the operation on such a database.
  ///
  /// - Returns: nil where the operation is for databases of this scope.
  package func refusal(in scope: DatabaseScope?) -> ServiceError? {
    guard case .database(let scopes) = place else { return nil }
    guard let scope else {
      return ServiceError(.badRequest, "\(name) needs a database in its path")
    }
    guard !scopes.contains(scope) else { return nil }
    let known = scopes.map(\.pathComponent).sorted().joined(separator: " or ")
    return ServiceError(
      .badDatabase,
      otherDatabases
        ?? "\(name) is for the \(known) database only, not for the \(scope.pathComponent) one")
  }
}
