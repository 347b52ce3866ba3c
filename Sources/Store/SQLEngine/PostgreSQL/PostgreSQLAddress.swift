import CPostgreSQL
import Foundation
import StoreModel

/// Where a PostgreSQL is, and how to sign in: a connection URI as libpq reads it
/// (`postgres://user@host:5432/database?sslmode=verify-full`).
///
/// A password is better kept in a file (`passfile=` or `PGPASSFILE`).
public struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible {
  package let text: String
  /// Without user and password, as it may stand in logs.
  public let description: String

  /// - Throws: ``StoreError/Code/cannotOpen`` when it is not such a URI, or has parts that libpq does
  ///   not know.
  public init(_ text: String) throws {
    guard Self.isAddress(text) else {
      throw StoreError(
        .cannotOpen, "an address of a PostgreSQL begins with postgres:// or postgresql://")
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
        .cannotOpen, "the address of the PostgreSQL is wrong: \(Self.withoutQuotation(reason))")
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

  /// What libpq says, without the part of the address that it quotes: a password may be in it. Only the
  /// names of unknown parts are told.
  private static func withoutQuotation(_ reason: String) -> String {
    let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
    if reason.hasPrefix("invalid URI query parameter") { return reason }
    let told = reason.prefix { $0 != "\"" && $0 != "(" }
    return told.trimmingCharacters(in: CharacterSet(charactersIn: " :"))
  }

  /// Whether a text is meant to be one.
  public static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }
}
