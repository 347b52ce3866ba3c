import Foundation
import Settings
import Storage
import StoreModel

extension ServerConfiguration {
  /// Opens the store that the configuration names. If the data directory does not exist, the method
  /// creates it with mode 0700.
  ///
  /// - Throws: `ConfigurationError` if the configuration names no PostgreSQL database, and the data
  ///   directory contains only the assets of a store in PostgreSQL. Without this check, a forgotten
  ///   PostgreSQL address would create a new, empty store beside those assets. Errors of the file
  ///   system and of the store are thrown unchanged.
  public func openStore(with configuration: StoreConfiguration) async throws -> Store {
    if postgreSQL == nil, !FileManager.default.fileExists(atPath: storePath),
      FileManager.default.fileExists(atPath: assetsPath)
    {
      throw ConfigurationError(
        "'\(dataDirectory)' has only the assets of a store in PostgreSQL; name the store with "
          + "--store, or the configuration with --config")
    }
    try FileManager.default.createDirectory(
      atPath: dataDirectory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    return try await Store.open(at: storeLocation, configuration: configuration)
  }
}
