import Cryptography
import Foundation
import Glibc
import SQLEngine
import StoreModel

// Checks that all servers of a store use the same folder for assets, so that an asset stored by one
// server is there for the others. The folder has a file with the identity that the store knows.
extension FileAssetStore {
  /// The file with the folder's identity in hexadecimal digits.
  package static let identityFile = "store-identity"

  /// Returns the folder's identity. If the folder has none, the method makes a new one.
  ///
  /// The identity is 32 random hexadecimal digits. The method writes the identity to a file of
  /// another name, syncs that file, and links it to the final name. So the file is never
  /// incomplete.
  ///
  /// - Returns: the identity, and whether this call made it.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read or has no valid text, and
  ///   ``StoreError/Code/assetFailed`` if it cannot be written.
  func identity() throws -> (text: String, isNew: Bool) {
    let path = directory + "/" + Self.identityFile
    if let known = try Self.identity(in: path) { return (known, false) }
    let proposed = SQLValue.hexadecimal(SecureRandom.bytes(count: 16))
    let arriving = (arrivals ?? directory) + "/" + UUID().uuidString
    try AssetFiles.write(Data((proposed + "\n").utf8), to: arriving)
    defer { unlink(arriving) }
    try AssetFiles.sync(arriving)
    // If two servers start at the same moment, one link wins, and its file is complete.
    guard link(arriving, path) == 0 || errno == EEXIST else {
      throw AssetFiles.failure("be made", path)
    }
    try AssetFiles.sync(directory)
    let text = try Self.identity(in: path) ?? proposed
    return (text, text == proposed)
  }

  /// Removes the identity that ``identity()`` made. A failure is ignored.
  func removeIdentity() { unlink(directory + "/" + Self.identityFile) }

  /// Checks that the folder is the one that the store's other servers use.
  ///
  /// While the store has no assets, a server with another folder may start, but cannot store assets
  /// (``refuse(because:)``).
  ///
  /// The first server stores its folder's identity in the store, as the secret `asset-folder`.
  /// Every later server compares its folder's identity with that.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the store has assets, and its servers use another
  ///   folder. This folder is left unchanged.
  func bind(to transaction: StoreTransaction) throws {
    let (identity, isNew) = try self.identity()
    try transaction.connection.beginWriting()
    let known: String
    let hasAssets: Bool
    do {
      known = String(
        decoding: try SecretTable(transaction: transaction).secret(
          named: "asset-folder", proposing: Array(identity.utf8)),
        as: UTF8.self)
      hasAssets = try AssetTable(transaction: transaction).containsAny()
      try transaction.connection.commit()
    } catch {
      transaction.connection.giveUpTransaction()
      throw error
    }
    guard known != identity else { return }
    if isNew { removeIdentity() }
    let reason =
      "the folder \(directory) is not the folder of this store's assets: all servers of a store "
      + "must use the same folder, for example on a network file system that each has mounted. "
      + (isNew
        ? "If the folder has the files but not their \(FileAssetStore.identityFile), write the "
          + "line \(known) into \(directory)/\(FileAssetStore.identityFile)"
        : "The \(FileAssetStore.identityFile) in it belongs to another store")
    if hasAssets { throw StoreError(.cannotOpen, reason) }
    refuse(because: reason)
  }

  /// The identity in a file; nil if there is no file.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read, is empty, or has more
  ///   than 255 bytes.
  package static func identity(in path: String) throws -> String? {
    guard let data = FileManager.default.contents(atPath: path) else {
      guard access(path, F_OK) != 0 else {
        throw StoreError(.cannotOpen, "\(path) cannot be read")
      }
      return nil
    }
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(
      in: .whitespacesAndNewlines)
    guard !text.isEmpty, text.utf8.count <= 255 else {
      throw StoreError(
        .cannotOpen, "\(path) does not contain an identity; restore the original file")
    }
    return text
  }
}
