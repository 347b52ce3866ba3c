import Foundation

/// A random number generator with a seed; equal seeds give equal numbers. The algorithm is
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator.
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number with uniform distribution, at least 0 and below 1.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a whole number with uniform distribution, at least 0 and below `count`, which is at
  /// least 1.
  public mutating func below(_ count: Int) -> Int { Int(unit() * Double(count)) }

  /// Returns a number with exponential distribution and this mean, such as the time between
  /// independent arrivals.
  public mutating func exponential(mean: Double) -> Double { -log(1 - unit()) * mean }

  /// Returns the whole number below or above `mean`, at random, so that `mean` is the average.
  public mutating func rounded(_ mean: Double) -> Int {
    let whole = mean.rounded(.down)
    return Int(whole) + (unit() < mean - whole ? 1 : 0)
  }
}
