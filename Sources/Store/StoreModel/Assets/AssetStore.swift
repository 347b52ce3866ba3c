import Foundation

/// Where the bytes of assets lie, apart from the records.
///
/// What is kept under a name never changes, and is there until it is removed. Which names are in
/// use, and by which records, is in the record store's tables (``AssetRegistry``).
public protocol AssetStore: Sendable {
  /// A folder for bytes that are arriving, from which ``keep(_:as:)`` takes files without copying
  /// them. What processes that died left in it is removed, at the start or later. Nil when there is
  /// none.
  var arrivals: String? { get }

  /// Keeps the bytes; they are durable when the call returns. A file is moved away, or left to its
  /// owner when that fails. Bytes that the name had before are replaced.
  func keep(_ bytes: AssetBytes, as name: AssetName) async throws
  /// The bytes that are kept under this name; nil when there are none.
  func open(_ name: AssetName) async throws -> (any AssetReader)?
  /// Removes what is kept under this name, if anything.
  func remove(_ name: AssetName) async throws
  /// Removes what servers that died left of arriving bytes. To be called now and then.
  func removeLeftovers() async throws
}

extension AssetStore {
  public func removeLeftovers() async throws {}
}

/// The name of an asset's bytes in an ``AssetStore``.
public struct AssetName: Sendable, Hashable {
  public var database: DatabaseID
  /// Letters, digits, `-` and `_`, at least two of them; never used again.
  public var file: String

  public init(database: DatabaseID, file: String) {
    self.database = database
    self.file = file
  }
}

/// Bytes that are to be kept.
public enum AssetBytes: Sendable {
  case data(Data)
  /// All of this file.
  case file(path: String)
}

/// Reads the bytes of one asset. They can be read to the end even if they are removed meanwhile.
public protocol AssetReader: Sendable {
  var size: Int64 { get }
  /// The bytes from `offset` on, at most `count`; fewer only at the end.
  func read(at offset: Int64, count: Int) async throws -> Data
}
