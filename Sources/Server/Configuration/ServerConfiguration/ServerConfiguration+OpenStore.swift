import Foundation
import Settings
import Storage
import StoreModel

extension ServerConfiguration {
  /// Opens the store that the configuration names, and makes the directories that it needs.
  ///
  /// - Throws: ``ConfigurationError`` where the data directory has only the assets of a store in PostgreSQL: without its
  ///   address a new store would be made beside the one that is meant.
  public func openStore(with configuration: StoreConfiguration) async throws -> any Store {
    if postgreSQL == nil, !FileManager.default.fileExists(atPath: storePath),
      FileManager.default.fileExists(atPath: assetsPath)
    {
      throw ConfigurationError(
        "'\(dataDirectory)' has the assets of a store that is in PostgreSQL: name that with "
          + "--store, or the configuration with --config")
    }
    try FileManager.default.createDirectory(
      atPath: dataDirectory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    return try await SQLStore.open(at: storeLocation, configuration: configuration)
  }
}
