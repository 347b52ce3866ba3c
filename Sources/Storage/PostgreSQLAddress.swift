import CPostgreSQL
import Foundation

/// Where a PostgreSQL is, and how to sign in: a connection URI as libpq reads it
/// (`postgres://user@host:5432/database?sslmode=verify-full`).
///
/// A password is better kept in a file (`passfile=` or `PGPASSFILE`).
public struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible {
  let text: String
  /// Without the password.
  public let description: String

  /// - Throws: ``StoreError/Code/cannotOpen`` when it is not such a URI, or has parts that libpq does
  ///   not know.
  public init(_ text: String) throws {
    guard Self.isAddress(text) else {
      throw StoreError(
        .cannotOpen, "'\(text)' is no address of a PostgreSQL: it begins with postgres://")
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
        "the address of the PostgreSQL is wrong: "
          + reason.trimmingCharacters(in: .whitespacesAndNewlines))
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
      "\(parts["host"] ?? "this machine")\(parts["port"].map { ":\($0)" } ?? "")"
      + "/\(parts["dbname"] ?? "")"
  }

  /// Whether a text is meant to be one.
  public static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }
}
