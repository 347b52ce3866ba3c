import CloudKitModel
import Foundation

/// The path of a request to CloudKit Web Services, with one of two layouts:
///
/// - `/database/1/{container}/{environment}/{database}/{operation}`
/// - `/device/1/{container}/{environment}/{operation}` for operations of a whole container, such as
///   `tokens/…` and `notifications/…`
///
/// Apple's archived reference puts `tokens/…` under `/database/…`, but Apple's service uses
/// `/device/…`. The parser accepts `tokens/…` under both, with or without a database.
/// ``description`` writes `/device/…`.
public struct ServicePath: Sendable, Hashable, CustomStringConvertible {
  /// The version of the protocol in the path.
  public static let version = "1"

  /// The identifier of the container. The parser requires `iCloud.` at the beginning, at most
  /// `ServiceLimits.containerIdentifierSize` bytes, and no control characters.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The scope of the database; nil for operations of the whole container.
  public var scope: DatabaseScope?
  /// The operation, such as `records/modify`. The parser does not check whether it exists.
  public var operation: String

  /// Creates a path without checks.
  public init(
    container: String, environment: ContainerEnvironment, scope: DatabaseScope?, operation: String
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.operation = operation
  }

  /// Parses a path without its query.
  ///
  /// - Throws: `NOT_FOUND` when the path has another layout than those of the protocol. For other
  ///   mistakes, `BAD_REQUEST` with the wrong part of the path.
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
      throw ServiceError(.badRequest, "protocol version '\(version)' is not supported; use 1")
    }
    guard let environment = ContainerEnvironment(rawValue: String(environmentName)) else {
      throw ServiceError(
        .badRequest, "environment '\(environmentName)' must be development or production")
    }
    guard container.hasPrefix("iCloud.") else {
      throw ServiceError(.badRequest, "container '\(container)' must begin with 'iCloud.'")
    }
    // The first request for a container may create it, and logs show its identifier.
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
      // A database in a device path is ignored.
      if let word = parts.first, DatabaseScope(pathComponent: word) != nil { parts.removeFirst() }
      self.scope = nil
    }
    if parts.first == "tokens" { self.scope = nil }
    self.container = String(container)
    self.environment = environment
    self.operation = parts.joined(separator: "/")
  }

  /// The path as a client sends it.
  public var description: String {
    let head = scope == nil ? "device" : "database"
    let middle = scope.map { "/\($0.pathComponent)" } ?? ""
    return "/\(head)/\(Self.version)/\(container)/\(environment.rawValue)\(middle)/\(operation)"
  }
}
