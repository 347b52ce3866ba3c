import CloudKitModel
import WebServices

/// The rules for calling operations, by the kind of caller and the scope of the database.
extension AccessPolicy {
  /// Decides whether a caller may call an operation on a database.
  ///
  /// `AccessPolicy` decides about single records later, when the server has read them.
  ///
  /// - Parameter scope: the scope of the database; nil for an operation on a container.
  /// - Returns: nil if the caller may call the operation. `ACCESS_DENIED` for a caller of the wrong
  ///   kind, and for a server-to-server key on a private or shared database. `BAD_REQUEST` if the
  ///   operation needs a database and `scope` is nil. `BAD_DATABASE` for a database of the wrong
  ///   scope. `AUTHENTICATION_REQUIRED` for an anonymous caller, if a signed-in user may call the
  ///   operation.
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
          "\(operation.name) needs a signed-in user; a server-to-server key is not a user")
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
  /// Returns the error for an operation on a database for which no caller can use it: `BAD_REQUEST`
  /// if it needs a database and `scope` is nil, `BAD_DATABASE` for another scope.
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
