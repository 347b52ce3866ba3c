import PropertyTesting
import Testing

@testable import Matching

struct TextMemoryTests {
  private func text(at start: UInt32, _ count: Int, in memory: TextMemory) -> [UInt8] {
    memory.withBytes(at: start, count: UInt32(count)) { Array($0) }
  }

  @Test(
    "texts are where they were put, and stay whole when they are moved", arguments: Seeds.some(10))
  func moving(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var memory = TextMemory()
    var texts: [(start: UInt32, bytes: [UInt8])] = []
    var moves = 0
    for _ in 0..<3_000 {
      if random.chance(2, in: 5), !texts.isEmpty {
        let gone = texts.remove(at: Int.random(in: texts.indices, using: &random))
        memory.remove(count: UInt32(gone.bytes.count))
      } else {
        let count = Int.random(in: 0...60, using: &random)
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        texts.append((bytes.withUnsafeBytes { memory.append($0) }, bytes))
      }
      if memory.isWorthMoving {
        var moved = memory.emptied()
        for index in texts.indices {
          texts[index].start = moved.append(
            memory, texts[index].start, UInt32(texts[index].bytes.count))
        }
        memory = moved
        moves += 1
        #expect(!memory.isWorthMoving, "seed \(seed)")
      }
    }
    #expect(moves > 0, "seed \(seed)")
    for known in texts {
      #expect(text(at: known.start, known.bytes.count, in: memory) == known.bytes, "seed \(seed)")
    }
  }
}
