import Foundation

/// How long things took, in ranges that are two hundredths wide, from a microsecond to hours.
public struct DelayHistogram: Sendable {
  private static let perOctave = 32.0
  private static let least = 1e-6
  private var counts = [Int](repeating: 0, count: 1_200)
  public private(set) var count = 0
  private var sum = 0.0

  public init() {}

  public mutating func record(_ seconds: Double) {
    let place = log2(max(seconds, Self.least) / Self.least) * Self.perOctave
    counts[min(counts.count - 1, Int(place))] += 1
    count += 1
    sum += seconds
  }

  public var mean: Double { count == 0 ? .nan : sum / Double(count) }

  /// The seconds that this share of them does not pass, within 2 %; NaN without any.
  public func quantile(_ share: Double) -> Double {
    guard count > 0 else { return .nan }
    var left = Int((share * Double(count)).rounded(.up))
    for (place, count) in counts.enumerated() {
      left -= count
      if left <= 0 { return Self.least * exp2((Double(place) + 0.5) / Self.perOctave) }
    }
    return .nan
  }
}
