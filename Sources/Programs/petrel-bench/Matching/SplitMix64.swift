/// A fast pseudorandom number generator, SplitMix64 (Steele, Lea, Flood: "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014).
///
/// The seed is random. The generator needs no system call for a number, so it is faster than the
/// system's generator.
struct SplitMix64 {
  private var state = UInt64.random(in: 0 ... .max)

  mutating func next() -> UInt64 {
    defer { state &+= Self.step }
    return Self.bits(of: state)
  }

  /// Returns 64 bits that depend only on `number`.
  static func bits(of number: UInt64) -> UInt64 {
    var mixed = number &+ step
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
}
