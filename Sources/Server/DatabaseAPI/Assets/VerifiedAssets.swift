import Cryptography
import StoreModel
import Synchronization

/// Assets whose bytes were found to match their checksums since the start, so that each part of a large
/// one that is asked for does not cost reading all of it.
final class VerifiedAssets: Sendable {
  /// Names that are remembered at most; then all are forgotten.
  private static let limit = 10_000
  /// Bytes that are read at a time.
  private static let pieceSize = 128 << 10

  private let names = Mutex<Set<AssetName>>([])

  /// Reads an asset through, unless that was done before.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` when it is not what was uploaded.
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

  static func damage(of name: AssetName, _ checksum: String) -> StoreError {
    StoreError(
      .assetFailed,
      "the file \(name.file) of the asset \(checksum) (database \(name.database.rawValue)) is damaged: "
        + "its SHA-256 is another; put back the file from a backup")
  }
}
