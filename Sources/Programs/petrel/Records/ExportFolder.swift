import CommandInterface
import Foundation
import JSONCoding

/// A folder that an export goes to. It has its name when all of it is there and synced: until then it lies
/// beside it under another name.
struct ExportFolder {
  private let target: String
  private let partial: String

  /// - Throws: ``UsageError`` where the folder is there and has something in it, or cannot be made.
  init(_ target: String) throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: target, isDirectory: &isFolder) {
      let content =
        isFolder.boolValue
        ? try FileManager.default.contentsOfDirectory(atPath: target) : [target]
      guard content.isEmpty else {
        throw UsageError("\(target) is there already, and an export makes a folder of its own")
      }
    }
    let path = target.hasSuffix("/") ? String(target.dropLast()) : target
    self.target = path
    partial = path + ".part-" + UUID().uuidString.prefix(8).lowercased()
    try Self.makeFolder(partial)
  }

  private static func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
    } catch {
      throw UsageError("cannot make the folder \(path): \(error)")
    }
  }

  /// A name for a folder of what is called so, which leads nowhere else.
  static func name(for text: String) -> String {
    [".", ".."].contains(text) ? "_" + text : text.replacing("/", with: "_")
  }

  func path(_ name: String) -> String { partial + "/" + name }

  func write(_ json: JSONValue, to name: String) throws {
    let lines = try lines(name)
    try lines.add(json)
    try lines.close()
  }

  /// A new file of lines of JSON, in a folder that is made where it is missing.
  func lines(_ name: String) throws -> LinesFile {
    let path = path(name)
    try Self.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    return try LinesFile(path)
  }

  /// Gives the folder its name.
  func keep() throws {
    guard rename(partial, target) == 0 else {
      throw AdminFailure("cannot write \(target): \(String(cString: strerror(errno)))")
    }
  }

  /// Takes away what was not kept.
  func discard() {
    // Where it cannot be removed, its name says that it is a part, and the command reports the error that led here.
    try? FileManager.default.removeItem(atPath: partial)
  }
}

/// A new file with a JSON value on each line.
struct LinesFile {
  let file: FileHandle
  private let path: String

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
