import CPostgreSQL
import Foundation
import StoreModel

extension PostgreSQLConnection {
  package func check(_ result: OpaquePointer?, _ statement: String) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY: return
    default: throw failure(result, statement)
    }
  }

  /// Returns the error of a result by its SQLSTATE (appendix A of PostgreSQL's manual).
  ///
  /// - 57014, a cancelled statement: `overloaded`, or `unreachable` for a late cancellation.
  /// - 25006, classes 08 and 57, no SQLSTATE: `unreachable`.
  /// - 25P03, with the connection lost: PostgreSQL has rolled back an idle transaction. Class 40, and 22012, by which a statement says that what was read has changed:
  ///   `serializationFailure`.
  /// - A panic with 53100 or 58030: `unreachable`.
  /// - 53100: `full`. 58030: `diskFailed`. Other codes of classes 53 and 55: `overloaded`.
  /// - Class XX: `corrupt`. XX001 and XX002 are also recorded in ``damage``.
  /// - All others: `statementFailed`.
  package func failure(_ result: OpaquePointer?, _ statement: String) -> StoreError {
    let code =
      PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    let primary = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
    let reason = "\(primary ?? message) (SQLSTATE \(code.isEmpty ? "none" : code))"
    let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))).map { String(cString: $0) }
    switch (code, code.prefix(2)) {
    case ("57014", _) where isCancelledByMistake():
      return StoreError(
        .unreachable, "a late cancellation of an earlier statement stopped this one: \(reason)",
        statement: statement)
    case ("57014", _):
      return StoreError(.overloaded, "the statement took too long: \(reason)", statement: statement)
    case ("25P03", _):
      isUnfit = true
      return StoreError(
        .serializationFailure, "\(address) ended an idle transaction: \(reason)",
        statement: statement)
    case ("25006", _):
      // The server may have become a standby; the next connection may find the primary.
      isUnfit = true
      return StoreError(
        .unreachable, "\(address) does not accept writes: \(reason)", statement: statement)
    case ("53100", _) where severity == "PANIC", ("58030", _) where severity == "PANIC":
      // PostgreSQL ends, since it could not write its log. What it could not sync it may yet find
      // when it starts again, also a commit.
      return lost(reason, statement)
    case ("22012", _), (_, "40"):
      return StoreError(.serializationFailure, reason, statement: statement)
    case ("53100", _): return StoreError(.full, reason, statement: statement)
    case ("58030", _): return StoreError(.diskFailed, reason, statement: statement)
    case (_, "53"), (_, "55"): return StoreError(.overloaded, reason, statement: statement)
    case ("XX001", _), ("XX002", _):
      let error = StoreError(
        .corrupt,
        "PostgreSQL at \(address) reports that its files are damaged: \(reason). Stop the servers, "
          + "keep the cluster's files, and restore a backup elsewhere", statement: statement)
      damage?.note(error.reason)
      return error
    case (_, "XX"): return StoreError(.corrupt, reason, statement: statement)
    case (_, "08"), (_, "57"), ("", _): return lost(reason, statement)
    default: return StoreError(.statementFailed, reason, statement: statement)
    }
  }

  private func lost(_ reason: String, _ statement: String) -> StoreError {
    // libpq does not count a connection as lost when it can no longer send on it.
    isUnfit = true
    let error = StoreError(
      .unreachable, "the connection to \(address) is lost: \(exchange.silence ?? reason)",
      statement: statement)
    // To connect again would only take more time now.
    if exchange.silence != nil { settings.outage.note(error) }
    return error
  }

  var message: String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
