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
  /// - Throws: ``StoreError/Code/cannotOpen`` if libpq does not know the text or a part of it.
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

  /// libpq's message without its quotation of the address, which may contain a password.
  private static func withoutQuotation(_ reason: String) -> String {
    let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
    if reason.hasPrefix("invalid URI query parameter") { return reason }
    let unquoted = reason.prefix { $0 != "\"" && $0 != "(" }
    return unquoted.trimmingCharacters(in: CharacterSet(charactersIn: " :"))
  }

  /// Calls `body` with the keywords and values of libpq's parameters for a connection: Petrel's
  /// defaults, then the address, then `place`. Later ones override earlier ones.
  ///
  /// `TCP_USER_TIMEOUT` and keepalives find a peer that is gone within seven seconds, also while a
  /// statement runs.
  func withParameters<Result>(
    at place: [(String, String)] = [],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let parameters =
      [
        ("application_name", "petrel"), ("client_encoding", "UTF8"), ("connect_timeout", "5"),
        ("keepalives", "1"), ("keepalives_idle", "3"), ("keepalives_interval", "2"),
        ("keepalives_count", "2"), ("tcp_user_timeout", "7000"), ("dbname", text),
      ] + place
    return Self.withTexts(parameters.map(\.0)) { keywords in
      Self.withTexts(parameters.map(\.1)) { body(keywords, $0) }
    }
  }

  private static func withTexts<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
    pointers.append(nil)
    // The array is never empty, because it ends with a null pointer. So it has memory.
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
  }

  /// Whether a text begins like the address of a PostgreSQL database.
  public static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }
}
