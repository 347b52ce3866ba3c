import CloudKitModel
import Foundation

/// The path of a request of CloudKit Web Services:
/// `/database/1/{container}/{environment}/{database}/{operation}`, or
/// `/device/1/{container}/{environment}/{operation}` for `tokens/…` and `notifications/…`.
///
/// The archived reference puts `tokens/…` under `/database/…`; Apple's service has them under
/// `/device/…`. Both are read, with or without a database; the second is written.
public struct ServicePath: Sendable, Hashable, CustomStringConvertible {
  public static let version = "1"

  public var container: String
  public var environment: ContainerEnvironment
  /// Nil for what belongs to the whole container: `tokens/…` and `notifications/…`.
  public var scope: DatabaseScope?
  /// Such as `records/modify`.
  public var operation: String

  public init(
    container: String, environment: ContainerEnvironment, scope: DatabaseScope?, operation: String
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.operation = operation
  }

  /// Reads a path.
  ///
  /// - Throws: `BAD_REQUEST` naming the part that is wrong, `NOT_FOUND` when it is no path of the
  ///   protocol at all.
  public init(parsing path: String) throws(ServiceError) {
    guard !path.utf8.contains(0) else {
      throw ServiceError(.badRequest, "the path \(ServiceError.nulRule)")
    }
    var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }[...]
    guard let prefix = parts.popFirst(), prefix == "database" || prefix == "device",
      let version = parts.popFirst(), let container = parts.popFirst(),
      let environmentName = parts.popFirst()
    else {
      throw ServiceError(
        .notFound,
        "no such path: \(path); expected "
          + "/database/1/{container}/{environment}/{database}/{operation}")
    }
    guard version == Self.version else {
      throw ServiceError(.badRequest, "protocol version '\(version)' is not spoken here; use 1")
    }
    guard let environment = ContainerEnvironment(rawValue: String(environmentName)) else {
      throw ServiceError(
        .badRequest, "environment '\(environmentName)' must be development or production")
    }
    guard container.hasPrefix("iCloud.") else {
      throw ServiceError(.badRequest, "container '\(container)' must begin with 'iCloud.'")
    }
    // Whoever names it makes it, and it stands in logs.
    guard container.utf8.count <= ServiceLimits.containerIdentifierSize,
      container.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else {
      throw ServiceError(
        .badRequest,
        "the container must have at most \(ServiceLimits.containerIdentifierSize) bytes and no control characters"
      )
    }
    if prefix == "database", parts.first != "tokens" {
      guard let word = parts.popFirst(), let scope = DatabaseScope(pathComponent: word) else {
        throw ServiceError(.badRequest, "the database must be public, private or shared")
      }
      self.scope = scope
    } else {
      // A device path may carry a database: it means nothing there.
      if let word = parts.first, DatabaseScope(pathComponent: word) != nil { parts.removeFirst() }
      self.scope = nil
    }
    if parts.first == "tokens" { self.scope = nil }
    self.container = String(container)
    self.environment = environment
    self.operation = parts.joined(separator: "/")
  }

  public var description: String {
    let head = scope == nil ? "device" : "database"
    let middle = scope.map { "/\($0.pathComponent)" } ?? ""
    return "/\(head)/\(Self.version)/\(container)/\(environment.rawValue)\(middle)/\(operation)"
  }
}
