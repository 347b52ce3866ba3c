import Foundation
import Glibc
import StoreModel

/// Hard links to the files of assets, so that the files stay while they are copied even if their
/// records are deleted.
///
/// A backup lists the files in a transaction, links them here, and copies them afterwards. The
/// links take no space: a file's bytes stay as long as one of its links does.
///
/// The folder is in the asset folder, because hard links cannot cross file systems. Its name ends
/// with the number of the process. The folder is removed when the object is released, or at the
/// next start of a backup if the process was killed.
package final class AssetLinkFolder {
  /// The beginning of the folders' names; the process number follows.
  private static let prefix = "backup-"

  /// The store's asset folder.
  private let assets: String
  /// This process's folder of links. The first link creates the folder.
  private let folder: String

  /// Creates an object for the store in a file, and removes the link folders of processes that no
  /// longer run.
  ///
  /// - Parameter path: the store's file. The asset folder is beside it, with the suffix `-assets`.
  package init(besideAssetsOf path: String) throws {
    assets = path + "-assets"
    folder = assets + "/\(Self.prefix)\(getpid())"
    removeLeftovers()
  }

  // A failure is ignored: the next start removes the folder.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Links a file, creating the folders that the link needs.
  ///
  /// - Parameter name: the file's path in the asset folder.
  /// - Throws: ``StoreError/Code/assetFailed`` if the file does not exist or cannot be linked.
  package func add(_ name: String) throws {
    let target = folder + "/" + name
    if link(assets + "/" + name, target) == 0 { return }
    // The first link in its folder. The folder need not outlive the process.
    try AssetFiles.makeFolder(AssetFiles.folder(of: target), isDurable: false)
    guard link(assets + "/" + name, target) == 0 else {
      throw AssetFiles.failure("be copied", assets + "/" + name)
    }
  }

  /// Copies a file durably to the same path in another folder.
  ///
  /// - Parameters:
  ///   - name: the path of a linked file.
  ///   - checksum: the SHA-256 that the store recorded at the upload, in hexadecimal digits.
  ///   - other: the folder of the copy. Missing folders are created.
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

  /// Removes the folders of processes that no longer run, and an earlier one of this process
  /// number. Signal 0 tests whether a process exists.
  private func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: assets)) ?? []
    for name in names where name.hasPrefix(Self.prefix) {
      let process = Int32(name.dropFirst(Self.prefix.count))
      guard let process, process == getpid() || kill(process, 0) != 0 else { continue }
      // A failure is ignored: the next start tries again.
      try? FileManager.default.removeItem(atPath: assets + "/" + name)
    }
  }
}
