import Foundation

/// A reader of lines. It keeps one line, and at most a megabyte of the bytes after that line, in
/// memory.
struct LineReader {
  /// The longest permitted line, in bytes: 16 MiB. A record has about a megabyte, and base64 adds a
  /// third. Because the file is read in pieces, a line may exceed the limit by up to 1 MiB.
  static let limit = 16 << 20

  /// The error for a line longer than ``LineReader/limit``.
  struct TooLong: Error, CustomStringConvertible {
    var description: String { "is longer than \(LineReader.limit >> 20) MB" }
  }

  private let file: FileHandle
  /// The bytes that were read from the file and not returned yet.
  private var buffer = Data()
  private var isAtEnd = false
  private(set) var bytesRead = 0

  init(_ file: FileHandle) { self.file = file }

  /// Returns the next line without its line end; `nil` at the end of the file. The call blocks.
  ///
  /// - Throws: ``TooLong`` for a line that is too long, or the error of the file.
  mutating func next() throws -> Data? {
    var searched = buffer.startIndex
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = buffer[buffer.startIndex..<end]
        buffer = buffer[(end + 1)...]
        return Data(line)
      }
      guard buffer.count <= Self.limit else { throw TooLong() }
      if isAtEnd {
        guard !buffer.isEmpty else { return nil }
        defer { buffer = Data() }
        return Data(buffer)
      }
      // The copy frees the memory of the lines that were returned.
      buffer = Data(buffer)
      searched = buffer.endIndex
      let piece = try file.read(upToCount: 1 << 20) ?? Data()
      isAtEnd = piece.isEmpty
      bytesRead += piece.count
      buffer.append(piece)
    }
  }
}
