import CloudKitModel
import PropertyTesting
import Testing

struct ValueOrderTests {
  @Test(
    "Integers and doubles are compared exactly",
    arguments: [
      (9_007_199_254_740_993, 9_007_199_254_740_992, .greater),
      (9_007_199_254_740_992, 9_007_199_254_740_992, .equal),
      (9_007_199_254_740_991, 9_007_199_254_740_992, .less),
      (-9_007_199_254_740_993, -9_007_199_254_740_992, .less),
      (.max, 0x1p63, .less), (.max, 0x1.fffffffffffffp62, .greater),
      (.min, -0x1p63, .equal), (.min, -0x1.0000000000001p63, .greater),
      (.min, -0x1.fffffffffffffp62, .less),
      (0, 0, .equal), (0, -0.0, .equal), (0, .leastNonzeroMagnitude, .less),
      (0, -.leastNonzeroMagnitude, .greater), (5, 5.5, .less), (6, 5.5, .greater),
      (-5, -5.5, .greater), (-6, -5.5, .less), (.max, .infinity, .less),
      (.min, -.infinity, .greater), (0, .nan, nil), (.max, .nan, nil), (.min, .nan, nil),
    ] as [(Int64, Double, ValueOrder?)])
  func exactness(int: Int64, double: Double, order: ValueOrder?) {
    #expect(RecordValue.int64(int).order(to: .double(double)) == order)
    #expect(RecordValue.double(double).order(to: .int64(int)) == order?.reversed)
    #expect(RecordValue.int64(int).isEqual(to: .double(double)) == (order == .equal))
  }

  @Test("Any integer and any double stand as their exact values do", arguments: Seeds.some(40))
  func exactModel(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let wide = Int64.random(in: .min ... .max, using: &generator)
      let int = generator.pick([wide, wide >> 10, wide >> 40, wide >> 60, .max, .min])
      let double = generator.pick([
        Double(int), Double(int).nextUp, Double(int).nextDown, Double(int) + 0.5,
        Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator)),
      ])
      #expect(
        RecordValue.int64(int).order(to: .double(double)) == exactOrder(int, double),
        "\(int) and \(double)")
    }
  }

  /// Through the floor of the double, which 128 bits hold exactly where it matters.
  private func exactOrder(_ int: Int64, _ double: Double) -> ValueOrder? {
    if double.isNaN { return nil }
    if double > 0x1p100 { return .less }
    if double < -0x1p100 { return .greater }
    let floor = Int128(double.rounded(.down))
    if Int128(int) > floor { return .greater }
    if Int128(int) < floor { return .less }
    return double == double.rounded(.down) ? .equal : .less
  }

  @Test("A NaN has no order and equals nothing, itself included")
  func nan() {
    let nan = RecordValue.double(.nan)
    for other in [nan, .double(0), .double(.infinity), .int64(0), .string("nan")] {
      #expect(nan.order(to: other) == nil)
      #expect(other.order(to: nan) == nil)
      #expect(!nan.isEqual(to: other))
    }
    let list = RecordValue.list(of: .double, [nan])
    #expect(!list.isEqual(to: list))
  }

  @Test("Infinities equal themselves and lie beyond all others")
  func infinities() {
    let infinity = RecordValue.double(.infinity)
    #expect(infinity.order(to: infinity) == .equal)
    #expect(infinity.order(to: .double(.greatestFiniteMagnitude)) == .greater)
    #expect(RecordValue.double(-.infinity).order(to: infinity) == .less)
  }

  @Test("Strings are ordered by UTF-8 bytes: case and accents count, forms of an accent too")
  func strings() {
    let ordered = [
      "", "\u{0}", "A", "Z", "a", "aa", "b", "cafe", "cafe\u{301}", "caf\u{E9}", "\u{FFFD}",
      "\u{10000}",
    ].map { RecordValue.string($0) }
    for (left, leftValue) in ordered.enumerated() {
      for (right, rightValue) in ordered.enumerated() {
        let expected: ValueOrder = left < right ? .less : left == right ? .equal : .greater
        #expect(leftValue.order(to: rightValue) == expected, "\(leftValue) \(rightValue)")
      }
    }
  }

  @Test("Dates before 1970 come before it")
  func dates() {
    #expect(RecordValue.moment(-1).order(to: .moment(0)) == .less)
    #expect(RecordValue.moment(.min).order(to: .moment(.max)) == .less)
  }

  @Test("Values of different kinds, and of kinds without order, have none")
  func noOrder() {
    let values: [RecordValue] = [
      .string("1"), .int64(1), .moment(1), .place(0, 0), .target("x"), .strings("1"),
    ]
    for (index, value) in values.enumerated() {
      for other in values[(index + 1)...] {
        #expect(value.order(to: other) == nil)
        #expect(other.order(to: value) == nil)
      }
    }
    #expect(RecordValue.place(0, 0).order(to: .place(0, 0)) == nil)
    #expect(RecordValue.target("x").order(to: .target("x")) == nil)
    #expect(RecordValue.integers(1).order(to: .integers(2)) == nil)
  }

  @Test("The order is total on each kind: opposite, transitive, at one with equality")
  func totalOrder() {
    let integers: [Int64] = [.min, .min + 1, -5, 0, 5, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, .max]
    let numbers =
      integers.map { RecordValue.int64($0) } + integers.map { .double(Double($0)) }
      + SeededGenerator.doubles.filter { !$0.isNaN }.map { .double($0) }
    for a in numbers {
      #expect(a.order(to: a) == .equal)
      for b in numbers {
        let order = a.order(to: b)
        #expect(order != nil && b.order(to: a) == order?.reversed)
        #expect(a.isEqual(to: b) == (order == .equal))
        for c in numbers where order != .greater && b.order(to: c) != .greater {
          let expected: ValueOrder =
            order == .equal && b.order(to: c) == .equal ? .equal : .less
          #expect(a.order(to: c) == expected, "\(a) \(b) \(c)")
        }
      }
    }
  }

  @Test("Equality is symmetric over values of all kinds, and reflexive but for NaN")
  func equality() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<5_000 {
      let (left, right) = (generator.value(), generator.value())
      #expect(left.isEqual(to: right) == right.isEqual(to: left), "\(left) \(right)")
      if !"\(left)".contains("nan") { #expect(left.isEqual(to: left), "\(left)") }
    }
  }
}
