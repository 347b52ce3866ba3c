import CPostgreSQL
import Foundation
import StoreModel

/// The address of a PostgreSQL database and the credentials for it: a connection URI as libpq reads
/// it (`postgres://user@host:5432/database?sslmode=verify-full`).
///
/// A password is better kept in a file (`passfile=` or `PGPASSFILE`).
public struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible {
  /// The URI as the caller wrote it, with the password if there is one. Never log it.
  package let text: String
  /// The address without user and password, for logs.
  public let description: String

  /// Parses a connection URI.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the text is not a PostgreSQL connection URI, or
  ///   has parts that libpq does not know.
  public init(_ text: String) throws {
    guard Self.isAddress(text) else {
      throw StoreError(
        .cannotOpen,
        "the address of a PostgreSQL server must begin with postgres:// or postgresql://")
    }
    var reason: UnsafeMutablePointer<CChar>?
    let options = PQconninfoParse(text, &reason)
    defer {
      PQconninfoFree(options)
      PQfreemem(reason)
    }
    guard let options else {
      let reason = reason.map { String(cString: $0) } ?? "it cannot be read"
      throw StoreError(
        .cannotOpen,
        "the address of the PostgreSQL server is invalid: \(Self.withoutQuotation(reason))")
    }
    var parts: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        parts[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    self.text = text
    description =
      "postgres://\(parts["host"] ?? "")\(parts["port"].map { ":\($0)" } ?? "")"
      + "/\(parts["dbname"] ?? "")"
  }

  /// Returns libpq's message without its quotation of the address, which may contain a password.
  /// Only the names of unknown parts are kept.
  private static func withoutQuotation(_ reason: String) -> String {
    let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
    if reason.hasPrefix("invalid URI query parameter") { return reason }
    let unquoted = reason.prefix { $0 != "\"" && $0 != "(" }
    return unquoted.trimmingCharacters(in: CharacterSet(charactersIn: " :"))
  }

  /// Returns whether a text begins like the address of a PostgreSQL database.
  public static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }
}
