import PropertyTesting
import Testing

@testable import Storage

@Suite("Reading ahead of mapped pages")
struct ReadingAheadTests {
  private static let piece = ReadingAhead.pieceBytes

  @Test("a page is asked for once, by itself where nothing before it was")
  func once() {
    var ahead = ReadingAhead()
    #expect(ahead.stretch(from: 10 * Self.piece + 4_096) == 10 * Self.piece..<11 * Self.piece)
    #expect(ahead.stretch(from: 10 * Self.piece) == nil)
    #expect(ahead.stretch(from: 11 * Self.piece - 4_096) == nil)
    #expect(ahead.stretch(from: 0) == 0..<Self.piece)
    #expect(ahead.stretch(from: 9 * Self.piece) == 9 * Self.piece..<10 * Self.piece)
  }

  @Test("who goes through a file in order has ever more of it read at once, up to a limit")
  func inOrder() {
    var ahead = ReadingAhead()
    var lengths: [Int] = []
    for page in 0..<500_000 {
      if let stretch = ahead.stretch(from: page * 4_096) {
        #expect(stretch.lowerBound == page * 4_096, "nothing is left out or asked for twice")
        lengths.append(stretch.count / Self.piece)
      }
    }
    #expect(lengths.prefix(9) == [1, 1, 2, 4, 8, 16, 32, 64, 128])
    #expect(lengths.dropFirst(9).allSatisfy { $0 == ReadingAhead.greatestStretch })
  }

  @Test("whatever the order, each page was asked for before it is looked at")
  func anyOrder() {
    for seed in 0..<20 {
      var random = SeededGenerator(seed: seed)
      var ahead = ReadingAhead()
      var asked: Set<Int> = []
      for _ in 0..<2_000 {
        let page = Int.random(in: 0..<4_000, using: &random)
        let piece = page * 4_096 / Self.piece
        let stretch = ahead.stretch(from: page * 4_096)
        #expect((stretch == nil) == asked.contains(piece), "seed \(seed), page \(page)")
        guard let stretch else { continue }
        #expect(stretch.lowerBound == piece * Self.piece)
        asked.formUnion(stretch.lowerBound / Self.piece..<stretch.upperBound / Self.piece)
      }
    }
  }
}
