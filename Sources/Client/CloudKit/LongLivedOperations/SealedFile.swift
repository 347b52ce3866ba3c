/// A small file that is either there as a whole or not at all, and that tells when it was damaged.
///
/// It begins with a line that names its kind, and a line with the checksum of the rest.
enum SealedFile {
  /// Names what the content is, with the version of its format.
  enum Kind: String {
    case operation = "petrel-operation 1"
    case session = "petrel-session 1"
  }

  /// Writes a file so that it survives a loss of power from the moment this returns: to a draft
  /// beside it, through to the disk, and then under its name.
  static func seal(_ content: Data, as kind: Kind, at path: String) throws(CKError) {
    let draft = path + ".draft"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("made", draft) }
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

  /// Makes names that were made, changed or removed in a directory last.
  static func synchronize(directory: String) throws(CKError) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("opened", directory) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("written", directory) }
  }

  /// The content of a file; nil when there is none.
  ///
  /// - Throws: `internalError` when it cannot be read, is damaged or of another kind.
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
        "\(path) does not begin with '\(kind.rawValue)': it is damaged, or of another version of Petrel"
      )
    }
    guard parts[1].elementsEqual(StableHash.text(of: parts[2]).utf8) else {
      throw CKError(.internalError, "\(path) is damaged: its checksum does not agree")
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
