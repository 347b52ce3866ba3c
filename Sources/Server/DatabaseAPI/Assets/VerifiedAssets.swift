import Cryptography
import StoreModel
import Synchronization

/// The assets whose bytes were checked against their SHA-256 hashes since the server started.
///
/// Without this cache, each request for a part of a large asset would read the whole file.
final class VerifiedAssets: Sendable {
  /// The most names in the cache. At the limit the cache is emptied.
  private static let limit = 10_000
  private static let pieceSize = 128 << 10
  private let names = Mutex<Set<AssetName>>([])

  /// Reads an asset and checks its bytes, unless the cache has its name. Throws `assetFailed`.
  func verify(_ name: AssetName, checksum: String, _ reader: any AssetReader) async throws {
    guard !names.withLock({ $0.contains(name) }) else { return }
    let hasher = SHA256Hasher()
    var offset: Int64 = 0
    while offset < reader.size {
      let piece = try await reader.read(at: offset, count: Self.pieceSize)
      guard !piece.isEmpty else { break }
      hasher.update(piece)
      offset += Int64(piece.count)
    }
    guard hasher.finish().hexadecimal == checksum else { throw Self.damage(of: name, checksum) }
    names.withLock { names in
      if names.count >= Self.limit { names.removeAll() }
      names.insert(name)
    }
  }

  /// Returns the error for a damaged file, with the names that an operator needs to restore the
  /// file.
  static func damage(of name: AssetName, _ checksum: String) -> StoreError {
    StoreError(
      .assetFailed,
      "the file \(name.file) of the asset \(checksum) (database \(name.database.rawValue)) is damaged: "
        + "its SHA-256 differs; restore the file from a backup")
  }
}
