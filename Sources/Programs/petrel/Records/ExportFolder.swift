import CommandInterface
import Foundation
import JSONCoding

/// The folder of an export. It has a temporary name beside its final one until ``keep()`` is
/// called.
struct ExportFolder {
  private let target: String
  private let partial: String

  /// Throws a `UsageError` if the final folder exists and is not empty, or the temporary one cannot
  /// be created.
  init(_ target: String) throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: target, isDirectory: &isFolder) {
      let content =
        isFolder.boolValue
        ? try FileManager.default.contentsOfDirectory(atPath: target) : [target]
      guard content.isEmpty else {
        throw UsageError("\(target) exists and is not an empty folder; name a new folder")
      }
    }
    let path = target.hasSuffix("/") ? String(target.dropLast()) : target
    self.target = path
    partial = path + ".part-" + UUID().uuidString.prefix(8).lowercased()
    try Self.makeFolder(partial)
  }

  /// Throws a `UsageError` with the reason.
  private static func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
    } catch {
      throw UsageError("cannot create the folder \(path): \(error)")
    }
  }

  /// Returns the text as the name of a folder or file. A path with this name cannot leave its
  /// parent folder: `/` becomes `_`, and `.` and `..` get a `_` in front.
  static func name(for text: String) -> String {
    [".", ".."].contains(text) ? "_" + text : text.replacing("/", with: "_")
  }

  func path(_ name: String) -> String { partial + "/" + name }

  /// Writes a JSON value into a new file and synchronizes that file to the disk.
  func write(_ json: JSONValue, to name: String) throws {
    let lines = try lines(name)
    try lines.add(json)
    try lines.close()
  }

  func lines(_ name: String) throws -> LinesFile {
    let path = path(name)
    try Self.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    return try LinesFile(path)
  }

  /// Renames the folder to its final name.
  func keep() throws {
    guard rename(partial, target) == 0 else {
      throw AdminFailure("cannot write \(target): \(String(cString: strerror(errno)))")
    }
  }

  /// Deletes the temporary folder, if ``keep()`` was not called.
  func discard() {
    // If the folder cannot be deleted, its name shows that it is incomplete. The command then
    // reports the error that led here.
    try? FileManager.default.removeItem(atPath: partial)
  }
}

/// A new file with one JSON value on each line.
struct LinesFile {
  let file: FileHandle
  private let path: String

  /// Creates the file with mode 600.
  fileprivate init(_ path: String) throws {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw AdminFailure("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func add(_ json: JSONValue) throws {
    var writer = JSONWriter()
    writer.value(json)
    try file.write(contentsOf: writer.data + [UInt8(ascii: "\n")])
  }

  func close() throws {
    try file.synchronize()
    try file.close()
  }
}
