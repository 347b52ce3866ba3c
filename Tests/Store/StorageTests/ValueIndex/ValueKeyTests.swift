import CloudKitModel
import PropertyTesting
import Testing

@testable import Storage

struct ValueKeyTests {
  private func checkOrder(_ values: [RecordValue]) {
    for left in values {
      for right in values {
        guard let leftKey = ValueKey.key(of: left), let rightKey = ValueKey.key(of: right) else {
          Issue.record("\(left) or \(right) has no key")
          continue
        }
        switch left.order(to: right) {
        case .less: #expect(!rightKey.lexicographicallyPrecedes(leftKey), "\(left) \(right)")
        case .equal: #expect(leftKey == rightKey, "\(left) \(right)")
        default: #expect(!leftKey.lexicographicallyPrecedes(rightKey), "\(left) \(right)")
        }
        #expect(leftKey.lexicographicallyPrecedes(ValueKey.greatest))
        #expect(leftKey != ValueKey.longList)
      }
    }
  }

  @Test("keys have the order of their values")
  func order() {
    checkOrder([Int64.min, -2, -1, 0, 1, 255, 256, .max].map { .int64($0) })
    checkOrder(
      [
        -Double.infinity, -1e300, -1.5, -Double.leastNonzeroMagnitude, -0.0, 0,
        .leastNonzeroMagnitude, 1, 1.5, 1e300, .infinity,
      ].map { .double($0) })
    let long = String(repeating: "x", count: ValueKey.textLimit)
    checkOrder(
      ["", "a", "a\u{0}", "ab", "b", "é", "z", "\u{1F426}", long, long + "a"].map { .string($0) })
  }

  @Test("what has no order or cannot be sought has no key")
  func keyless() {
    #expect(ValueKey.keys(of: .double(.nan)).isEmpty)
    #expect(ValueKey.keys(of: .bytes(.init([1]))).isEmpty)
    #expect(ValueKey.keys(of: .asset(Asset(fileChecksum: "c", size: 1))).isEmpty)
    #expect(ValueKey.keys(of: .list(of: .int64, [])).isEmpty)
  }

  @Test("a circle's ranges hold every place in it", arguments: Seeds.some(1))
  func circles(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<600 {
      func place() -> Location {
        Location(
          latitude: Double.random(in: -90...90, using: &random),
          longitude: Double.random(in: -180...180, using: &random))
      }
      let center = place()
      var other = place()
      if Bool.random(using: &random) {
        other.latitude = min(90, max(-90, center.latitude + (other.latitude / 200)))
        other.longitude = center.longitude + other.longitude / 50
        if abs(other.longitude) > 180 {
          other.longitude -= other.longitude > 0 ? 360 : -360
        }
      }
      // Just wide enough.
      let distance = center.distance(to: other)
      let ranges = LocationRanges(center: center, outer: distance).ranges
      let keys = ValueKey.keys(of: .location(other))
      #expect(
        ranges.contains { $0.contains(keys[0]) },
        "seed \(seed), round \(round): \(center) \(other)")
      let ring = LocationRanges(center: center, outer: distance, inner: distance * 0.9).ranges
      #expect(
        ring.contains { $0.contains(keys[0]) },
        "ring of seed \(seed), round \(round): \(center) \(other)")
      #expect(
        zip(ring, ring.dropFirst()).allSatisfy { $0.upper.lexicographicallyPrecedes($1.lower) })
      let place = ValueKey.coordinates(of: IndexKey(keys[0]).head)
      let told = Location(latitude: place.latitude, longitude: place.longitude)
      #expect(told.distance(to: other) <= ValueKey.locationError, "\(other)")
    }
  }

  @Test("ranges are united and intersected as sets of keys", arguments: Seeds.some(4))
  func sets(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    func randomRanges() -> [KeyRange] {
      (0..<Int.random(in: 0...4, using: &random)).map { _ in
        let ends = [UInt8.random(in: 0...20, using: &random), .random(in: 0...20, using: &random)]
        return KeyRange(lower: [ends.min()!], upper: [ends.max()!])
      }
    }
    for _ in 0..<2_000 {
      let left = randomRanges()
      let right = randomRanges()
      let union = KeyRange.union(left)
      let intersection = KeyRange.intersection(union, KeyRange.union(right))
      for key in (UInt8(0)...21).map({ [$0] }) {
        let isLeft = left.contains { $0.contains(key) }
        #expect(union.filter { $0.contains(key) }.count == (isLeft ? 1 : 0))
        #expect(
          intersection.filter { $0.contains(key) }.count
            == (isLeft && right.contains { $0.contains(key) } ? 1 : 0), "\(left) \(right)")
      }
    }
  }
}
