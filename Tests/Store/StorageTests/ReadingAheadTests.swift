import PropertyTesting
import Testing

@testable import SQLEngine
@testable import Storage

struct ReadingAheadTests {
  @Test("a piece of the file is asked for with the first of its pages, and once")
  func anyOrder() {
    for seed in Seeds.some(20) {
      var random = SeededGenerator(seed: seed)
      var ahead = ReadingAhead()
      var asked: Set<Int> = []
      for _ in 0..<2_000 {
        let page = Int.random(in: 0..<4_000, using: &random)
        let piece = page * 4_096 / ReadingAhead.pieceBytes
        let expected = asked.insert(piece).inserted ? piece * ReadingAhead.pieceBytes : nil
        #expect(ahead.piece(from: page * 4_096) == expected, "seed \(seed), page \(page)")
      }
    }
  }
}
