import CloudKitModel
import Testing

@testable import Matching

struct SampleTests {
  private func value(_ key: UInt64) -> OrderedValue { OrderedValue(exactly: key) }

  @Test("What is thought at first counts like sixteen changes")
  func typical() {
    var sample = Sample<OrderedValue>()
    #expect(sample.cost(low: 1, high: 9, typical: 400) == 400)
    for _ in 0..<16 { sample.add(value(5)) }
    #expect(sample.cost(low: 1, high: 9, typical: 400) == 700)
    #expect(sample.cost(low: 6, high: 9, typical: 400) == 200)
  }

  @Test("The values of the last 128 changes count, and none of those before")
  func latest() {
    var sample = Sample<OrderedValue>()
    for _ in 0..<1_000 { sample.add(value(5)) }
    let before = sample.cost(low: 5, high: 5, typical: 0)
    #expect(before == 128_000.0 / 144)
    for added in 1...128 {
      sample.add(value(7))
      #expect(sample.cost(low: 5, high: 5, typical: 0) == Double(128 - added) * 1_000 / 144)
      #expect(sample.cost(low: 7, high: 7, typical: 0) == Double(added) * 1_000 / 144)
    }
  }

  @Test("A change without a value is one that comes to no interval, however wide")
  func missing() {
    var sample = Sample<OrderedValue>()
    for number in 0..<32 { sample.add(number % 2 == 0 ? .missing : value(5)) }
    #expect(sample.cost(low: 0, high: .max, typical: 0) == 16_000.0 / 48)
  }

  @Test("A circle costs the places up to twice as far away")
  func places() {
    var sample = Sample<SpherePoint>()
    let center = Location(latitude: 0, longitude: 0)
    // A degree of the equator is 111 km.
    for longitude in [0, 0.5, 1.5, 90] {
      sample.add(SpherePoint(latitude: 0, longitude: longitude))
    }
    sample.add(.nowhere)
    func found(_ kilometres: Double) -> Double {
      (sample.cost(center: center, distance: kilometres * 1_000) * 21 - 20 * 16) / 1_000
    }
    #expect([20, 40, 100, 6_000].map { found($0).rounded() } == [1, 2, 3, 4])
  }
}
