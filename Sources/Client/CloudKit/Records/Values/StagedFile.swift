/// A downloaded file in the temporary folder of the process.
///
/// Programs keep the URL of a file longer than the asset. The file therefore stays for
/// ``lifetime``, and as long as an object refers to it. After that, the next download deletes it. If
/// the program has moved the file, nothing is deleted.
final class StagedFile: Sendable {
  let url: URL
  private let end: ContinuousClock.Instant

  /// The time for which a downloaded file stays at least.
  static let lifetime = Duration.seconds(3_600)

  init(_ url: URL) {
    self.url = url
    end = .now + Self.lifetime
  }

  deinit { Self.released.withLock { $0.append((url, end)) } }

  /// The files to which no object refers any more, each with the end of its lifetime.
  private static let released = Locked<[(url: URL, end: ContinuousClock.Instant)]>([])

  /// Deletes the files to which no object refers any more and whose lifetime is over.
  static func removeReleased(at now: ContinuousClock.Instant) {
    let old = released.withLock { files in
      let old = files.filter { $0.end <= now }
      files.removeAll { $0.end <= now }
      return old
    }
    // The files are in the temporary directory, so a failed removal does no harm.
    for file in old { try? FileManager.default.removeItem(at: file.url) }
  }

  /// Throws `internalError` if the folder of the process could not be made.
  static func newURL() throws(CKError) -> URL {
    removeReleased(at: .now)
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
