import CloudKitModel
import PropertyTesting
import Testing

@testable import Matching

struct OrderedKeyTests {
  @Test("doubles have the order of their keys")
  func doubles() throws {
    let doubles: [Double] = [
      -.infinity, -1e300, -2, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, 1.5, 2,
      0x1p63, .infinity,
    ]
    let keys = try doubles.map { try #require(OrderedKey.of($0)) }
    #expect(keys == keys.sorted() && Set(keys).count == keys.count)
    #expect(OrderedKey.of(-0.0) == OrderedKey.of(0.0))
    #expect(OrderedKey.of(Double.nan) == nil)
  }

  @Test("an integer stands between the doubles that it is between", arguments: Seeds.some(10))
  func integers(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let shift = UInt64.random(in: 0..<64, using: &generator)
      let integer = Int64(bitPattern: UInt64.random(in: .min ... .max, using: &generator) >> shift)
      let near = Double(integer)
      for double in [near, near.nextUp, near.nextDown] {
        let key = try #require(OrderedKey.of(double))
        let value = OrderedValue(integer)
        let order = RecordValue.int64(integer).order(to: .double(double))
        #expect((value.ceiling <= key) == (order != .greater), "\(integer) and \(double)")
        #expect((key <= value.floor) == (order != .less), "\(integer) and \(double)")
      }
    }
  }

  @Test("a text's key is never above that of a text after it")
  func texts() {
    let texts = ["", "a", "a\u{0}", "ab", "abcdefgh", "abcdefghi", "b", "\u{E9}", "日本"]
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let keys = texts.map { OrderedKey.of($0) }
    #expect(keys == keys.sorted())
  }

  @Test(
    "the dyadicIntervals of an interval hold each of its keys, and are three at most",
    arguments: Seeds.some(10))
  func dyadicIntervals(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let width = UInt64.max >> UInt64.random(in: 0..<64, using: &generator)
      let low = UInt64.random(in: 0...(UInt64.max - width), using: &generator)
      let high = low + UInt64.random(in: 0...width, using: &generator)
      let (level, dyadicIntervals) = DyadicIntervals.cover(low, high)
      #expect(dyadicIntervals.count <= 3)
      for key in [low, high, UInt64.random(in: low...high, using: &generator)] {
        #expect(dyadicIntervals.contains(DyadicIntervals.dyadicInterval(of: key, level: level)))
      }
    }
  }

  @Test("all dyadicIntervals that were filed under are within reach, and none before the first is")
  func reach() {
    var reach = Reach.nothing
    for dyadicInterval in [0, 1, UInt64.max] { #expect(!reach.contains(dyadicInterval)) }
    reach.include(5...7)
    #expect((0...9).filter { reach.contains($0) } == [5, 6, 7])
    reach.include(2...2)
    reach.include(6...6)
    #expect((0...9).filter { reach.contains($0) } == [2, 3, 4, 5, 6, 7])
  }
}
