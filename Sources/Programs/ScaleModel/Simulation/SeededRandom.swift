import Foundation

/// Random numbers that are the same each time for a seed (Steele, Lea, Flood: "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Evenly from 0 to below 1.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A whole number from 0 to below `count`.
  public mutating func below(_ count: Int) -> Int { Int(unit() * Double(count)) }

  /// By an exponential distribution, as the times between arrivals that know nothing of each other.
  public mutating func exponential(mean: Double) -> Double { -log(1 - unit()) * mean }

  /// `mean` whole on average, the next lower or higher number.
  public mutating func rounded(_ mean: Double) -> Int {
    let whole = mean.rounded(.down)
    return Int(whole) + (unit() < mean - whole ? 1 : 0)
  }
}
