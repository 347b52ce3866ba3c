/// The format of a small file with a checksum. A write replaces the whole file or changes nothing, and a read detects
/// damage.
///
/// The first line names the kind of the file. The second line is the checksum of the content (``StableHash``). The
/// content follows.
enum SealedFile {
  /// The kind of the content, with the version of its format.
  enum Kind: String {
    /// The archive, an answer or the end of a long-lived operation.
    case operation = "petrel-operation 1"
    /// The web auth tokens of a ``StoredSession``.
    case session = "petrel-session 1"
  }

  /// Writes a file. After this method has returned, the file survives a loss of power.
  ///
  /// The method writes a draft beside the file and calls `fsync` for the draft. Then it renames the draft to the file's
  /// name, and calls `fsync` for the directory.
  ///
  /// - Throws: `internalError` when a step fails. The file then has its old content or the new content.
  static func seal(_ content: Data, as kind: Kind, at path: String) throws(CKError) {
    let draft = path + ".draft"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("created", draft) }
    var file = Data("\(kind.rawValue)\n\(StableHash.text(of: content))\n".utf8)
    file.append(content)
    let isWritten = writeAll(file, to: descriptor) && fsync(descriptor) == 0
    let reason = errno
    close(descriptor)
    guard isWritten else {
      unlink(draft)
      errno = reason
      throw failure("written", draft)
    }
    guard rename(draft, path) == 0 else { throw failure("written", path) }
    try synchronize(directory: (path as NSString).deletingLastPathComponent)
  }

  /// Calls `fsync` on a directory, so that new, changed and removed names in it survive a loss of power.
  ///
  /// - Throws: `internalError` when the directory cannot be opened or synchronised.
  static func synchronize(directory: String) throws(CKError) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("opened", directory) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("written", directory) }
  }

  /// Returns the content of a file; `nil` when the file does not exist.
  ///
  /// - Throws: `internalError` when the file cannot be read, is damaged or is of another kind.
  static func read(_ path: String, as kind: Kind) throws(CKError) -> Data? {
    guard access(path, F_OK) == 0 else { return nil }
    guard let file = FileManager.default.contents(atPath: path) else {
      throw failure("read", path)
    }
    let parts = file.split(
      separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].elementsEqual(kind.rawValue.utf8) else {
      throw CKError(
        .internalError,
        "\(path) does not begin with '\(kind.rawValue)': it is damaged, or another version of Petrel "
          + "wrote it")
    }
    guard parts[1].elementsEqual(StableHash.text(of: parts[2]).utf8) else {
      throw CKError(.internalError, "\(path) is damaged: its content does not match its checksum")
    }
    return Data(parts[2])
  }

  private static func writeAll(_ file: Data, to descriptor: Int32) -> Bool {
    var rest = file[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func failure(_ what: String, _ path: String) -> CKError {
    CKError(.internalError, "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
  }
}
