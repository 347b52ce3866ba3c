import Foundation

/// The seeds of a property test: as many as it asks for, and others in each run.
///
/// A change is checked with a few new cases, the night with many. A test names the seed that it failed with:
///
///     TEST_SEED=123456 make test ONLY=JSONCodingTests    # begins with that seed
///     TEST_SEED_FACTOR=20 make test                      # has twenty times as many cases
public enum Seeds {
  /// The first seed of this run.
  public static let first = variable("TEST_SEED") ?? Int.random(in: 1...1_000_000_000)

  private static let factor = variable("TEST_SEED_FACTOR") ?? 1

  /// `count` seeds, or by `TEST_SEED_FACTOR` more. They follow each other, so that the remainder of a seed can
  /// choose among kinds of cases.
  public static func some(_ count: Int) -> Range<Int> { first..<first + max(1, count * factor) }

  private static func variable(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
  }
}
