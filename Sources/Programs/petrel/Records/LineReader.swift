import Foundation

/// Reads a file line by line, with one piece of it in memory.
struct LineReader {
  /// Bytes of a line at most: a record of a megabyte has a third more in base64.
  static let limit = 16 << 20

  /// A line that is too long.
  struct TooLong: Error, CustomStringConvertible {
    var description: String { "is longer than \(LineReader.limit >> 20) MB" }
  }

  private let file: FileHandle
  private var buffer = Data()
  private var isAtEnd = false
  /// Bytes that were read.
  private(set) var bytesRead = 0

  init(_ file: FileHandle) { self.file = file }

  /// The next line without its end; nil at the end of the file. Blocks.
  ///
  /// - Throws: ``TooLong``, and what reading throws.
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
      // What is left of the piece before goes in front.
      buffer = Data(buffer)
      searched = buffer.endIndex
      let piece = try file.read(upToCount: 1 << 20) ?? Data()
      isAtEnd = piece.isEmpty
      bytesRead += piece.count
      buffer.append(piece)
    }
  }
}
