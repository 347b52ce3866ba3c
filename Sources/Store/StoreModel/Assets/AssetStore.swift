import Foundation

/// The storage of the bytes of assets, outside of the store's tables.
///
/// The bytes of a file stay the same until ``remove(_:)`` deletes the file. The store's tables
/// (`AssetService`) have the names of the files, and the records that hold each file.
public protocol AssetStore: Sendable {
  /// A folder for uploads that are under way. ``keep(_:as:)`` moves a file from this folder without
  /// copying the file. Nil if the storage has no such folder. Files of processes that have ended
  /// are removed from the folder when the storage is opened, or by ``removeLeftovers()``.
  var arrivals: String? { get }

  /// Stores the bytes durably, and replaces earlier bytes under the name.
  /// ``AssetBytes/file(path:)`` is moved to its place, so the caller must not use the path
  /// afterwards.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the bytes cannot be stored.
  func keep(_ bytes: AssetBytes, as name: AssetName) async throws
  /// Opens the bytes under this name for reading, and returns the reader; nil if there are none.
  func open(_ name: AssetName) async throws -> (any AssetReader)?
  /// Removes the bytes under this name, if there are any.
  func remove(_ name: AssetName) async throws
  /// Removes the incomplete files of servers that have ended during an upload.
  /// `MaintenanceService.trim(at:)` calls the method.
  func removeLeftovers() async throws
}

extension AssetStore {
  /// Does nothing. This default serves a storage that never has incomplete files.
  public func removeLeftovers() async throws {}
}

/// The name of an asset's bytes in an ``AssetStore``.
public struct AssetName: Sendable, Hashable {
  /// The database to which the asset belongs. An asset is never shared between databases.
  public var database: DatabaseID
  /// The name of the file: at least two characters, each a letter, a digit, `-` or `_`. A name is
  /// never reused.
  public var file: String

  /// Names the bytes of an asset.
  public init(database: DatabaseID, file: String) {
    self.database = database
    self.file = file
  }
}

/// The bytes that an ``AssetStore`` is to store.
public enum AssetBytes: Sendable {
  /// Bytes in memory.
  case data(Data)
  /// The whole file at this path, which is moved and not copied.
  case file(path: String)
}

/// A reader of the bytes of one asset. The reader can read all bytes, even if the asset is removed
/// meanwhile.
public protocol AssetReader: Sendable {
  /// The number of bytes.
  var size: Int64 { get }
  /// Returns `count` bytes from `offset` on; fewer only if the asset ends earlier.
  func read(at offset: Int64, count: Int) async throws -> Data
}
