import PropertyTesting

/// Makes hostile inputs of others: the same ones for the same seed.
struct Mutator {
  private var random: SeededGenerator
  private let inputs: [[UInt8]]
  private let words: [[UInt8]]
  private let longest: Int

  private static let bytes: [UInt8] = [0, 1, 0x0A, 0x20, 0x22, 0x2C, 0x30, 0x39, 0x7F, 0x80, 0xFF]

  init(of inputs: [[UInt8]], for target: FuzzTarget, seed: Int) {
    random = SeededGenerator(seed: seed)
    self.inputs = inputs.isEmpty ? [[]] : inputs
    words = target.words.map { Array($0.utf8) }
    longest = target.longest
  }

  mutating func next() -> [UInt8] {
    var input = random.pick(inputs)
    for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&input) }
    return Array(input.prefix(longest))
  }

  private mutating func range(in input: [UInt8]) -> Range<Int> {
    let begin = Int.random(in: 0...input.count, using: &random)
    return begin..<min(input.count, begin + Int.random(in: 0...16, using: &random))
  }

  private mutating func mutate(_ input: inout [UInt8]) {
    let range = range(in: input)
    switch Int.random(in: 0..<7, using: &random) {
    case 0 where !input.isEmpty:
      input[min(range.lowerBound, input.count - 1)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where !input.isEmpty:
      input[min(range.lowerBound, input.count - 1)] = random.pick(Self.bytes)
    case 2 where !words.isEmpty:
      input.replaceSubrange(range, with: random.pick(words))
    case 3: input.removeSubrange(range)
    case 4: input.insert(contentsOf: Array(input[range]), at: range.lowerBound)
    case 5:
      // The end of another input.
      let other = random.pick(inputs)
      input = input[..<range.lowerBound] + other.suffix(self.range(in: other).lowerBound)
    default: input.insert(.random(in: .min ... .max, using: &random), at: range.lowerBound)
    }
  }
}
