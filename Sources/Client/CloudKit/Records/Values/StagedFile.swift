/// A downloaded file in the temporary folder of the process.
///
/// The file is removed when the last reference to this object is released. The program may have
/// moved it away before.
final class StagedFile: Sendable {
  let url: URL

  init(_ url: URL) {
    self.url = url
  }

  // The file is in the temporary directory, so a failed removal does no harm.
  deinit { try? FileManager.default.removeItem(at: url) }

  /// Returns a URL for a new file, where no file exists yet.
  ///
  /// - Throws: `internalError` if the folder of the process could not be made.
  static func newURL() throws(CKError) -> URL {
    switch folder {
    case .success(let folder): return folder.appendingPathComponent(UUID().uuidString)
    case .failure(let error): throw error
    }
  }

  /// The start of the names of these folders. The process ID follows.
  private static let prefix = "petrel-assets-"

  /// The folder of this process; the first use makes it.
  ///
  /// It is removed when the process exits normally. The next process that makes its own folder
  /// removes the folders of processes that were killed.
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

  /// Removes the folders of processes that no longer exist.
  private static func removeLeftFolders(in parent: URL) {
    // If the directory cannot be read, there is nothing to remove.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = name.dropFirst(prefix.count).split(separator: "-").first,
        let number = pid_t(process), kill(number, 0) != 0, errno == ESRCH
      else { continue }
      // The next start tries again to remove a folder that stays.
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
