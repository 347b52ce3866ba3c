/// Decides which pages of a file are read together with the first one that is needed.
///
/// Reading a page with a few neighbours takes a disk as long as reading the page alone. For
/// sequential reads, Linux itself reads ahead.
///
/// - Complexity: constant time. A bit for each ``pieceBytes`` of the file.
struct ReadingAhead {
  /// The size of a piece that is read together.
  static let pieceBytes = 16 << 10

  /// A bit for each piece that was already requested.
  private var words: [UInt64] = []

  /// - Parameter offset: the file offset of a page that is about to be read.
  /// - Returns: the start of the page's piece; nil if the piece was requested before.
  @inline(__always)
  mutating func piece(from offset: Int) -> Int? {
    let piece = offset / Self.pieceBytes
    if piece / 64 < words.count, words[piece / 64] & (1 << UInt64(piece % 64)) != 0 { return nil }
    note(piece)
    return piece * Self.pieceBytes
  }

  private mutating func note(_ piece: Int) {
    let missing = piece / 64 + 1 - words.count
    if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
    words[piece / 64] |= 1 << UInt64(piece % 64)
  }
}
