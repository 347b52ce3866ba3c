import Foundation

/// The storage of the bytes of assets, outside of the store's tables.
///
/// The bytes of a file stay the same until ``remove(_:)`` deletes the file. The store's tables
/// (`AssetService`) have the names of the files, and the records that hold each file.
public protocol AssetStore: Sendable {
  /// A folder for uploads that are under way, from which ``keep(_:as:)`` moves files without
  /// copying; nil if there is none. Files of processes that have ended are removed when the
  /// storage is opened, or by ``removeLeftovers()``.
  var arrivals: String? { get }

  /// Stores the bytes durably, and replaces earlier bytes under the name. A file of
  /// ``AssetBytes/file(path:)`` is moved, so the caller must not use the path afterwards.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the bytes cannot be stored.
  func keep(_ bytes: AssetBytes, as name: AssetName) async throws
  /// Opens the bytes under this name; nil if there are none.
  func open(_ name: AssetName) async throws -> (any AssetReader)?
  /// Removes the bytes under this name, if there are any.
  func remove(_ name: AssetName) async throws
  /// Removes the incomplete files of servers that have ended during an upload.
  /// `MaintenanceService.trim(at:)` calls the method.
  func removeLeftovers() async throws
}

extension AssetStore {
  /// Does nothing, for a storage that never has incomplete files.
  public func removeLeftovers() async throws {}
}

/// The name of an asset's bytes.
public struct AssetName: Sendable, Hashable {
  /// The database to which the asset belongs. An asset is never shared between databases.
  public var database: DatabaseID
  /// The file's name: at least two characters, each a letter, a digit, `-` or `_`. A name is never
  /// reused.
  public var file: String

  /// Names the bytes of an asset.
  public init(database: DatabaseID, file: String) {
    self.database = database
    self.file = file
  }
}

/// The bytes that an ``AssetStore`` is to store.
public enum AssetBytes: Sendable {
  case data(Data)
  /// The whole file at this path, which is moved and not copied.
  case file(path: String)
}

/// A reader of one asset's bytes, all of which stay readable if the asset is removed meanwhile.
public protocol AssetReader: Sendable {
  var size: Int64 { get }
  /// Returns `count` bytes from `offset` on; fewer only if the asset ends earlier.
  func read(at offset: Int64, count: Int) async throws -> Data
}
