import JSONCoding
import PropertyTesting
import Testing

struct RoundTripTests {
  @Test("parse(write(x)) is x, and its text is the same bytes", arguments: Seeds.some(60))
  func roundTrip(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let value = tree(depth: 4, &generator)
      let text = value.text
      let parsed = try JSONValue(parsing: text)
      #expect(parsed == value, "\(text)")
      #expect(parsed.text.utf8.elementsEqual(text.utf8), "\(text)")
    }
  }

  @Test("Every double survives", arguments: Seeds.some(20))
  func doubles(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    let doubles = (0..<200).map { _ in double(&generator) }
    let parsed = try JSONValue(parsing: JSONValue.array(doubles.map { .double($0) }).text)
    for (double, value) in zip(doubles, try #require(parsed.array)) {
      #expect(value.double?.bitPattern == double.bitPattern, "\(double)")
    }
  }

  private func tree(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
    let width = Int.random(in: 0...4, using: &generator)
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .int(integer(&generator))
    case 3: return .double(double(&generator))
    case 4, 5: return .string(text(&generator))
    case 6: return .array((0..<width).map { _ in tree(depth: depth - 1, &generator) })
    default:
      var members: [String: JSONValue] = [:]
      for _ in 0..<width { members[text(&generator)] = tree(depth: depth - 1, &generator) }
      return .object(members)
    }
  }

  private func integer(_ generator: inout SeededGenerator) -> Int64 {
    let wide = Int64.random(in: .min ... .max, using: &generator)
    return generator.pick([0, 1, -1, .min, .max, wide, wide >> Int64(wide & 63)])
  }

  /// Of random bits, or with few digits as people write them; always finite.
  private func double(_ generator: inout SeededGenerator) -> Double {
    let bits = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator))
    let short = Double(Int.random(in: -10_000...10_000, using: &generator)) / 100
    let chosen = generator.pick([
      bits, bits, short, short, 0, -0.0, Double.random(in: 0..<1, using: &generator),
    ])
    return chosen.isFinite ? chosen : 1
  }

  private func text(_ generator: inout SeededGenerator) -> String {
    let length = Int.random(in: 0...6, using: &generator)
    let ranges: [ClosedRange<UInt32>] = [
      0...0x1F, 0x20...0x7E, 0x20...0x7E, 0x80...0x7FF, 0x300...0x30F, 0x800...0xD7FF,
      0xE000...0xFFFF, 0x10000...0x10FFFF,
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<length {
      let scalar = UInt32.random(in: generator.pick(ranges), using: &generator)
      // The ranges leave out the surrogates.
      text.append(Unicode.Scalar(scalar)!)
    }
    return String(text)
  }
}
