/// Which stretch of a mapped file the system is to read before a page of it is looked at first.
///
/// A page that is mapped and not in memory comes by a fault, and Linux reads as much around it as the
/// disk's read-ahead says (`read_ahead_kb`, up to megabytes), for it takes a file that is mapped for one
/// that is gone through in order. The pages of an index lie in no order: of each megabyte one page is
/// wanted. So a page that nobody looked at is asked for by itself, with few neighbours; and with as many
/// as were looked at right before it, where somebody does go through the file in order.
///
/// - Complexity: constant time for a page that was looked at before. A bit for each
///   ``pieceBytes`` of the file.
struct ReadingAhead {
  /// What is read at least.
  static let pieceBytes = 16 << 10
  /// Pieces that are read at once at most: 2 MiB.
  static let greatestStretch = 128

  /// A bit for each piece that was asked for.
  private var words: [UInt64] = []

  /// - Parameter offset: of a page in the file that is about to be looked at.
  /// - Returns: bytes of the file to be read, from the page's piece on; nil when that was asked for.
  @inline(__always)
  mutating func stretch(from offset: Int) -> Range<Int>? {
    let piece = offset / Self.pieceBytes
    if isAskedFor(piece) { return nil }
    return newStretch(from: piece)
  }

  private mutating func newStretch(from piece: Int) -> Range<Int> {
    var before = 0
    while before < Self.greatestStretch, before < piece, isAskedFor(piece - before - 1) {
      before += 1
    }
    let pieces = piece..<(piece + max(1, before))
    let missing = (pieces.upperBound - 1) / 64 + 1 - words.count
    if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
    for piece in pieces { words[piece / 64] |= 1 << UInt64(piece % 64) }
    return pieces.lowerBound * Self.pieceBytes..<pieces.upperBound * Self.pieceBytes
  }

  @inline(__always)
  private func isAskedFor(_ piece: Int) -> Bool {
    piece / 64 < words.count && words[piece / 64] & (1 << UInt64(piece % 64)) != 0
  }
}
