import Foundation

/// Gives the pages of a store's file their seals, where it was made by a program that knew of none.
///
/// All contents are written into a new file beside the old one, which then takes its place by one step
/// of the file system. Whenever the process is killed, one of the two is there and whole.
enum StoreProtection {
  /// Room that is to be left for others, in bytes.
  private static let sparedBytes = 64 << 20

  /// Converts a store that has no server. One that is protected, empty or not there is left as it is.
  ///
  /// - Parameter patience: how long to wait for others that have the store open, in milliseconds.
  /// - Throws: ``StoreError/Code/cannotOpen`` when there is no room for a copy,
  ///   ``StoreError/Code/overloaded`` when another process has the store open,
  ///   ``StoreError/Code/corrupt`` when it is damaged. The store is as it was then.
  static func protect(storeAt path: String, patience: Int) throws {
    let partial = path + ".protecting"
    unlink(partial)
    guard let size = size(path), size > 0, !DatabaseFile.isSealed(fileAt: path) else { return }
    let needed = size + (self.size(path + "-wal") ?? 0) + sparedBytes
    var system = statvfs()
    if statvfs(path, &system) == 0 {
      let free = Int(clamping: UInt64(system.f_bavail) &* UInt64(system.f_frsize))
      guard free >= needed else {
        throw StoreError(
          .cannotOpen,
          "the store at '\(path)' is to get checksums on its pages, for which it is copied once: that "
            + "takes \(needed >> 20) MiB of room beside it, and \(free >> 20) are free. Make room, and "
            + "start again")
      }
    }
    var tuning = StoreConfiguration.Tuning()
    tuning.cacheKilobytes = 64 << 10
    tuning.busyTimeoutMilliseconds = patience
    let old = try SQLiteConnection(path: path, tuning: tuning)
    defer { old.close() }
    guard StoreBackup.form(of: old) != nil else { return }
    do {
      try old.takeAlone()
      let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 { close(descriptor) }
      try old.write(into: partial)
      try check(partial, tuning)
      try AssetFiles.sync(partial)
      guard rename(partial, path) == 0 else { throw AssetFiles.failure("be moved", partial) }
      try AssetFiles.sync((path as NSString).deletingLastPathComponent)
    } catch {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) }
      guard let error = error as? StoreError, error.code != .corrupt, error.code != .overloaded
      else { throw error }
      throw StoreError(
        .cannotOpen,
        "the store at '\(path)' was to get checksums on its pages, and is as it was: \(error.reason). Look "
          + "at the disk (dmesg, df), and start again", statement: error.statement)
    }
  }

  private static func check(_ path: String, _ tuning: StoreConfiguration.Tuning) throws {
    let copy = try SQLiteConnection(path: path, tuning: tuning)
    defer { copy.close() }
    let verdict = try copy.first("PRAGMA quick_check(1)", []) { $0.text(0) } ?? "nothing"
    guard verdict == "ok", copy.isSealed else {
      throw StoreError(.corrupt, "the store is damaged, and gets no checksums: \(verdict)")
    }
  }

  private static func size(_ path: String) -> Int? {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : nil
  }
}
