import Foundation

/// A file that a person named, in a setting or in the words of a command.
public enum InputFile {
  /// The error for a file that cannot be read.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path as the person wrote it.
    public let path: String
    /// The system's reason, such as `No such file or directory`.
    public let reason: String

    public var description: String { "cannot read \(path): \(reason)" }
  }

  /// Opens a file for reading.
  ///
  /// - Throws: ``Failure`` if the system refuses, or if the path names a directory.
  public static func open(_ path: String) throws(Failure) -> FileHandle {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
    // A directory can be opened, and only reading it fails.
    guard status.st_mode & S_IFMT != S_IFDIR else { throw failure(path, EISDIR) }
    return file
  }

  /// Returns the contents of a file.
  ///
  /// - Throws: ``Failure`` as ``open(_:)`` does, or if reading fails.
  public static func contents(of path: String) throws(Failure) -> Data {
    let file = try open(path)
    do {
      return try file.readToEnd() ?? Data()
    } catch {
      throw Failure(path: path, reason: error.localizedDescription)
    }
  }

  private static func failure(_ path: String, _ code: Int32) -> Failure {
    Failure(path: path, reason: String(cString: strerror(code)))
  }
}
