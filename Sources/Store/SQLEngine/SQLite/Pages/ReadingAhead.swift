/// Which pages of a file are to be read with the first one that is looked at.
///
/// To get a page and its few neighbours from a disk takes as long as to get the page. Where somebody
/// goes through the file in order, Linux itself reads ever more of it ahead.
///
/// - Complexity: constant time. A bit for each ``pieceBytes`` of the file.
struct ReadingAhead {
  /// What is read together.
  static let pieceBytes = 16 << 10

  /// A bit for each piece that was asked for.
  private var words: [UInt64] = []

  /// - Parameter offset: of a page in the file that is about to be looked at.
  /// - Returns: where the piece begins that the page is in; nil when it was asked for before.
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
