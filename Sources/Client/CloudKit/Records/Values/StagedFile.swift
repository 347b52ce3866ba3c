/// A downloaded file in the process's own folder; removed when nothing refers to it any more.
///
/// It may be moved away by then.
final class StagedFile: Sendable {
  let url: URL

  init(_ url: URL) {
    self.url = url
  }

  // What stays lies in the temporary directory.
  deinit { try? FileManager.default.removeItem(at: url) }

  /// A place for a new file, where there is none yet.
  static func newURL() throws(CKError) -> URL {
    switch folder {
    case .success(let folder): return folder.appendingPathComponent(UUID().uuidString)
    case .failure(let error): throw error
    }
  }

  private static let prefix = "petrel-assets-"

  /// The folder of this process. It goes when the process ends; those of processes that were killed
  /// go when another one makes its own.
  private static let folder: Result<URL, CKError> = {
    let parent = FileManager.default.temporaryDirectory
    removeLeftFolders(in: parent)
    let folder = parent.appendingPathComponent("\(prefix)\(getpid())-\(UUID().uuidString)")
    do {
      try PrivateFile.makeFolder(folder.path)
    } catch {
      return .failure(
        CKError(.internalError, "the folder \(folder.path) for assets cannot be made: \(error)"))
    }
    atexit {
      if case .success(let folder) = StagedFile.folder {
        // What stays lies in the temporary directory.
        try? FileManager.default.removeItem(at: folder)
      }
    }
    return .success(folder)
  }()

  private static func removeLeftFolders(in parent: URL) {
    // Without the directory there is nothing to remove.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = name.dropFirst(prefix.count).split(separator: "-").first,
        let number = pid_t(process), kill(number, 0) != 0, errno == ESRCH
      else { continue }
      // What stays is tried again at the next start.
      try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
    }
  }
}
