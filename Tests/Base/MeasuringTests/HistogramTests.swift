import PropertyTesting
import Testing

@testable import Measuring

struct HistogramTests {
  @Test("a value falls into the first range whose bound it does not exceed, as a search says")
  func property() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let bounds = Set(
        (0..<Int.random(in: 1...8, using: &generator)).map { _ in
          Double(Int.random(in: 0...20, using: &generator))
        }
      ).sorted()
      var histogram = Histogram(bounds: bounds)
      var values: [Double] = []
      for _ in 0..<50 {
        let value = Double(Int.random(in: -2...24, using: &generator))
        let times = Int.random(in: 1...3, using: &generator)
        histogram.record(value, times: times)
        values += Array(repeating: max(0, value), count: times)
      }
      for (place, bound) in bounds.enumerated() {
        #expect(
          histogram.counts[...place].reduce(0, +) == values.count { $0 <= bound },
          "\(bounds) \(values)")
      }
      #expect(histogram.count == values.count)
      #expect(histogram.sum == values.reduce(0, +))
    }
  }

  @Test("what is no number and what never occurred does not count")
  func nothing() {
    var histogram = Histogram(bounds: Histogram.seconds)
    histogram.record(.nan)
    histogram.record(1, times: 0)
    #expect(histogram == Histogram(bounds: Histogram.seconds))
  }

  @Test("what was counted elsewhere is added range by range")
  func adds() {
    var one = Histogram(bounds: [1, 2])
    var other = Histogram(bounds: [1, 2])
    one.record(0.5)
    other.record(1.5)
    other.record(7)
    one.add(other)
    #expect(one.counts == [1, 1, 1])
    #expect(one.sum == 9)
  }
}
