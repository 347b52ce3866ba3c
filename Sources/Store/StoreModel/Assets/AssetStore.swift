import Foundation

/// The storage of the bytes of assets, apart from the records.
///
/// The bytes under a name never change, and stay until they are removed. The record store's tables
/// (``AssetRegistry``) hold the names in use and the records that use them.
public protocol AssetStore: Sendable {
  /// A folder for arriving bytes, from which ``keep(_:as:)`` takes files without copying them; nil
  /// if there is none. Files that dead processes left there are removed at the start or later.
  var arrivals: String? { get }

  /// Keeps the bytes, durably when the call returns, and replaces earlier bytes under the name. A
  /// file is moved; if that fails, it stays with its owner.
  func keep(_ bytes: AssetBytes, as name: AssetName) async throws
  /// Opens the bytes under this name for reading; nil if there are none.
  func open(_ name: AssetName) async throws -> (any AssetReader)?
  /// Removes the bytes under this name, if there are any.
  func remove(_ name: AssetName) async throws
  /// Removes incomplete files of servers that ended in the middle of an upload. The server calls it
  /// from time to time.
  func removeLeftovers() async throws
}

extension AssetStore {
  /// Does nothing: storage without incomplete files needs no clean-up.
  public func removeLeftovers() async throws {}
}

/// The name of an asset's bytes in an ``AssetStore``.
public struct AssetName: Sendable, Hashable {
  /// The database to which the asset belongs. An asset is never shared between databases.
  public var database: DatabaseID
  /// Letters, digits, `-` and `_`, at least two of them; never reused.
  public var file: String

  /// Names the bytes of an asset.
  public init(database: DatabaseID, file: String) {
    self.database = database
    self.file = file
  }
}

/// The bytes that an ``AssetStore`` is to keep.
public enum AssetBytes: Sendable {
  /// Bytes in memory.
  case data(Data)
  /// The whole file at this path.
  case file(path: String)
}

/// A reader of the bytes of one asset. It can read to the end even if the bytes are removed
/// meanwhile.
public protocol AssetReader: Sendable {
  /// The number of bytes.
  var size: Int64 { get }
  /// Returns at most `count` bytes from `offset` on; fewer only at the end.
  func read(at offset: Int64, count: Int) async throws -> Data
}
