/// A downloaded file in the temporary folder of the process.
///
/// The file is deleted when the last reference to this object is released. If the program has moved
/// the file, nothing is deleted.
final class StagedFile: Sendable {
  let url: URL

  init(_ url: URL) {
    self.url = url
  }

  // The file is in the temporary directory, so a failed removal does no harm.
  deinit { try? FileManager.default.removeItem(at: url) }

  /// Returns a new URL in the folder of this process. No file exists there yet.
  ///
  /// - Throws: `internalError` if the folder of the process could not be made.
  static func newURL() throws(CKError) -> URL {
    switch folder {
    case .success(let folder): return folder.appendingPathComponent(UUID().uuidString)
    case .failure(let error): throw error
    }
  }

  /// The start of the name of each process's folder. The process ID and a UUID follow.
  private static let prefix = "petrel-assets-"

  /// The folder of this process; the first use makes it.
  ///
  /// The folder is deleted when the process exits normally. If a process was killed, another
  /// process deletes that folder when it makes its own.
  private static let folder: Result<URL, CKError> = {
    let parent = FileManager.default.temporaryDirectory
    removeLeftFolders(in: parent)
    let folder = parent.appendingPathComponent("\(prefix)\(getpid())-\(UUID().uuidString)")
    do {
      try PrivateFile.makeFolder(folder.path)
    } catch {
      return .failure(
        CKError(.internalError, "the folder \(folder.path) for assets cannot be created: \(error)"))
    }
    atexit {
      if case .success(let folder) = StagedFile.folder {
        // The folder is in the temporary directory, so a failed removal does no harm.
        try? FileManager.default.removeItem(at: folder)
      }
    }
    return .success(folder)
  }()

  /// Deletes the folders of processes that no longer exist.
  private static func removeLeftFolders(in parent: URL) {
    // If the directory cannot be read, the names are unknown, and nothing is deleted.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = name.dropFirst(prefix.count).split(separator: "-").first,
        let number = pid_t(process), kill(number, 0) != 0, errno == ESRCH
      else { continue }
      // If a folder cannot be deleted now, the next process tries again.
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
