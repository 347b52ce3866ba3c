import Foundation
import Glibc

// Removes arriving files that servers left in a shared folder when they ended. An arriving file has
// the bytes of an upload that is not complete yet. Only a file's age shows that no server needs it
// any more. All ages are by the file system's clock, which all servers share.
extension FileAssetStore {
  /// The time in seconds after which an arriving file that no server modified is removed. No upload
  /// takes so long, and each server updates the time of its own folder more often.
  static let leftoverAge = 24.0 * 60 * 60

  /// Removes the arriving files that no server modified for ``leftoverAge``, and updates the
  /// modification time of this server's folder. That time shows the other servers that the folder
  /// is in use.
  ///
  /// The method does nothing unless ``use`` is ``Use/shared``.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the modification time of this server's folder
  ///   cannot be updated. The error of `FileManager` if the folder of all arriving files cannot be
  ///   read.
  public func removeLeftovers() async throws {
    try await removeLeftovers(olderThan: Self.leftoverAge)
  }

  /// Removes arriving files and empty folders that were not modified for `age` seconds. This
  /// server's own folder stays.
  ///
  /// The method first updates the modification time of the server's own folder, and uses that time
  /// as the present. So all ages are by the file system's clock, not by the server's clock.
  func removeLeftovers(olderThan age: Double) async throws {
    guard use == .shared, let own = arrivals else { return }
    let all = directory + "/arrivals"
    try await AssetFiles.perform {
      try AssetFiles.makeFolder(own)
      guard utimes(own, nil) == 0, let now = AssetFiles.modified(own) else {
        throw AssetFiles.failure("be touched", own)
      }
      let manager = FileManager.default
      for name in try manager.contentsOfDirectory(atPath: all) {
        let path = all + "/" + name
        // A folder that cannot be read has no files to remove: another server may have removed it.
        for file in (try? manager.contentsOfDirectory(atPath: path)) ?? [] {
          Self.remove(path + "/" + file, before: now - age) { unlink($0) }
        }
        if path == own { continue }
        // `rmdir` removes an empty folder. `unlink` removes a file, which a server left here while
        // it used the store alone.
        Self.remove(path, before: now - age) { rmdir($0) != 0 ? unlink($0) : 0 }
      }
    }
  }

  /// Calls `body` with a path if its file was last modified before `horizon`, in seconds since
  /// 1970. The result of `body` is ignored: another server may have removed the file first.
  private static func remove(
    _ path: String, before horizon: Double, _ body: (String) -> Int32
  ) {
    guard let modified = AssetFiles.modified(path), modified < horizon else { return }
    _ = body(path)
  }
}

extension AssetFiles {
  /// Returns the modification time of a file or folder, in seconds since 1970; nil if there is
  /// none.
  static func modified(_ path: String) -> Double? {
    var information = stat()
    guard lstat(path, &information) == 0 else { return nil }
    return Double(information.st_mtim.tv_sec) + Double(information.st_mtim.tv_nsec) / 1e9
  }
}
