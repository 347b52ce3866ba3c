import Foundation
import Glibc

// Removes arriving files that servers left in a shared folder when they ended. Only a file's age
// shows that no server needs it any more. All ages are by the file system's clock, which all
// servers share.
extension FileAssetStore {
  /// In seconds. No upload takes so long, and each server touches its own folder more often.
  static let leftoverAge = 24.0 * 60 * 60

  /// Removes the arriving files that no server modified for ``leftoverAge``, and touches this
  /// server's folder, which shows the other servers that it is in use. The method does nothing
  /// unless ``use`` is ``Use/shared``.
  public func removeLeftovers() async throws {
    try await removeLeftovers(olderThan: Self.leftoverAge)
  }

  /// In seconds. The present is the modification time of the server's own folder, which the method
  /// touches first.
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

  /// The horizon is in seconds since 1970. The result of `body` is ignored: another server may have
  /// removed the file first.
  private static func remove(
    _ path: String, before horizon: Double, _ body: (String) -> Int32
  ) {
    guard let modified = AssetFiles.modified(path), modified < horizon else { return }
    _ = body(path)
  }
}

extension AssetFiles {
  /// In seconds since 1970.
  static func modified(_ path: String) -> Double? {
    var information = stat()
    guard lstat(path, &information) == 0 else { return nil }
    return Double(information.st_mtim.tv_sec) + Double(information.st_mtim.tv_nsec) / 1e9
  }
}
