import Foundation
import Glibc
import StoreModel

/// A folder of hard links to the files of assets, which keeps the files' bytes during a backup.
///
/// A backup lists the files in a transaction, links each file here, and copies the files
/// afterwards. If the server removes a file meanwhile, the bytes stay until the link is removed
/// too.
///
/// The folder is in the asset folder, because hard links cannot cross file systems. Its name ends
/// with the number of the process. The folder is removed when the object is released. If the
/// process was killed, the next backup removes the folder.
package final class AssetLinkFolder {
  private static let prefix = "backup-"

  private let assets: String
  /// The first link creates the folder.
  private let folder: String

  /// - Parameter path: the store's file. The asset folder is beside it, with the suffix `-assets`.
  package init(besideAssetsOf path: String) throws {
    assets = path + "-assets"
    folder = assets + "/\(Self.prefix)\(getpid())"
    removeLeftovers()
  }

  // A failure is ignored: the next backup removes the folder.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// - Parameter name: the file's path in the asset folder.
  package func add(_ name: String) throws {
    let target = folder + "/" + name
    if link(assets + "/" + name, target) == 0 { return }
    // This is the first link in its folder. The folder need not be durable, because the link is
    // useless after the process has ended.
    try AssetFiles.makeFolder(AssetFiles.folder(of: target), isDurable: false)
    guard link(assets + "/" + name, target) == 0 else {
      throw AssetFiles.failure("be copied", assets + "/" + name)
    }
  }

  /// Copies a linked file durably to the same path in another folder.
  ///
  /// - Parameter checksum: the SHA-256 that the store recorded at the upload, in hexadecimal
  ///   digits.
  /// - Throws: ``StoreError/Code/assetFailed``, also if the copy's SHA-256 is not `checksum`.
  package func copy(_ name: String, checksum: String, to other: String) throws {
    let target = other + "/" + name
    try AssetFiles.makeFolder(AssetFiles.folder(of: target))
    try AssetFiles.copy(folder + "/" + name, to: target)
    guard try AssetFiles.checksum(of: target) == checksum else {
      throw StoreError(
        .assetFailed,
        "the asset file \(assets)/\(name) is damaged: its SHA-256 is not the \(checksum) that it had when "
          + "it was uploaded; restore the file from a backup")
    }
    try AssetFiles.sync(target)
    try AssetFiles.sync(AssetFiles.folder(of: target))
  }

  /// Removes the link folders of processes that no longer run, and one that an earlier process with
  /// this process's number left. `kill` with signal 0 tests whether a process exists.
  private func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: assets)) ?? []
    for name in names where name.hasPrefix(Self.prefix) {
      let process = Int32(name.dropFirst(Self.prefix.count))
      guard let process, process == getpid() || kill(process, 0) != 0 else { continue }
      // A failure is ignored: the next backup tries again.
      try? FileManager.default.removeItem(atPath: assets + "/" + name)
    }
  }
}
